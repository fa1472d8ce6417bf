"""Windows. None of it was run there by us, but for `local_lines`, which needs nothing that only Windows has."""
