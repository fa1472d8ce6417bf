"""Where a run lives: its events, its budgets, its tasks, its journal, its place in the queue."""
