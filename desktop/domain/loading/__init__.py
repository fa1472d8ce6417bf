"""Names and methods that are loaded or made with their first use: most starts never need them."""
