"""What a command would change: run in a copy of the folders that it may write, and read afterwards."""
