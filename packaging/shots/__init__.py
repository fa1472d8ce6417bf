"""Pictures of every page with sample data, for developers: ``dev.py shots``. Not part of the app."""
