"""The list of threads beside the transcript."""
