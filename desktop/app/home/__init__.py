"""The app's home folder: its layout, its lock, its logs, its crash reports."""
