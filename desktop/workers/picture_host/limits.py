"""What one picture may cost, whatever is in it."""

FILE = 100_000_000
"""Bytes of a picture."""
MEMORY = 1_000_000_000
"""Bytes of memory of the whole process."""
CALL_S = 20
"""Seconds of the processor; the process ends beyond."""
PIXELS = 100_000_000
"""Points that are decoded."""
PHOTO = 250_000_000
"""Points of a JPEG, which is made smaller while it is decoded."""
SIDE = 4_096
"""Points of the longest side of what is given, whatever was asked for."""
SIZE = 8_000_000
"""Bytes of what is given, whatever was asked for."""
PROFILE = 4_000_000
"""Bytes of a colour profile that is heeded."""
PLAIN = 1_000_000
"""Bytes up to which what is no photograph stays as sharp as it is (PNG)."""
PIECE = 16_000
"""Characters of one piece of a picture on the pipe."""
