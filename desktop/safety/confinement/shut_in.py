"""What workers of ours shut themselves in with, where this system has it; else what holds them is said in
``linux/code_profile.py``."""

from __future__ import annotations

import sys

if sys.platform == "linux":
    from desktop.safety.confinement.linux.code_profile import code_sandbox_profile, drawing_profile
    from desktop.safety.confinement.linux.launcher import __file__ as launcher_file
else:
    from desktop.safety.confinement.other.shut_in import code_sandbox_profile, drawing_profile, launcher_file

__all__ = ["code_sandbox_profile", "drawing_profile", "launcher_file"]
