"""What happens in a run: what travels with its calls, what ends it, and what it says and leaves behind."""
