"""What waits for sockets, pipes and children on the loop of this system."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from desktop.app.loop.descriptors_windows import WindowsDescriptors as Descriptors
else:
    from desktop.app.loop.descriptors_posix import PosixDescriptors as Descriptors

__all__ = ["Descriptors"]
