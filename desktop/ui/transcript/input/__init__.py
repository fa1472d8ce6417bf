"""What a person does on the page with mouse and keys."""
