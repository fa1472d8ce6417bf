"""The pages of help, and what a search in them finds."""
