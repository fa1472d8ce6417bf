"""Documents of one text: pages, books, notebooks, tables as text."""
