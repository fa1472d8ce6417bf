"""Tools that a person declares in tools.yaml."""
