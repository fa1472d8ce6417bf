"""Files in which a person declares things one by one: tools.yaml and mcp.yaml are read, kept and saved alike."""
