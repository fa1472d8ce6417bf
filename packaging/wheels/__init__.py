"""Which wheels of the lock there are for other systems and Pythons: asked of the package index, without downloading."""
