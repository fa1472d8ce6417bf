"""What calls change of a person's files: kept, shown, undone."""
