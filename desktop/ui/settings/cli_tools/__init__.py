"""The page of the tools that a person declares in tools.yaml."""
