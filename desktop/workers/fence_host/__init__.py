"""Reads what stands in fences (code to be coloured), in a process that can only compute."""
