"""One side works until it has answered: its prompt, its tools, its stops."""
