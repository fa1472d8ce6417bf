"""The first-run page: three ways on, none of them forced."""
