"""The Debates page."""
