"""Where systems differ: for each subject one module that everybody asks, and one a system behind it."""
