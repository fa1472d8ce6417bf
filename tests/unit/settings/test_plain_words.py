"""Sentences on screen are what a colleague would say: riddles that a reader stumbled over do not come back."""

from pathlib import Path

DESKTOP = Path(__file__).parents[3] / "desktop"
SHOWN_BY = ("ui", "presenter", "settings", "conversation", "store")
RIDDLES = (
    "asks as admin until",
    "line vouches for all",
    "Counts for nothing",
    "lets no trick",
    "follows a run at",
    "instructions in a folder",
    "It counts from now on",
    "holds now (Esc)",
    "not gone on yet",
    "is that of the rule",
    "Changes hold from",
    "Take all filters away",
    "Told by the summary",
    "Choose one way on",
    "defence in depth",
    "waits for the end",
    "Nobody knows what would pass",
    "known of the entry",
)


def test_no_riddle_that_was_mended_is_said_again() -> None:
    texts = {path: path.read_text(encoding="utf-8") for room in SHOWN_BY for path in (DESKTOP / room).rglob("*.py")}
    assert len(texts) > 300
    assert [(path.name, riddle) for path, text in texts.items() for riddle in RIDDLES if riddle in text] == []
