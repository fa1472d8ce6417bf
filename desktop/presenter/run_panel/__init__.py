"""The Run panel without widgets: who is at work, and with how much budget."""
