"""The ``reads`` of one entry of tools.yaml: denied folders that it needs; a person agrees once (D-4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from desktop.domain.approval.consents import ClosedPlaces, Consent, Opening
from desktop.domain.approval.judgement import Category
from desktop.domain.errors import Denied
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.tools import PreCheck
from desktop.tools.declared.entries import EntryProblems, no_argument
from desktop.yaml_text.tree import Node

MAX_READS = 8
ONCE = "agreeing once holds until its definition changes"


def nothing_opens(entry: str) -> Opening:
    """Where there is nobody who knows what is closed."""
    return Opening(entry, "", "refused", "nothing can be opened here")


def read_reads(node: Node | None, opens: Callable[[str], Opening], notes: EntryProblems) -> tuple[str, ...]:
    """The entries as written. What is refused is an error, what opens nothing now a warning."""
    if node is None or node.empty:
        return ()
    if node.kind != "list" or len(node.items) > MAX_READS:
        notes.error(node, "reads", f"this has to be a list of at most {MAX_READS} denied folders or files")
        return ()
    found = []
    for index, item in enumerate(node.items):
        at = f"reads[{index}]"
        if item.kind != "text" or (item.empty and item.text != "~") or (wrong := no_argument(item.text)):
            notes.error(item, at, wrong if item.kind == "text" and not item.empty else "this has to be a path")
            continue
        opening = opens(item.text)
        if opening.comes_to == "refused":
            notes.error(item, at, f"this is opened to no tool: {opening.sentence}")
        elif opening.comes_to == "nothing":
            notes.warn(item, at, opening.sentence)
        found.append(item.text)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Reads:
    """What the entries of a tool open at this moment, and whether a person agreed to that."""

    consent: Consent | None = None
    agreed: bool = True

    def opened(self) -> tuple[str, ...]:
        """The paths for the sandbox profile. Raises Denied where nobody agreed."""
        if self.consent is None:
            return ()
        if not self.agreed:
            raise Denied(
                f"It {self.consent.sentence}, and nobody has agreed to that yet.",
                code="denied.permission",
                next_step="Call it once where a person can answer.",
            )
        return self.consent.paths

    def shown_in(self, check: PreCheck) -> PreCheck:
        """The judgement that names them, whether or not somebody agreed; admin as long as nobody did."""
        if self.consent is None or check.denied is not None:
            return check
        sentence = self.consent.sentence
        said = f"{check.preview.get('confinement', '')} It {sentence}.".lstrip()
        check = replace(check, preview={**check.preview, "confinement": said, "opened": list(self.consent.paths)})
        if self.agreed:
            return check
        why = "; ".join(reason for reason in (check.raised_because, f"it {sentence}; {ONCE}") if reason)
        return replace(check, category=Category.ADMIN, raised_because=why, consent=self.consent)


@dataclass(frozen=True, slots=True)
class ToolReads:
    """What one tool says that it reads; ``entries`` as written, ``version`` is the digest of its definition."""

    tool: str
    version: str
    entries: tuple[str, ...]
    places: ClosedPlaces | None

    @property
    def agreed(self) -> tuple[str, ...]:
        """The paths to which a person agreed; cheap."""
        return self.places.known(self.tool, self.version) if self.places is not None else ()

    async def take_back(self) -> None:
        """Take the consent back: the tool's next call asks a person again."""
        if self.places is not None:
            await self.places.take_back(self.tool)

    def now(self) -> Reads:
        """Judged anew at each call. Blocks. Raises Denied for an entry that may not be opened."""
        places = self.places
        judged = [places.judge(entry) if places is not None else nothing_opens(entry) for entry in self.entries]
        refused = next((opening for opening in judged if opening.comes_to == "refused"), None)
        if refused is not None:
            raise Denied(
                f"Permission denied: {self.tool} says that it reads {refused.text}, and {refused.sentence}.",
                code="denied.boundary",
                next_step="Correct reads in tools.yaml.",
            )
        paths = tuple(sorted({opening.resolved for opening in judged if opening.comes_to == "opens"}))
        if not paths or places is None:
            return Reads()
        consent = Consent(self.tool, self.version, paths)
        return Reads(consent, places.agreed(consent))
