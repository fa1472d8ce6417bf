"""What one fence may cost, whatever is in it."""

MEMORY = 400_000_000
"""Bytes of memory of the whole process."""
CALL_S = 1.0
"""Seconds of the processor for one call; what is done by then is the answer."""
ENDS_S = 3
"""Seconds of the processor after which the process ends, where nothing else stopped the call."""
MARKS = 100
"""Marks of a drawing that go over the pipe together."""
PIECE = 24_000
"""Bytes of one piece of an answer on the pipe, which are a third more in base64."""
