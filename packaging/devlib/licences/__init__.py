"""Which licences stand on what is handed out, whether they go together, and the texts that go with it."""
