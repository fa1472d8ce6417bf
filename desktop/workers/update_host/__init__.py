"""Looks for a new version, and lays it down unpacked; runs for one call."""
