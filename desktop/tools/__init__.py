"""The tools that ship with Assent, and the table where every callable is registered."""
