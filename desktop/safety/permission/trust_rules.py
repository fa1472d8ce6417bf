"""Trust rules as plain data: a tool's name or glob, a constraint, allow, ask or deny (R-PRM-11, R-PRM-12).

What they mean is decided in the pattern language of the skills room (``services.rules.trust``), as for every pattern.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass

Policy = Literal["allow", "ask", "deny"]
_POLICIES = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class TrustRule:
    """``tool`` is a canonical name, a glob with ``*`` and ``?``, or ``#tag``. ``constraint`` is a glob that the call's
    normalised object must fit; empty: any call. An allow rule without a constraint allows every call of the tool."""

    tool: str
    policy: Policy
    constraint: str = ""
    reason: str = ""


def escape_glob(text: str) -> str:
    """A pattern that fits exactly ``text``."""
    return re.sub(r"([*?\\])", r"\\\1", text)


def rule_from(data: Mapping[str, Any]) -> TrustRule:
    """Checked from stored or chosen data. Raises ConfigurationError."""
    tool, policy = data.get("tool"), data.get("policy")
    constraint, reason = data.get("constraint", ""), data.get("reason", "")
    if not isinstance(tool, str) or not tool.strip() or policy not in _POLICIES:
        raise ConfigurationError(
            f"A trust rule needs a tool and a policy (allow, ask or deny), not {dict(data)!r:.200}."
        )
    if not isinstance(constraint, str) or not isinstance(reason, str):
        raise ConfigurationError("A trust rule's constraint and reason are texts.")
    return TrustRule(tool, policy, constraint, reason)
