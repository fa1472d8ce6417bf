"""What Assent offers to an editor that works with it: threads, their answers as they come, and the questions."""
