"""Addresses of pages, and what must not be reached by them."""
