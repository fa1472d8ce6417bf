"""The Rules tab, and the panel in which a rule is written."""
