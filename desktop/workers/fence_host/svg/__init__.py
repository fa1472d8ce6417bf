"""Reads an SVG picture as shapes and words in the theme's colours. It draws none of what an SVG may load or run."""
