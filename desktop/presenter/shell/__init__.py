"""The window without widgets: its pages, its commands, its palette."""
