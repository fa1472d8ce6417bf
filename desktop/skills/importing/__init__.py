"""Skills from a folder, an archive or a pasted text: staged, looked at, and kept only when a person says so."""
