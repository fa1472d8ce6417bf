"""Rules of trust: written as text, tried before they count, and held against every call."""
