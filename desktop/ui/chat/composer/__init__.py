"""The composer, and the lists that open over it."""
