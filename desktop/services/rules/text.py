"""Rules as text: what a person may write, and remembered ones of older versions as the same text.

A rule is one pattern without a directive; the decision stands beside it. Older remembered rules are plain data,
``{tool, policy, constraint}``: the constraint is what the call is about, a text with ``*`` and ``?``. In the language a
rule may look at three things that are no arguments and that no caller can set: ``call-object`` (that text),
``call-digest`` (its SHA-256, for a text that is meant exactly) and ``call-source`` (where the tool comes from).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from desktop.domain.approval.permission import RuleRecord
from desktop.domain.approval.rules import RuleDecision, RuleProblem
from desktop.domain.errors import ConfigurationError
from desktop.safety.permission.trust_rules import TrustRule, rule_from
from desktop.skills.patterns import PatternError, parse_patterns
from desktop.skills.patterns.globs import BARE, compile_glob
from desktop.skills.patterns.grammar import Constraint, Meta, Pattern, PatternList
from desktop.skills.patterns.paths import Where, is_path_name
from desktop.skills.patterns.syntax import MAX_GLOB
from desktop.tools.builtin.catalogue import BUILT_IN, COMMAND_TOOLS

OBJECT, DIGEST, SOURCE = "call-object", "call-digest", "call-source"
ABOUT = (OBJECT, DIGEST, SOURCE)
ANY_COMMAND = (
    "Every command then runs without asking, also what its files tell a program to do (make, python x.py, npm test). "
    "Not covered: what Assent refuses, what counts as admin or cannot be read, and the network."
)
_TOKEN = re.compile(r"\\[*?\\]|.", re.DOTALL)
_SPECIAL = re.compile(r"[\[\]{},()\\\s]")
_LITERAL = re.compile(r"[*?\[\]{},()\\]")
_SHORT = 200
_HEAD = re.compile(r"(?:[^*?\[{\\/]|\\.)*/(?:(?:[^*?\[{\\/]|\\.)+/)*", re.DOTALL)
"""The folders that a path pattern names before its first wildcard."""


def digest_of(text: str) -> str:
    """SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def literally(text: str) -> str:
    """A value that fits exactly ``text``, to stand in a pattern."""
    found = _LITERAL.sub(r"\\\g<0>", text)
    return re.sub(r"^\s|\s$", r"\\\g<0>", found)


def read_rule(text: str, decision: RuleDecision) -> Pattern:
    """The pattern of a rule with its decision. Raises PatternError for what is not exactly one."""
    found = parse_patterns(text).patterns
    if not found:
        raise PatternError("Write which tool the rule is about", 1)
    if len(found) > 1:
        raise PatternError("A rule is one pattern; a blank begins another one", found[1].column)
    if found[0].metas:
        raise PatternError("The decision is chosen beside the pattern, not written in it", found[0].metas[0].column)
    return found[0]._replace(metas=(Meta(decision, 1),))


def problem_of(text: str, decision: RuleDecision) -> RuleProblem | None:
    """Why a text cannot be a rule, or None."""
    for at, character in enumerate(text):
        if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp"):
            return RuleProblem("It holds a character that cannot be seen.", at, 1)
    start = len(text) - len(text.lstrip())
    try:
        pattern = read_rule(text, decision)
    except PatternError as error:
        at = max(0, min(error.column - 1, len(text)))
        return RuleProblem(f"{error.problem}.", at, max(0, len(text.rstrip()) - at))
    if decision == "allow" and not names_a_tool(pattern):
        width = len(text.strip().partition("(")[0])
        return RuleProblem(
            "A rule that allows names its tool: a tag or * alone allows nothing but reading, which is not asked about.",
            start,
            width,
        )
    return None


def names_a_tool(pattern: Pattern) -> bool:
    """Whether the rule names its tools exactly or by a glob with letters (R-PRM-11)."""
    return pattern.selector.kind == "glob" and compile_glob(pattern.selector.text).specificity > BARE


def allows_any_command(pattern: Pattern) -> bool:
    """Whether it says nothing about which command: ``bash``, or ``bash(command=*)``."""
    said = (one.glob for one in pattern.constraints if one.name in ("command", OBJECT, DIGEST))
    kind, name = pattern.selector
    return (
        kind == "glob"
        and any(map(compile_glob(name).matches, COMMAND_TOOLS))
        and not any(glob.strip("* ") for glob in said)
    )


def pattern_from(rule: TrustRule) -> Pattern:
    """A plain rule in the pattern language. Raises ConfigurationError."""
    about = f"({_about(rule)})" if rule.constraint else ""
    return _read(f"{rule.tool}{about}", rule.policy, rule.tool)


