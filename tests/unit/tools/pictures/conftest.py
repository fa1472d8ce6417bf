"""The process that opens pictures, shut in as in the app."""

import pytest

from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.tools.pictures.reader import PictureReader
from desktop.workers.picture_child import picture_host


@pytest.fixture
def reader() -> PictureReader:
    """What opens pictures."""
    confined = code_sandbox_profile(in_a_loop=True)
    return PictureReader(lambda handle: picture_host(handle, confined=confined))
