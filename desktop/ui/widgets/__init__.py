"""The controls that every page is built from. Import from the modules: this package pulls nothing in."""
