"""From a tool's name to its result: the gates in their fixed order, middleware around them."""
