"""What one result may cost, whatever is in it."""

FILE = 32_000_000
"""Bytes of a file: more than are kept of one."""
MEMORY = 1_500_000_000
"""Bytes of memory of the whole process."""
CALL_S = 30
"""Seconds of the processor for one call; the process ends beyond."""
TALL = 16_000
"""Pixels of a drawn page in height, at 100 %."""
PIXELS = 60_000_000
"""Pixels of a drawn page in all."""
WIDTH = 2_400
"""Pixels of a drawn page in width, at 100 %."""
ELEMENTS = 20_000
"""Elements of a page that are drawn."""
TILE = 1_200
"""Pixels of one piece of a drawn page in height."""
DRAWINGS, DRAWING_PIXELS = 60, 3_000_000
"""Drawings with words inside a page that are drawn apart, and pixels of each of them."""
LEFT = 200
"""Things that are named of what was left out."""
WORDS = 300
"""Characters of each of them."""
CELLS, ROWS = 6_000_000, 1_000_000
"""Cells and rows of a table that are held."""
COLUMNS = 200
"""Columns of a table that are shown."""
CELL = 300
"""Characters of a cell that are shown."""
COPIED = 32_767
"""Characters of a cell that are copied."""
WINDOW = 400
"""Rows, or children of a node, that one call gives; and values that stand below another one."""
PART = 100
"""Values, or parts, in one part of a value that has more inside."""
VALUE = 400
"""Characters of a value in a tree that are shown."""
DEPTH = 2_000
"""Elements inside each other in a tree."""
PIECE = 16_000
"""Characters of one piece on the pipe."""
