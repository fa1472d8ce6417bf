"""What only Linux does so."""
