"""What servers offer beside tools, read for a person or a model, and the content of all that they answer."""
