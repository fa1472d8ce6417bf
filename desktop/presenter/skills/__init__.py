"""The Skills page without widgets."""
