"""Settings, Other agents: agents of other makers, which speak the Agent Client Protocol."""
