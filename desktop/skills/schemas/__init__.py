"""JSON Schema: checked, bounded in cost, and validated against."""
