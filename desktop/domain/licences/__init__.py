"""What the app is made of."""
