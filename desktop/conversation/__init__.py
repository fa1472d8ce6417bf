"""What a person does with threads: send, stop, edit, branch, export; and the runs behind it (semantics.md 16)."""
