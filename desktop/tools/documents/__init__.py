"""Documents that are read by parts: the app's end of the process that reads them, and the tool for models."""
