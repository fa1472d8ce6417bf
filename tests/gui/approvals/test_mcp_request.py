"""A call of a server's tool: who would do it, and what its own words are worth."""

import pytest
from PySide6.QtWidgets import QWidget
from shots.mcp import mcp_request

from desktop.ui.approvals.request.head import RequestHead


@pytest.mark.spec("R-PRM-2", "R-PRM-15")
def test_the_request_names_server_tool_and_program_and_says_that_hints_count_for_nothing(theme, qtbot):
    head = RequestHead(mcp_request(), "A thread")
    qtbot.addWidget(head)
    words = " ".join(w.text() for w in head.findChildren(QWidget) if callable(getattr(w, "text", None)))
    for expected in ("files", "npx -y @modelcontextprotocol/server-filesystem", "write_file", "does not rely on it"):
        assert expected in words
