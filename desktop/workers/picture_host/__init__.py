"""Opens one picture that a stranger made, and makes it anew, in a process that can do nothing else."""
