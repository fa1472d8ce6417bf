"""What looking for a new version and fetching it may cost, whatever the server sends."""

SILENCE_S = 20.0
"""Seconds in which a server says nothing, after which it is given up."""
METADATA_S = 60.0
"""Seconds for one small file, however it drips in."""
SLOWEST, WINDOW_S = 2_000, 60.0
"""Bytes a second that a package comes with at least, looked at over so many seconds."""
PACKAGE_S = 4 * 3600.0
"""Seconds for one package."""
CHUNK = 64 * 1024
NEWEST = 64 * 1024
"""Bytes of the file that names the newest version."""
RIGHTS = 512 * 1024
"""Bytes of the list of what it may do."""
PACKAGE = 1_500_000_000
"""Bytes of a package."""
UNPACKED = 4_000_000_000
"""Bytes of it unpacked."""
MEMBERS = 80_000
"""Files, folders and links in it."""
PATH, NAME = 1_000, 255
"""Bytes of a path in it, and of one name."""
SPARE = 50_000_000
"""Bytes that the disk has left when all is laid down."""
NEWS, LINE = 200, 400
"""Lines about what is new, and characters of one."""
MEMORY = 1_000_000_000
"""Bytes of memory of the whole process."""
