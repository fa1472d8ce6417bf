"""What only macOS does so."""
