"""``resources/licences``: the list as the app and the packages have it, written, compared, read again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from .components import Component
from .wheels import canonical

LIST = "components.json"
FOLDER_LIST = "folder.json"
"""What a self-contained folder adds: written into the folder alone, by the package command."""
FORMAT = 1
_Key = tuple[str, str, str, str]


def write_list(folder: Path, components: Iterable[Component], texts: Mapping[str, str]) -> None:
    """The whole list anew; what is not of it any more goes."""
    (folder / "texts").mkdir(parents=True, exist_ok=True)
    (folder / LIST).write_text(as_json(components), "utf-8")
    _write_texts(folder, texts)
    for path in (folder / "texts").glob("*.txt"):
        if path.stem not in texts:
            path.unlink()


def add_list(folder: Path, components: Iterable[Component], texts: Mapping[str, str]) -> None:
    """What a folder adds, beside the list that every kind has."""
    (folder / FOLDER_LIST).write_text(as_json(components), "utf-8")
    _write_texts(folder, texts)


def keep_rows(folder: Path, wanted: Callable[[Component], bool]) -> None:
    """Takes rows out of the common list, and the texts that only they needed."""
    rows = [one for one in read_list(folder) if wanted(one)]
    named = {text for one in rows for text in one.texts}
    write_list(folder, rows, {name: _text(folder, name) or "" for name in sorted(named)})


def read_list(folder: Path) -> list[Component]:
    """Every row of every list that lies there."""
    found = []
    for name in (LIST, FOLDER_LIST):
        path = folder / name
        if path.is_file():
            found += [_component(row) for row in json.loads(path.read_text("utf-8"))["components"]]
    return found


def differences(
    folder: Path, components: Iterable[Component], texts: Mapping[str, str], not_here: Iterable[str]
) -> list[str]:
    """What is otherwise in ``folder`` than it would be written now; ``not_here`` are wheels that another system or
    Python has, of which nothing can be said here. Texts are compared by what they say: one that several share has the
    name of the first of those that are here."""
    if not (folder / LIST).is_file():
        return [f"{folder / LIST} is not there"]
    apart = {canonical(name) for name in not_here}

    def rows(found: Iterable[Component], text_of: Callable[[str], str | None]) -> dict[_Key, Component]:
        here = (one for one in found if canonical(one.name) not in apart)
        return {_key(one): replace(one, texts=tuple(text_of(name) or "none" for name in one.texts)) for one in here}

    was, now = rows(read_list(folder), lambda name: _text(folder, name)), rows(components, texts.get)
    found = [f"{' '.join(key)} is not listed" for key in now if key not in was]
    found += [f"{' '.join(key)} is listed, and not handed out any more" for key in was if key not in now]
    found += [f"{' '.join(key)} is listed otherwise" for key in now if key in was and was[key] != now[key]]
    return sorted(found)


def missing_texts(folder: Path) -> list[str]:
    """Rows without a text, texts that are not there, texts that no row names."""
    rows = read_list(folder)
    named = {text for one in rows for text in one.texts}
    there = {path.stem for path in (folder / "texts").glob("*.txt")}
    found = [f"{one.name} {one.version} has no text" for one in rows if not one.texts]
    found += [f"the text {name} is not there" for name in sorted(named - there)]
    return found + [f"no row names the text {name}" for name in sorted(there - named)]


def as_json(components: Iterable[Component]) -> str:
    """One row a line, so that a change of the list is read line by line."""
    rows = [json.dumps(_filled(one), ensure_ascii=False) for one in components]
    return f'{{"format": {FORMAT}, "components": [\n' + ",\n".join(rows) + "\n]}\n"


def _filled(one: Component) -> dict[str, Any]:
    return {key: value for key, value in asdict(one).items() if value}


def _component(row: dict[str, Any]) -> Component:
    known = {one.name for one in fields(Component)}
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key in known
    }
    values = {"version": "", "used": (), **values}
    return Component(**values)


def _key(one: Component) -> _Key:
    return one.kind, one.name, one.version, one.licence


def _write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (folder / "texts" / f"{name}.txt").write_text(text + "\n", "utf-8")


def _text(folder: Path, name: str) -> str | None:
    path = folder / "texts" / f"{name}.txt"
    return path.read_text("utf-8").removesuffix("\n") if path.is_file() else None
