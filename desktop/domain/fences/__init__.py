"""What is made of fences, the parts of an answer between two lines of three backticks."""
