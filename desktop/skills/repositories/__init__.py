"""Repositories that skills come from: their address, what they bring, what was taken, and the lock file of a team."""
