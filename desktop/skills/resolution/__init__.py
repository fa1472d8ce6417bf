"""Where skills are and which one a reference means: the search path, its caches and its index."""
