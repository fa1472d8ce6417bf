"""Files and folders of the app's own: for the person alone, and written whole or not at all."""
