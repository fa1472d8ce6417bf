"""Benches: what was promised of speed and memory, measured. `python3 packaging/dev.py bench` runs them."""
