"""The icon as Windows and macOS want it: a file that holds PNGs of several sizes, drawn as the menu's icon on Linux.

`python -m system_icons` writes both anew; a test compares them with what is drawn today.
"""

import struct
from pathlib import Path

from linux.icons import pictures

HERE = Path(__file__).resolve().parent
ICO, ICNS = HERE / "windows" / "assent.ico", HERE / "macos" / "assent.icns"
ICNS_TYPES = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09"}
"""By side in pixels: what Apple calls a PNG of it."""
LARGEST_OF_ICO = 256


def ico() -> bytes:
    """A directory of entries of 16 bytes, then the pictures; a side of 256 is written as 0."""
    held = [(side, picture) for side, picture in pictures() if side <= LARGEST_OF_ICO]
    place = 6 + 16 * len(held)
    entries = []
    for side, picture in held:
        entries.append(struct.pack("<BBBBHHII", side % 256, side % 256, 0, 0, 1, 32, len(picture), place))
        place += len(picture)
    return struct.pack("<HHH", 0, 1, len(held)) + b"".join(entries) + b"".join(picture for _, picture in held)


def icns() -> bytes:
    """Entries with their type and length in front."""
    held = [(ICNS_TYPES[side], picture) for side, picture in pictures() if side in ICNS_TYPES]
    body = b"".join(kind + struct.pack(">I", 8 + len(picture)) + picture for kind, picture in held)
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def write() -> None:
    """Both files, in place."""
    ICO.write_bytes(ico())
    ICNS.write_bytes(icns())


if __name__ == "__main__":
    write()
