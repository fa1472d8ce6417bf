"""Agents of other makers, which speak the Agent Client Protocol: found, agreed to, started confined, asked about."""
