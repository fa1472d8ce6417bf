"""What one page or one search may cost, whatever its server sends."""

BODY = 5_000_000
"""Bytes of a page, unpacked; of a longer one the beginning is read."""
WIRE = 8_000_000
"""Bytes of it as they come."""
SECONDS = 20.0
"""For all of one page: looking its name up, connecting, redirects, reading."""
CONNECT_S = 8.0
"""For one connection."""
REDIRECTS = 5
"""To the same host, one after the other."""
PACKINGS = 2
"""Packed in a packed form."""
CONVERT_S = 20
"""Seconds of the processor for turning one page into Markdown; the process ends beyond."""
SHOWN = 400_000
"""Characters of one part of a page that is handed over."""
PIECE = 16_000
"""Characters of one piece of it on the pipe."""
KEPT, KEPT_S = 4, 300.0
"""Pages that are kept for their next part, and seconds for which they are."""
TITLE = 300
"""Characters of a title."""
ANSWER = 2_000_000
"""Bytes of a search service's answer."""
ROWS, RESULTS = 100, 20
"""Results that are looked at, and that are handed over."""
QUERY = 400
"""Characters of what is searched for."""
FIELD, SNIPPET = 20_000, 500
"""Characters of one field that are looked at, and of a snippet."""
MEMORY = 1_000_000_000
"""Bytes of memory of the whole process."""
