"""Widgets only: the window, one folder a page, the theme. Imports nothing of ours but the presenter and the domain."""
