"""What is made of fences in answers: colours of code."""
