"""Threads: what stands in one, how it is written while a run goes on, named, searched and exported."""
