"""Helpers on plain values that skills may use: paths into them, copies, contexts, path entries (S-RES-1, S-PAT-1)."""