def _read(text: str, policy: RuleDecision, what: str) -> Pattern:
    try:
        return read_rule(text, policy)
    except PatternError as error:
        raise ConfigurationError(f"The rule for {what[:80]} cannot be read: {error}") from error


def record_pattern(record: RuleRecord) -> Pattern:
    """The pattern of a remembered rule, whichever version wrote it. Raises ConfigurationError."""
    if record.pattern:
        return _read(record.pattern, record.decision, record.tool)
    known = dict(record.constraints)
    constraint = known.pop("constraint", "")
    if known:  # arguments by name: nothing that a rule was meant to look at is ever dropped
        if constraint or not all(isinstance(value, str) and value for value in known.values()):
            raise ConfigurationError(f"The rule for {record.tool[:80]} cannot be read.")
        specs = ",".join(f"{name}={value}" for name, value in known.items())
        return _read(f"{record.tool}({specs})", record.decision, record.tool)
    return pattern_from(rule_from({"tool": record.tool, "policy": record.decision, "constraint": constraint}))


def _about(rule: TrustRule) -> str:
    """What a remembered constraint says: exactly this object, or one that fits, of ``bash`` each of its commands."""
    tokens = _TOKEN.findall(rule.constraint)
    if "*" not in tokens and "?" not in tokens:
        return f"{DIGEST}={digest_of(_exact(rule.constraint))}"
    return f"{'command' if rule.tool in COMMAND_TOOLS else OBJECT}={_wild(tokens)}"


def _exact(constraint: str) -> str:
    return "".join(token[-1] for token in _TOKEN.findall(constraint))


def _wild(tokens: list[str]) -> str:
    return "".join(
        token if token in ("*", "?") or len(token) == 2 else _SPECIAL.sub(r"\\\g<0>", token) for token in tokens
    )


def shown_of(record: RuleRecord, pattern: Pattern) -> str:
    """A remembered rule as a person reads it, and can change it: a digest is no text to read, so what it was made from
    stands there where that is not too long."""
    constraint = record.constraints.get("constraint", "") if not record.pattern else ""
    if not constraint:
        return record.pattern or pattern.text
    tokens = _TOKEN.findall(constraint)
    wild = "*" in tokens or "?" in tokens
    value = _wild(tokens) if wild else literally(_exact(constraint))
    known = BUILT_IN.get(record.tool)
    readable = f"{record.tool}({(known.about if known else '') or OBJECT}={value})"
    return readable if constraint.isprintable() and len(value) < MAX_GLOB else pattern.text


def proposed(tool: str, arguments: Mapping[str, Any], resolved: Mapping[str, str]) -> str:
    """The rule for exactly this call, to be widened by a person; of an argument that is long only its name counts."""
    specs, known = [], BUILT_IN.get(tool)
    if known is not None and known.about == "host" and resolved.get("host"):
        return f"{tool}(host={literally(resolved['host'])})"
    for name, value in arguments.items():
        if known is not None and name in known.lengthy:
            continue
        text = resolved.get(name, value)
        if isinstance(text, str) and text.strip() and text.isprintable() and len(text) * 2 < MAX_GLOB:
            specs.append(f"{name}={literally(text.strip())}")
        elif not isinstance(text, str) and len(found := json.dumps(text, default=str)) < _SHORT:
            specs.append(f"{name}={literally(found)}")
    return f"{tool}({','.join(specs)})" if specs else tool


def followed(pattern: Pattern, where: Where) -> Pattern | None:
    """The same rule with its folders where they really lead, or None where that is no other place: what is asked about
    or denied below a link is so by its other name, too. Blocking."""
    changed = [_followed(one, where) for one in pattern.constraints]
    return None if changed == list(pattern.constraints) else pattern._replace(constraints=tuple(changed))


def _followed(one: Constraint, where: Where) -> Constraint:
    head = _HEAD.match(one.glob)
    if not is_path_name(one.name) or head is None:
        return one
    folder = re.sub(r"\\(.)", r"\1", head[0]).rstrip("/")
    if folder == "~" or folder.startswith("~/"):
        folder = where.home + folder[1:]
    full = os.path.normpath(os.path.join(where.cwd or "/", folder))
    real = os.path.realpath(full)
    return one if real == full else one._replace(glob=literally(real) + "/" + one.glob[head.end() :])


def as_list(patterns: list[Pattern]) -> PatternList:
    """Patterns as a list to be indexed; columns count in each pattern by itself."""
    return PatternList(tuple(patterns), "")
