"""What a server asks a person while it works for them: a form, or a page to be opened."""
