"""A request to read a page: where it goes, what it carries there, and which answers it has."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QWidget
from shots.web import URL, web_request

from desktop.domain.web.addresses import read_address
from desktop.domain.web.proxies import proxies_of
from desktop.presenter.approvals.request_words import confinement_words, why
from desktop.presenter.approvals.rules_editing import may_always
from desktop.tools.builtin.web_fetch import preview_of
from desktop.ui.approvals.inbox import summary
from desktop.ui.approvals.request.web import WebCard


def words_of(widget: QWidget) -> str:
    return " ".join(w.text() for w in widget.findChildren(QWidget) if callable(getattr(w, "text", None)))


@pytest.mark.spec("R-WEB-1", "R-PRM-2")
def test_the_request_shows_the_host_what_goes_out_and_what_comes(theme, qtbot):
    request = web_request()
    card = WebCard(request)
    qtbot.addWidget(card)
    words = words_of(card)
    assert "https://example.org/ports/quay-3/notices?from=2026-03-17&gauge=07" in words
    assert "from=2026-03-17&gauge=07: 24 characters, which the host will see" in words
    assert "example.org, a public address, over an encrypted connection" in words
    assert why(request).startswith("You have not allowed example.org yet")
    assert "Allow once is for this address" in confinement_words(request)
    assert summary(request) == request.arguments["url"]
    assert may_always(request), "a rule for the host can be made of it"


@pytest.mark.spec("R-WEB-1")
def test_both_spellings_of_a_name_are_shown_and_what_is_not_encrypted_is_said(theme, qtbot):
    card = WebCard(web_request("http://b\u00fccher.example/"))
    qtbot.addWidget(card)
    words = words_of(card)
    assert "xn--bcher-kva.example:80 (written b\u00fccher.example)" in words
    assert "not encrypted" in words


@pytest.mark.spec("R-WEB-1")
def test_a_proxy_on_the_way_is_named_without_its_password(theme, qtbot):
    proxies = proxies_of({"HTTPS_PROXY": "http://ida:pa55@px.example:3128"})
    card = WebCard(replace(web_request(), preview=preview_of(read_address(URL), proxies)))
    qtbot.addWidget(card)
    assert "through your network's proxy px.example:3128" in words_of(card)
    assert "pa55" not in words_of(card)
