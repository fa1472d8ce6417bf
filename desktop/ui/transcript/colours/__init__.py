"""The colours of code: by expressions while it is written, from elsewhere once it is whole."""
