"""The process that reads documents, shut in as in the app."""

import pytest

from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.tools.documents.reader import DocumentReader
from desktop.workers.document_child import document_host


@pytest.fixture
def reader() -> DocumentReader:
    """What opens documents."""
    confined = code_sandbox_profile(in_a_loop=True)
    return DocumentReader(lambda handle: document_host(handle, confined=confined))
