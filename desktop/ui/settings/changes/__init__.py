"""What is kept of changed files, in the settings."""
