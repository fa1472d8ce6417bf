"""Helpers on plain values that S2 exports: paths into them, safe copies, contexts, path entries (S-RES-1, S-PAT-1)."""
