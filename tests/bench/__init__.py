"""Benches: what the design promises, measured. `python3 packaging/dev.py bench` runs them."""
