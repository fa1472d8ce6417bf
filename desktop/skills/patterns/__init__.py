"""The one pattern language of allowed-tools, trust rules, job policies and filters (R-PAT-1)."""

from desktop.skills.patterns.globs import Glob, compile_glob, escape_glob
from desktop.skills.patterns.grammar import Constraint, Meta, Pattern, PatternList, Selector, parse_patterns
from desktop.skills.patterns.lists import AllowedList, Intersection, ListJudgement, matching
from desktop.skills.patterns.policies import PolicyRules
from desktop.skills.patterns.syntax import PatternError

__all__ = [
    "AllowedList",
    "Constraint",
    "Glob",
    "Intersection",
    "Judged",
    "Meta",
    "Pattern",
    "PatternError",
    "PatternList",
    "PolicyRules",
    "Selector",
    "compile_glob",
    "escape_glob",
    "matching",
    "parse_patterns",
]
