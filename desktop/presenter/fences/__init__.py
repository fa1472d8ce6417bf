"""What is made of fences in answers, as it is shown."""
