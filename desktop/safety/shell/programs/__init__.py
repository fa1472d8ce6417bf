"""What well-known programs do with their options and arguments."""
