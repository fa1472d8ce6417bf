"""What there is on this computer to confine with."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.confinement import seatbelt
from desktop.systems import current

if sys.platform == "linux":
    from desktop.safety.confinement.linux.landlock import usable_abi


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is to confine with, as far as it can be looked up."""

    platform: str = current.PLATFORM
    bwrap: str | None = None
    sandbox_exec: str | None = None
    landlock_abi: int = 0
    processor: str = ""

    @classmethod
    def here(cls) -> Machine:
        """The facts of this machine. Blocks for some system calls."""
        if sys.platform == "linux":
            abi = usable_abi(ctypes.CDLL(None, use_errno=True))
            return cls(bwrap=shutil.which("bwrap"), landlock_abi=abi, processor=current.processor())
        found = seatbelt.PROGRAM if current.MACOS and os.path.exists(seatbelt.PROGRAM) else None
        return cls(sandbox_exec=found, processor=current.processor())
