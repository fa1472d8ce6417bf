"""What is new is what came after the version that was here before."""

from pathlib import Path

import pytest

from desktop.services.help.news import number_of, read_news, since
from tests.harness.help_pages import ROOT

CHANGES = "# What is new\n\n## 1.10.0\n\n- ten\n\n## 1.9 (20 November)\n\n- nine\n\n## 0.9\n\n- old\n"


@pytest.mark.parametrize(
    ("seen", "new"),
    [
        ("1.9.0", ["1.10.0"]),
        ("1.10", []),
        ("0.8", ["1.10.0", "1.9 (20 November)", "0.9"]),
        ("2", []),
        ("", 3),
        ("?", 3),
    ],
)
def test_only_what_came_after_a_version_is_new(tmp_path: Path, seen: str, new: list[str] | int) -> None:
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    found = [one.title for one in since(read_news((tmp_path / "gone.md", tmp_path / "CHANGELOG.md")), seen)]
    assert (len(found) if isinstance(new, int) else found) == new


def test_the_list_of_changes_of_this_version_is_found_and_has_this_version() -> None:
    news = read_news((ROOT / "resources" / "CHANGELOG.md", ROOT / "CHANGELOG.md"))
    assert number_of(news[0].title) >= (0, 1)
    assert news[0].text


def test_without_a_list_nothing_is_new(tmp_path: Path) -> None:
    assert read_news((tmp_path / "CHANGELOG.md",)) == ()


@pytest.mark.parametrize("version", ["", "x", "1" * 500, "1." * 500, "-1", "1.0", "1.0.0"])
def test_a_version_in_an_odd_form_has_a_number_or_none(version: str) -> None:
    assert number_of(version) in ((), (1,), (1, 1, 1, 1, 1, 1))
