"""Dialogs inside the window, toasts, and choosing or dropping files."""
