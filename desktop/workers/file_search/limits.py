"""What one search may cost, whatever a tree, a file or an expression is like."""

PATTERN = 10_000
"""Characters of an expression."""
GLOBS = 100
GLOB = 500
"""Globs of a search; characters of one."""
CONTEXT = 20
"""Lines around a found one."""
FOUND = 2_000
"""Lines, or names, that one search hands over."""
LINE = 400
"""Bytes of a line that are shown, around what was found."""
OUTPUT = 400_000
"""Bytes of all lines that one search hands over."""
DEPTH = 150
"""Folders inside each other: one descriptor is open for each."""
BLOCK = 32_000_000
"""Bytes of a file that are searched at once; a larger file goes block by block."""
WIDE = 32_000_000
"""Bytes of a UTF-16 file that is turned into UTF-8."""
SNIFF = 8_192
"""Bytes in which a NUL says that a file is not text."""
IGNORE_FILE = 1_000_000
IGNORE_LINES = 10_000
"""Bytes and lines of a .gitignore that are heeded."""
EXPRESSION_MEMORY = 64_000_000
"""Bytes that the automaton of one expression may take; with less it is slower, never wrong."""
MEMORY = 2_000_000_000
"""Bytes of address space of the whole process."""
ASIDE_SHOWN = 5
"""Files named that could not be read."""
