"""A request to read a page: where it goes, what it carries there, and which answers it has."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QWidget
from shots.web import CODED, URL, search_request, web_request

from desktop.domain.models import Connection
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


@pytest.mark.spec("R-WEB-2")
def test_a_search_shows_the_query_the_service_and_that_its_key_goes_along(theme, qtbot):
    request = search_request()
    card = WebCard(request)
    qtbot.addWidget(card)
    words = words_of(card)
    assert request.arguments["query"] in words
    assert "Brave Search at api.search.brave.com, a public address, over an encrypted connection" in words
    assert f"{len(request.arguments['query'])} characters written by the model, which the service sees" in words
    assert "The one that you entered for this service" in words
    assert "every search with this service" in confinement_words(request)
    assert why(request).startswith("You have not allowed searches with api.search.brave.com yet")
    assert summary(request) == request.arguments["query"]
    assert may_always(request), "a rule for the service can be made of it"


@pytest.mark.spec("R-WEB-2")
def test_a_search_server_in_ones_own_network_is_said_to_be_there_and_gets_no_key(theme, qtbot):
    own = Connection("s", "searxng", "Mine", "http://127.0.0.1:8888")
    card = WebCard(search_request("a\u202eb", own))
    qtbot.addWidget(card)
    words = words_of(card)
    assert "Mine at 127.0.0.1:8888, in your own network, as you set, not encrypted" in words
    assert "Your key" not in words
    assert "a\\u{202e}b" in words, "what cannot be seen is written out"


@pytest.mark.spec("R-WEB-1")
def test_what_reads_like_a_code_in_a_path_or_a_name_is_named(theme, qtbot):
    card = WebCard(web_request(CODED))
    qtbot.addWidget(card)
    words = words_of(card)
    assert CODED.partition("?")[0] in words, "the address is whole"
    assert "c2stbGl2ZS00MjQyIHRoZSBwYXNzd29yZCBpcyBo: 40 characters that are no words" in words
    plain = WebCard(web_request())
    qtbot.addWidget(plain)
    assert "that are no words" not in words_of(plain)
