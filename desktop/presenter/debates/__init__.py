"""The Debates page without widgets."""
