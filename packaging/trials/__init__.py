"""Packages tried as a stranger would, in bare Debian trees: ``dev.py try``. Not part of the app."""
