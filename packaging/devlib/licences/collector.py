"""Every licence of what is handed out, from environment, lock and decisions; and what is wrong with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .components import CRATE, FONT, LIBRARY, WHEEL, Component, Texts, merged
from .decisions import DecidedPart, Decisions, Wheel
from .expressions import NotAllowed, NotReadable, chosen, names_in
from .wheels import InstalledWheel, Listed, Locked, matches

HEADINGS = {
    "GPL": re.compile(r"^\s*GNU (AFFERO |LESSER |LIBRARY )?GENERAL PUBLIC LICENSE", re.MULTILINE),
    "SSPL": re.compile(r"^\s*Server Side Public License", re.MULTILINE | re.IGNORECASE),
    "BUSL": re.compile(r"^\s*Business Source License", re.MULTILINE | re.IGNORECASE),
    "Elastic": re.compile(r"^\s*Elastic License", re.MULTILINE | re.IGNORECASE),
    "Commons-Clause": re.compile(r"Commons Clause.{0,40}License Condition", re.IGNORECASE),
}
"""Titles of licences that forbid or demand much. Below another name they would be overlooked."""


@dataclass(frozen=True)
class Inputs:
    """What the list is made of."""

    wheels: dict[str, InstalledWheel]
    locked: dict[str, Locked]
    decisions: Decisions
    folder: Path
    """``packaging/licences``."""
    root: Path
    """The repository."""
    system: str = "linux"
    """Whose wheels these are: `linux`, `windows` or `macos`."""


class Collector:
    """Looks at everything once: ``components`` and ``texts`` for the list, ``problems`` for a person."""

    def __init__(self, inputs: Inputs) -> None:
        self._in = inputs
        self._allowed = tuple(inputs.decisions.licences)
        self.texts = Texts(inputs.folder / "texts")
        self.problems: list[str] = []
        found = [*self._all_wheels(), *self._shipped()]
        self.components = merged(found)

    # ------------------------------------------------------------------------------------------------------- wheels

    def _all_wheels(self) -> Iterator[Component]:
        for name, locked in sorted(self._in.locked.items()):
            decided = self._in.decisions.wheel(name)
            wheel = self._in.wheels.get(name)
            if wheel is None:
                yield from self._elsewhere(locked, decided)
            else:
                yield from self._wheel(wheel, locked, decided)
        for name in sorted(set(self._in.decisions.wheels) - set(self._in.locked)):
            self._wrong(name, "the decisions name it, and the lock does not any more")

    def _elsewhere(self, locked: Locked, decided: Wheel) -> Iterator[Component]:
        if decided.never:
            return
        if not locked.conditional:
            self._wrong(locked.name, "the lock names it, and it is not installed here")
        elif not decided.licence:
            self._wrong(locked.name, "it is not for this system, so the decisions have to say its licence")
        else:
            used = self._choose(locked.name, decided.licence, locked.name, decided.source)
            yield Component(
                locked.name,
                locked.version,
                WHEEL,
                decided.licence,
                used,
                copyright=decided.copyright,
                source=decided.source,
                purl=f"pkg:pypi/{locked.name}@{locked.version}",
                about=f"Only on {decided.elsewhere}",
                texts=self._standard_texts(locked.name, used),
            )

    def _wheel(self, wheel: InstalledWheel, locked: Locked, decided: Wheel) -> Iterator[Component]:
        if wheel.version != locked.version:
            self._wrong(wheel.name, f"{wheel.version} is installed, and the lock has {locked.version}")
        self._was_seen(wheel, decided)
        licence = decided.licence or self._declared(wheel)
        source = decided.source or wheel.source()
        used = self._choose(wheel.name, licence, wheel.name, source)
        yield Component(
            wheel.shown_name,
            wheel.version,
            WHEEL,
            licence,
            used,
            copyright=decided.copyright,
            source=source,
            purl=f"pkg:pypi/{wheel.name}@{wheel.version}",
            about=wheel.summary()[:200],
            texts=self._wheel_texts(wheel, decided, licence, used),
        )
        parts = [*self._listed(wheel, decided), *self._decided(wheel, decided)]
        self._explained(wheel, decided, parts)
        yield from parts

    def _was_seen(self, wheel: InstalledWheel, decided: Wheel) -> None:
        left_out = tuple(pattern for one in decided.left_out for pattern in one.files)
        for what, files, patterns in (
            ("machine code", wheel.natives, decided.natives),
            ("files that seldom come from its author", wheel.foreign, decided.foreign),
        ):
            rest = [path for path in files if not matches(path, patterns) and not matches(path, left_out)]
            if rest:
                more = f" and {len(rest) - 1} more" if len(rest) > 1 else ""
                self._wrong(wheel.name, f"it has {what} that nobody looked into: {rest[0]}{more}")
        if decided.seen and decided.seen != wheel.version:
            self._wrong(wheel.name, f"somebody looked into {decided.seen}, and {wheel.version} is handed out")

    def _declared(self, wheel: InstalledWheel) -> str:
        for said in wheel.declared():
            spelled = self._in.decisions.spellings.get(said, said)
            try:
                names = names_in(spelled)
            except NotReadable:
                continue
            if names <= set(self._allowed) or self._is_expression(spelled):
                return spelled
        self._wrong(wheel.name, f"its licence is not known: it says {wheel.declared() or 'nothing'}")
        return ""

    @staticmethod
    def _is_expression(text: str) -> bool:
        """A name with a version in it, or words that only expressions have."""
        return bool(re.search(r"-\d|\b(OR|AND|WITH)\b", text)) or text.isupper()

    def _wheel_texts(
        self, wheel: InstalledWheel, decided: Wheel, licence: str, used: tuple[str, ...]
    ) -> tuple[str, ...]:
        found = wheel.texts(decided.other_texts)
        for name, text in found:
            self._reads_as(wheel.name, name, text, licence, decided.choices)
        names = [self.texts.add(wheel.name, name, text) for name, text in found]
        if not found and not decided.standard_text and licence:
            self._wrong(wheel.name, "it has no text of its licence")
        if decided.standard_text or self._needs_whole(used):
            names += self._standard_texts(wheel.name, used)
        return tuple(dict.fromkeys(names))

    def _reads_as(self, owner: str, title: str, text: str, licence: str, choices: Mapping[str, str]) -> None:
        """A text with the title of a licence that the expression does not have."""
        if "PSF" in licence or "Python-" in licence:
            return
        for family, heading in HEADINGS.items():
            if heading.search(text) and family not in licence and family not in choices:
                self._wrong(owner, f"its {title} holds a text of {family}, and it says that it is {licence}")

    def _needs_whole(self, used: tuple[str, ...]) -> bool:
        """Where a wheel often names its licence by an address alone, the whole text goes along."""
        return any(self._in.decisions.licences[name].source for name in used)

    # -------------------------------------------------------------------------------------------------------- parts

    def _listed(self, wheel: InstalledWheel, decided: Wheel) -> Iterator[Component]:
        by_hand = {part.name for part in decided.parts}
        crates = False
        for one in wheel.listed():
            if one.name in decided.not_inside or one.name in by_hand:
                continue
            crates = crates or one.purl.startswith("pkg:cargo/")
            yield self._listed_part(wheel, one)
        if crates or any(part.name == "pyo3" for part in decided.parts):
            yield self._part(wheel.name, DecidedPart("Rust standard library", "MIT OR Apache-2.0"), wheel)

    def _listed_part(self, wheel: InstalledWheel, one: Listed) -> Component:
        owner = f"{wheel.name}, {one.name}"
        if not one.licence:
            self._wrong(owner, "the wheel lists it without a licence")
        used = self._choose(owner, one.licence, wheel.name, one.source) if one.licence else ()
        return Component(
            one.name,
            one.version,
            CRATE if one.purl.startswith("pkg:cargo/") else LIBRARY,
            re.sub(r"\s+", " ", one.licence),
            used,
            (wheel.name,),
            one.authors or f"The authors of {one.name}",
            one.source,
            one.purl.partition("?")[0],
            texts=self._standard_texts(owner, used),
        )

    def _decided(self, wheel: InstalledWheel, decided: Wheel) -> Iterator[Component]:
        for part in decided.parts:
            if not part.systems or self._in.system in part.systems:
                yield self._part(wheel.name, part, wheel)
        if decided.parts_file:
            for row in json.loads((self._in.folder / decided.parts_file).read_text("utf-8")):
                part = DecidedPart(row["name"], row["licence"], row["version"], "", row["copyright"], row["source"])
                yield self._part(wheel.name, part, wheel, row["text"])

    def _part(self, owner: str, part: DecidedPart, wheel: InstalledWheel | None = None, text: str = "") -> Component:
        where = f"{owner}, {part.name}"
        used = self._choose(where, part.licence, owner, part.source)
        crate = part.version and not part.source and wheel is not None and not text
        return Component(
            part.name,
            part.version,
            FONT if "OFL-1.1" in part.licence or "Bitstream" in part.licence else CRATE if crate else LIBRARY,
            part.licence,
            used,
            (owner,) if wheel else (),
            part.copyright or ("" if part.texts or part.wheel_texts else f"The authors of {part.name}"),
            part.source,
            f"pkg:cargo/{part.name}@{part.version}" if crate else "",
            part.inside,
            self._part_texts(where, part, wheel, text, used),
        )

    def _part_texts(
        self, where: str, part: DecidedPart, wheel: InstalledWheel | None, text: str, used: tuple[str, ...]
    ) -> tuple[str, ...]:
        names = [self.texts.add(part.name, "licence", text)] if text else []
        there = dict(wheel.texts()) if wheel else {}
        for title in part.wheel_texts:
            if title in there:
                names.append(self.texts.add(part.name, title, there[title]))
            else:
                self._wrong(where, f"its text {title} is not in the wheel any more")
        for title in part.texts:
            path = self._in.folder / "texts" / title
            path = path if path.is_file() else self._in.root / title
            if path.is_file():
                names.append(self.texts.add(part.name, title, path.read_text("utf-8")))
            else:
                self._wrong(where, f"there is no text {title}")
        return tuple(names) or self._standard_texts(where, used)

    def _explained(self, wheel: InstalledWheel, decided: Wheel, parts: list[Component]) -> None:
        """The crates and libraries that lie in the wheel are among its parts."""
        names = {part.name.lower() for part in parts} | {name.lower() for name in decided.not_inside}
        left_out = tuple(pattern for one in decided.left_out for pattern in one.files)
        known = {name.replace("_", "-") for name in names}
        for path in wheel.natives:
            if matches(path, left_out):
                continue
            unknown = sorted(one for one in wheel.crates(path) if one.lower().replace("_", "-") not in known)
            if unknown:
                self._wrong(wheel.name, f"{path} names crates that no list has: {', '.join(unknown[:5])}")
            if decided.libraries and path.startswith(decided.libraries + "/"):
                self._library(wheel, decided, path, parts, names)

    def _library(
        self, wheel: InstalledWheel, decided: Wheel, path: str, parts: list[Component], names: set[str]
    ) -> None:
        stem = re.split(r"[-.]", path.rpartition("/")[2], maxsplit=1)[0].rstrip("0123456789")
        full = re.split(r"-[0-9a-f]{8}", path.rpartition("/")[2])[0]
        part = decided.library_names.get(full, decided.library_names.get(stem, ""))
        inside = {one.about for one in parts}
        common = stem.removesuffix("common").removesuffix("dec")
        if part.lower() not in names and not {full, stem, common} & inside:
            self._wrong(wheel.name, f"nobody wrote down what {path} is")

    # ------------------------------------------------------------------------------------------------------- shared

    def _shipped(self) -> Iterator[Component]:
        resources = self._in.root / "resources"
        fonts = [path for path in resources.rglob("*") if path.suffix in FONT_SUFFIXES]
        for path in sorted(fonts):
            name = path.relative_to(resources).as_posix()
            if not any(matches(name, part.files) for part in self._in.decisions.shipped):
                self._wrong(f"resources/{name}", "nobody wrote down its licence")
        for part in self._in.decisions.shipped:
            yield self._part(part.name, part)

    def _choose(self, owner: str, licence: str, wheel: str, source: str) -> tuple[str, ...]:
        """The licences that are taken up. What is not known or not allowed there is a problem."""
        if not licence:
            return ()
        try:
            used = chosen(licence, self._allowed)
        except NotReadable as error:
            self._wrong(owner, f"its licence is not known: “{licence}”: {error}")
            return ()
        except NotAllowed as error:
            self._wrong(owner, f"{', '.join(error.names)} is not among the licences that are allowed ({licence})")
            return ()
        for name in used:
            terms = self._in.decisions.licences[name]
            if terms.only and wheel not in terms.only:
                self._wrong(owner, f"{name} is allowed only in {', '.join(terms.only)}")
            if terms.source and not source:
                self._wrong(owner, f"{name} asks that people are told where the source is, and nobody wrote it down")
        return used

    def _standard_texts(self, owner: str, used: tuple[str, ...]) -> tuple[str, ...]:
        names = []
        for one in used:
            for name in (one, *self._in.decisions.licences[one].with_):
                found = [self.texts.standard(part) for part in name.split(" WITH ")]
                if not all(found):
                    self._wrong(owner, f"packaging/licences/texts has no text of {name}")
                names += [text for text in found if text]
        return tuple(dict.fromkeys(names))

    def _wrong(self, owner: str, what: str) -> None:
        self.problems.append(f"{owner}: {what}.")


FONT_SUFFIXES = (".otf", ".ttf", ".woff", ".woff2", ".pfb")
