"""The list of licences as the app reads it: whole, and in words where it is damaged."""

import json
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError
from desktop.services.licences.reading import MAX_LIST, MAX_TEXT, LicenceList

OURS = Path(__file__).resolve().parents[4] / "resources/licences"
ROW = {"name": "soup", "version": "1", "kind": "library", "licence": "MIT", "used": ["MIT"], "texts": ["MIT"]}


def _list(folder: Path, text: str) -> LicenceList:
    (folder / "texts").mkdir()
    (folder / "texts/MIT.txt").write_text("Permission is granted.\n", "utf-8")
    (folder / "components.json").write_text(text, "utf-8")
    return LicenceList(folder)


def test_every_row_of_our_list_has_a_licence_and_a_text_that_can_be_read() -> None:
    found = LicenceList(OURS)
    parts = found.parts()
    assert {"PySide6_Essentials", "Inter", "openssl", "litellm"} <= {part.name for part in parts}
    assert all(part.licence and part.used and part.texts for part in parts)
    texts = {name: found.text(name) for name in {text for part in parts for text in part.texts}}
    assert min(len(text) for text in texts.values()) > 20


def test_what_a_folder_adds_stands_in_the_same_list(tmp_path: Path) -> None:
    found = _list(tmp_path, json.dumps({"components": [ROW]}))
    (tmp_path / "folder.json").write_text(json.dumps({"components": [{**ROW, "name": "Python"}]}), "utf-8")
    assert [part.name for part in found.parts()] == ["Python", "soup"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"components": 4}', "[" * 100_000, "null"])
def test_a_damaged_list_is_said_in_words(tmp_path: Path, text: str) -> None:
    with pytest.raises(KnownError, match="The list of licences is damaged") as error:
        _list(tmp_path, text).parts()
    assert error.value.next_step


def test_a_row_of_other_things_than_words_hurts_nobody(tmp_path: Path) -> None:
    odd = {"name": 4, "version": None, "texts": "MIT", "inside": {"a": 1}, "licence": ["MIT"]}
    (part,) = _list(tmp_path, json.dumps({"components": [odd, "no row", {}]})).parts()
    assert (part.name, part.texts, part.inside) == ("4", (), ())


def test_lists_and_texts_that_are_missing_or_far_too_long_are_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match=r"components\.json cannot be read"):
        LicenceList(tmp_path).parts()
    found = _list(tmp_path, " " * (MAX_LIST + 1))
    with pytest.raises(KnownError, match=r"components\.json is far too long"):
        found.parts()
    with pytest.raises(KnownError, match=r"Zlib\.txt cannot be read"):
        found.text("Zlib")
    (tmp_path / "texts/MIT.txt").write_text("x" * (MAX_TEXT + 1), "utf-8")
    with pytest.raises(KnownError, match=r"MIT\.txt is far too long"):
        found.text("MIT")


@pytest.mark.parametrize("name", ["../components", "/etc/passwd", "..", "", "a/b", "MIT\n", "x" * 200])
def test_no_name_leads_out_of_the_folder_of_texts(tmp_path: Path, name: str) -> None:
    (tmp_path / "components.txt").write_text("secret", "utf-8")
    with pytest.raises(KnownError, match="is no name of a licence"):
        _list(tmp_path, "").text(name)
