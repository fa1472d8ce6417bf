"""From what the file says to values that hold, with a sentence for each thing that does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.checks import KEYRING, Secret, Unfit, check, did_you_mean, find_secrets, risky_variables
from desktop.settings.schema import schema
from desktop.settings.spec import Problem

Place = tuple[int, int]

RENAMES: dict[str, str] = {
    "limits.starts_per_minute": "middleware.rate_limit.per_minute",
    "limits.skill_starts_per_minute": "middleware.rate_limit.skills_per_minute",
}
"""Keys that an older version wrote, with their name today. Read as the new one, renamed when it is saved."""
VALUES: Mapping[str, Mapping[bool, str]] = {"tools.bash.network": {True: "always", False: "never"}}
"""What older versions wrote as true and false, and is a choice by now."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """``values`` by full key, for every setting; ``said``: the keys that the file sets and that are in force."""

    values: dict[str, Any]
    problems: tuple[Problem, ...]
    said: frozenset[str]

    @property
    def is_good(self) -> bool:
        """Everything in the file is in force."""
        return not any(problem.severity == "error" for problem in self.problems)


class Evaluation:
    """One evaluation of the file's values. A setting whose value does not fit keeps the value of ``fallback``."""

    def __init__(
        self,
        defaults: Mapping[str, Any],
        fallback: Mapping[str, Any],
        places: Mapping[str, Place],
        renames: Mapping[str, str],
    ) -> None:
        self._values = dict(defaults)
        self._fallback = fallback
        self._places = places
        self._renames = renames
        self._schema = schema()
        known = [*self._schema, *renames]
        self._sections = {key.rsplit(".", depth)[0] for key in known for depth in range(1, key.count(".") + 1)}
        self._problems: list[Problem] = []
        self._said: set[str] = set()

    def run(self, written: Mapping[str, Any]) -> Evaluated:
        """Judge a whole file."""
        found = dict(self._leaves(written, ""))
        for key, value in found.items():
            self._take(key, value, found)
        risky = risky_variables(self._values["tools.env_allowlist"])
        if risky:
            message = f"{', '.join(risky)} may hold a secret and reaches every tool."
            self._tell("tools.env_allowlist", message, "warning")
        return Evaluated(self._values, tuple(self._problems), frozenset(self._said))

    def _leaves(self, section: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
        for name, value in section.items():
            key = f"{prefix}{name}"
            if key not in self._sections:
                yield key, value
            elif isinstance(value, Mapping):
                yield from self._leaves(value, f"{key}.")
            elif value is not None:
                self._tell(key, f"{key} is a group: it holds names with values, one a line, further right.")
                self._keep(k for k in self._schema if k.startswith(f"{key}."))

    def _take(self, written: str, value: Any, found: Mapping[str, Any]) -> None:
        key = self._renames.get(written, written)
        if key != written:
            self._tell(written, f"{written} is now called {key}; it is renamed when the settings are saved.", "warning")
            if key in found:
                return
        if key not in self._schema:
            self._unknown(key, value)
            return
        if isinstance(value, bool):
            value = VALUES.get(key, {}).get(value, value)
        try:
            self._values[key] = check(self._schema[key], value)
            self._said.add(key)
        except Unfit as error:
            self._tell(written, str(error), next_step=KEYRING if isinstance(error, Secret) else "")
            self._keep([key])

    def _unknown(self, key: str, value: Any) -> None:
        try:
            find_secrets({key.rpartition(".")[2]: value}, key)
        except Secret as error:
            self._tell(key, str(error), next_step=KEYRING)
        else:
            meant = did_you_mean(key, [*self._schema, *self._renames])
            self._tell(key, f"There is no setting {key}{meant} It is kept as it is.", "warning")

    def _keep(self, keys: Any) -> None:
        for key in keys:
            self._values[key] = self._fallback[key]

    def _tell(self, key: str, message: str, severity: Any = "error", next_step: str = "") -> None:
        line, column = self._places.get(key, (None, None))
        self._problems.append(Problem(key, message, severity, line, column, next_step))


def twice_written(twice: tuple[tuple[str, Place], ...]) -> Iterator[Problem]:
    """YAML takes the last of two equal keys without a word."""
    for key, (line, column) in twice:
        yield Problem(key, f"{key} is written twice; the last one holds.", "warning", line, column)
