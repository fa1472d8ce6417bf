"""A person's files as calls find and change them: projects, copies, changes, and taking them back."""
