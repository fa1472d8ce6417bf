"""What an earlier process left open: which calls began, what came of them, and what is asked before more is done."""
