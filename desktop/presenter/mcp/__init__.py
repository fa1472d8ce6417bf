"""The page of MCP servers without widgets: what there is, and what a person pastes or types to add one."""
