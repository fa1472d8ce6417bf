"""The pages of Settings without widgets."""
