"""Drawings of diagrams and charts: kept, and painted away from the Qt thread."""
