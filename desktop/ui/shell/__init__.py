"""The window: rail, pages, command palette, toasts, banners, notifications."""
