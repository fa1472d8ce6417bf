"""What is pressed, typed into or chosen from."""
