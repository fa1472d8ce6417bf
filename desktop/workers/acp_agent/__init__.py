"""The agent's side of the Agent Client Protocol, for ``assent acp``. Never imported by the app: the SDK is heavy."""
