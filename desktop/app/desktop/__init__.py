"""What the app asks of the desktop around it: notifications, motion, text size, fonts."""
