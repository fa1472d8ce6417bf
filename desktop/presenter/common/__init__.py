"""What view-models of several pages use."""
