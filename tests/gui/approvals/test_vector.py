"""A request of a declared tool: which program, where, with which words, and what else it names."""

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots.cli import request

from desktop.ui.approvals.request.body import ArgumentsCard
from desktop.ui.approvals.request.head import RequestHead
from desktop.ui.theme import Theme


@pytest.mark.spec("R-PRM-2")
def test_the_request_of_a_declared_tool_shows_program_folder_paths_and_variables(qtbot: QtBot, theme: Theme) -> None:
    asked = request("/home/ida/a", "/home/ida/b")
    head = RequestHead(asked, "A thread", with_deny_all=False)
    qtbot.addWidget(head)
    words = [label.text() for label in head.findChildren(QLabel)]
    for caption, value in (
        ("Program", "/usr/local/bin/deploy"),
        ("Runs in", "/home/ida/.agent/workspace"),
        ("Touches", "/home/ida/a"),
        ("", "/home/ida/b"),
        ("Variables", "DEPLOY_TOKEN"),
    ):
        assert caption in words
        assert value in words
    assert words.count("/usr/local/bin/deploy") == 1


@pytest.mark.spec("R-PRM-2", "R-CLI-3")
def test_each_word_of_the_vector_is_one_line_whatever_is_in_it(qtbot: QtBot, theme: Theme) -> None:
    card = ArgumentsCard(request())
    qtbot.addWidget(card)
    lines = [line.strip() for line in card.views.currentWidget().text().splitlines()]
    assert lines == ["deploy", "--env", "staging", "--note", "gauges; rm -rf ~\\nsecond line"]
