"""What becomes of a judged call before anybody is asked: the one function for real calls and for the simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from desktop.domain.safety import RuleMatch
from desktop.domain.tools import Category

Because = Literal["rule", "category", "remembered", "setting"]


@dataclass(frozen=True, slots=True)
class Answer:
    """``what`` comes of the call and ``because`` of what; "category": as its category has it without any rule."""

    what: Literal["passes", "asks", "denied"]
    because: Because


_ASKS = Answer("asks", "category")


def answer(
    category: Category, rule: RuleMatch | None, *, edited: bool = False, stale: bool = False, remembered: bool = False,
    setting: bool = False,
) -> Answer:  # fmt: skip
    """``edited``: a person changed the arguments and sees the call again whatever rules say; ``stale``: it changed
    since it was approved; ``remembered``: allowed for the rest of the run; ``setting``: the opt-in of C-28 covers it.

    Admin is never passed by a rule, and only a rule that names its tool passes more than reading (R-PRM-3, R-PRM-11).
    """
    policy = rule.policy if rule is not None else ""
    if rule is not None and policy == "deny":
        return Answer("denied", "rule")
    if edited:
        return _ASKS
    if category is Category.READ:
        asks = rule is not None and policy == "ask" and not rule.bare
        return Answer("asks" if asks else "passes", "rule" if asks or policy == "allow" else "category")
    if category is Category.ADMIN or stale:
        return _ASKS
    if rule is not None and policy == "allow" and rule.specific:
        return Answer("passes", "rule")
    if policy == "ask":
        return Answer("asks", "rule")
    if remembered:
        return Answer("passes", "remembered")
    return Answer("passes", "setting") if setting else _ASKS
