"""What one document may cost, whatever is in it."""

FILE = 200_000_000
"""Bytes of a document."""
MEMORY = 1_200_000_000
"""Bytes of memory of the whole process."""
CALL_S = 60
"""Seconds of the processor for one call; the process ends beyond."""
ENTRIES = 20_000
"""Files in a packed document."""
UNPACKED = 600_000_000
"""Bytes that a packed document is unpacked to, in one opening."""
RATIO, RATIO_FROM = 300, 20_000_000
"""Unpacked to so many times its size, and to more than so many bytes: that is no document but a trap."""
DEPTH = 400
"""Elements inside each other."""
NODES = 3_000_000
"""Elements that are held at once."""
TEXT = 60_000_000
"""Characters that are held of one document."""
STRINGS = 3_000_000
"""Different texts of a workbook."""
NAMES = 1_000
"""Sheets or chapters that are told by name."""
NAME = 200
"""Characters of a title or a name."""
NOTES = 40
"""Things that are told about a document."""
COMMENTS = 2_000
"""Comments of one sheet."""
COLUMNS = 60
"""Columns of a sheet that stand as a table; what is further right is told cell by cell."""
CELL = 32_767
"""Characters of one cell."""
FLOW = 4_000
"""Characters of one part of a document that has no pages."""
ROOM = 2_000_000
"""Characters that one call gives."""
PIECE = 16_000
"""Characters of one piece of them on the pipe."""
WIDTH = 2_000
"""Pixels of a page's picture in width."""
PIXELS = 12_000_000
"""Pixels of a page's picture in all."""
PICTURE = 8_000_000
"""Bytes of a page's picture."""
HIDDEN = 2_000
"""Characters of hidden text of one page that are told apart."""
WORDS = 600
"""Characters that are looked for."""
MARKS, LINES = 400, 200
"""Places on one page that are marked, and lines of one of them."""
LETTERS = 200_000
"""Letters of one page that are looked through for a place."""
FOUND = 5_000
"""Parts with what is looked for that are told."""
TOLD_EACH = 25
"""Parts after which a search says how far it is."""
