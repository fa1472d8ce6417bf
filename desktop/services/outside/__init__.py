"""Skills and agents that other programs may call: which, through which gates, and what they hear of the work."""
