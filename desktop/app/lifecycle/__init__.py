"""From start to end: the first paint, everything after it, and an orderly stop."""
