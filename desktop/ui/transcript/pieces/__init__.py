"""What a message is drawn of: texts, code, tables, formulas, pictures, cards of calls."""
