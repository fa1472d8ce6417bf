"""What people type into help leads to the page that answers it, on the pages as they are."""

import pytest

from desktop.services.help.pages import read_pages
from desktop.services.help.search import HelpIndex
from tests.harness.help_pages import HELP

ASKED = {
    "how do i undo": "changes",
    "undo": "changes",
    "undo comand": "changes",
    "api key": "models-and-providers keyring",
    "openai key": "models-and-providers",
    "ollama": "models-and-providers",
    "rate limit": "models-and-providers",
    "error 401": "models-and-providers",
    "conection failed": "models-and-providers",
    "change model": "chats models-and-providers",
    "why does it ask": "approvals",
    "aprovals": "approvals",
    "permisions": "approvals",
    "how do i stop it from asking": "approvals",
    "yolo mode": "approvals safety",
    "always allow": "approvals rules",
    "git push denied": "rules",
    "stop": "runs first-steps",
    "pause": "runs debates",
    "crash": "runs help",
    "context window full": "runs chats",
    "trace": "runs",
    "delete chat": "chats",
    "rename chat": "chats",
    "export chat": "chats",
    "new chat": "chats",
    "search old chats": "chats",
    "edit my message": "chats",
    "too expensive": "chats limits",
    "dark mode": "appearance",
    "bigger text": "appearance",
    "font size": "appearance",
    "screen reader": "appearance",
    "language": "appearance",
    "keybord shortcuts": "keys",
    "offline": "privacy models-and-providers",
    "does it send my data": "privacy",
    "telemetry": "privacy",
    "where are my chats stored": "privacy",
    "is it safe": "safety",
    "sandbox": "safety boundaries",
    "cannot read file": "boundaries",
    "folder not allowed": "boundaries",
    "install": "installing",
    "uninstall": "installing",
    "windows": "installing safety",
    "backup": "installing chats",
    "update": "updates",
    "go back": "updates",
    "go back to old version": "updates",
    "add mcp server": "mcp",
    "mcp sign in": "mcp",
    "claude code": "other-agents other-apps",
    "zed": "editors",
    "vs code": "other-apps",
    "schedule": "schedules",
    "every morning": "schedules",
    "two agents discuss": "debates",
    "make a skill": "skills",
    "create agent": "agents",
    "system prompt": "agents",
    "attach pdf": "documents",
    "upload picture": "documents",
    "report a bug": "help",
    "log file": "help",
    "what is new": "help",
    "license": "about",
    "who made this": "about",
    "internet access": "limits web",
    "search the web": "web",
    "proxy": "web",
    "no keyring": "keyring",
    "forgot key": "keyring",
    "audit": "activity-log",
    "command line": "agents",
    "how to start": "first-steps",
    "limits": "limits",
    "pull request": "repositories",
    "rückgängig": "changes",
    "Schlüssel": "keyring",
    "hilfe": "help",
    "Chat löschen": "chats runs",
}


@pytest.fixture(scope="module")
def book() -> HelpIndex:
    return HelpIndex(read_pages(HELP))


@pytest.mark.parametrize(("question", "pages"), ASKED.items(), ids=list(ASKED))
def test_the_page_that_answers_comes_first(book: HelpIndex, question: str, pages: str) -> None:
    found = [hit.section.page for hit in book.find(question).hits[:3]]
    assert found
    assert found[0] in pages.split()


@pytest.mark.parametrize("question", ["qqzx", "blorft quux", "xylophone lessons"])
def test_what_no_page_is_about_finds_nothing(book: HelpIndex, question: str) -> None:
    assert book.find(question).hits == ()


def test_nothing_that_is_typed_on_the_way_to_a_word_finds_nothing(book: HelpIndex) -> None:
    for question in ("approvals", "keyring", "schedules", "how do i undo", "mcp servers"):
        typed = [question[:end] for end in range(1, len(question) + 1)]
        assert [one for one in typed if not book.find(one).hits] == []


def test_what_sections_are_found_by_is_a_few_words_each() -> None:
    too_long = [
        (one.section.title, one.also) for one in read_pages(HELP) if any(len(w) > 40 for w in one.also.split(","))
    ]
    assert too_long == []
