"""Documents that a person attaches: kept with the thread, read for the model, shown page by page."""
