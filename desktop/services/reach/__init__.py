"""What agents can reach on this computer, and the proof of it."""
