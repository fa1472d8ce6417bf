"""What the library's middleware does around agents and requests: filters, caches, sessions, limits."""
