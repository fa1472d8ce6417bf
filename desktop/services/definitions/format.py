"""What a definition's mapping says: read and validated, every problem at once (R-DEF-1 … R-DEF-9, R-DEF-12, R-DEF-14).

Pure: no file, no skill is looked at. What has to be there when it runs is looked up in ``services/turns/spec.py``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Literal

from desktop.agents.skill.settings import named_model
from desktop.domain.definitions import AgentDefinition, AgentType, DefinitionProblem, SideDefinition
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.model_settings import SPELLINGS, read_settings
from desktop.domain.runs.supervision import Priority
from desktop.domain.safety import DEFAULT_ENVIRONMENT
from desktop.domain.text.hidden_characters import odd_text
from desktop.domain.text.suggestions import nearest
from desktop.safety.confinement.environment_names import stays_out_of_commands
from desktop.services.definitions.values import (
    MAX_LABEL,
    MAX_PROMPT_TEXT,
    MAX_TEXT,
    PROMPT,
    TOOL,
    cleaned_icon,
    frontmatter_problem,
    name_problem,
)
from desktop.services.threads.variables import MAX_ENVIRONMENT, environment_problems, environment_text
from desktop.skills.patterns import PatternError, parse_patterns

MAX_TURNS = 250
MAX_ROUNDS = 250
TOP = (
    "name",
    "title",
    "type",
    "maxSessionTurns",
    "sideA",
    "sideB",
    "exposeAsTool",
    "toolDescription",
    "description",
    "icon",
    "tenvs",
    "handoff",
    "priority",
)
SIDE = (
    "label",
    "prompt",
    "stopOnResponse",
    "stopTool",
    "stopToolResponseProperty",
    "maxSteps",
    "endSessionTool",
    "promptText",
    "allowedTools",
    "model",
)
TOP_ALIASES = {"env": "tenvs"}
SIDE_ALIASES = {"sessionStop": "endSessionTool"}
PRIORITIES = {one.name.lower(): one for one in Priority if one is not Priority.CRITICAL}
"""Nothing that a file says comes before what the app itself needs."""
UNUSED = ("sessionFail", "sessionStatus")
"""Newer fields that are read and checked, and that nothing here acts on (S-DEF-4)."""
_REFERENCE = ("name", "messageProperty", "attachmentsProperty")


@dataclass(slots=True)
class _FieldReader:
    """Collects the problems of one mapping; ``path`` is where it stands, with a dot at its end."""

    data: Mapping[str, Any]
    path: str = ""
    problems: list[DefinitionProblem] = field(default_factory=list)

    def wrong(self, key: str, code: str, text: str, *, warning: bool = False) -> None:
        self.problems.append(DefinitionProblem(self.path + key, code, text, warning))

    def text(self, key: str, limit: int, *, needed: str = "") -> str:
        """A text of so many characters; ``needed`` says why it has to be there."""
        value = self.data.get(key)
        if value is None:
            value = ""
        if not isinstance(value, str):
            self.wrong(key, "field.type", f"{key} must be text")
            return ""
        if needed and not value.strip():
            self.wrong(key, "field.missing", needed)
        elif len(value) > limit:
            self.wrong(key, "field.length", f"{key} has {len(value)} characters; {limit} is the most")
        elif odd := odd_text(value):
            self.wrong(key, "field.characters", f"{key} holds {odd}")
        return value.strip()

    def flag(self, key: str, default: bool) -> bool:
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.wrong(key, "field.type", f"{key} must be true or false")
            return default
        return value

    def count(self, key: str, maximum: int) -> int | None:
        """A positive whole number (R-DEF-8, R-LIM-7)."""
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.wrong(key, "limit.value", f"{key} must be a whole number of at least 1")
            return None
        if value > maximum:
            self.wrong(key, "limit.capped", f"{key} counts as {maximum}, which is the most", warning=True)
            return maximum
        return value

    def tool(self, key: str) -> str:
        """A tool's name, canonical or as a provider writes it."""
        name = self.text(key, MAX_LABEL)
        if name and not TOOL.fullmatch(name):
            self.wrong(key, "tool.name", f"{key} must be the name of a tool, not {name[:40]!r}")
        return name

    def known(self, names: tuple[str, ...]) -> None:
        """Fields that nothing knows are errors, with what may have been meant (R-DEF-1)."""
        for key in self.data:
            if key in names:
                continue
            folded = {name.lower(): name for name in names}
            suggested = nearest(key.lower().replace("_", ""), folded)
            hint = f"; did you mean {folded[suggested[0]]}?" if suggested else ""
            self.wrong(key[:60], "field.unknown", f"there is no field {key[:60]!r} here{hint}")


def read_definition(
    data: Mapping[str, Any], origin: str = ""
) -> tuple[AgentDefinition | None, tuple[DefinitionProblem, ...]]:
    """The definition, None when an error keeps it from being one, and all problems, warnings among them."""
    at = _FieldReader(_with_aliases(data, TOP_ALIASES))
    at.problems += _doubled(data, TOP_ALIASES, "")
    at.known(TOP)
    name = _name(at)
    kind = _type(at)
    side_a = _side(at, "sideA", needed="sideA is needed: the side that works")
    needed = "sideB is needed: two sides talk in an agent of type dual_ai" if kind == "dual_ai" else ""
    side_b = _side(at, "sideB", needed=needed)
    definition = AgentDefinition(
        name=name,
        side_a=side_a or SideDefinition(""),
        title=at.text("title", MAX_LABEL),
        type=kind,
        side_b=side_b if kind == "dual_ai" else None,
        max_turns=at.count("maxSessionTurns", MAX_TURNS),
        expose_as_tool=at.flag("exposeAsTool", default=False),
        tool_description=at.text("toolDescription", MAX_TEXT),
        description=at.text("description", MAX_TEXT),
        icon=_icon(at),
        environment=_environment(at),
        handoff=_handoff(at),
        priority=_priority(at),
        origin=origin,
    )
    _together(at, definition)
    broken = any(not problem.warning for problem in at.problems)
    return (None if broken else definition), tuple(at.problems)


def _name(at: _FieldReader) -> str:
    """Free, but for what could be a path, or would not be seen: what it is called as a tool follows from it."""
    name = at.data.get("name")
    if wrong := name_problem(name):
        at.wrong("name", "name.invalid", wrong)
        return ""
    name = unicodedata.normalize("NFC", str(name))
    if not name.lower().endswith("agent") and name.isascii():
        at.wrong("name", "name.suffix", "the names of agents should end in _agent", warning=True)
    return name


def _type(at: _FieldReader) -> AgentType:
    kind = at.data.get("type")
    if kind is None or kind == "ai_human":
        return "ai_human"
    if kind != "dual_ai":
        at.wrong("type", "type.unknown", "type must be ai_human or dual_ai")
    return "dual_ai" if kind == "dual_ai" else "ai_human"


def _side(above: _FieldReader, key: str, *, needed: str) -> SideDefinition | None:
    """Read one side. A side that the type does not need is read all the same: its mistakes count when the type
    changes."""
    data = above.data.get(key)
    if data is None:
        if needed:
            above.wrong(key, "side.missing", needed)
        return None
    if not isinstance(data, Mapping):
        above.wrong(key, "field.type", f"{key} must hold the fields of a side")
        return None
    at = _FieldReader(_with_aliases(data, SIDE_ALIASES), f"{key}.", above.problems)
    above.problems += _doubled(data, SIDE_ALIASES, f"{key}.")
    at.known((*SIDE, *UNUSED))
    at.problems += _references(data, at.path)
    text = _prompt_text(at)
    side = SideDefinition(
        prompt=_prompt(at),
        prompt_text=text,
        allowed_tools=_allowed_tools(at),
        label=at.text("label", MAX_LABEL),
        stop_on_response=at.flag("stopOnResponse", default=True),
        stop_tool=at.tool("stopTool"),
        stop_property=at.text("stopToolResponseProperty", MAX_LABEL),
        max_rounds=at.count("maxSteps", MAX_ROUNDS),
        end_session_tool=at.tool("endSessionTool"),
        model=_model(at),
    )
    _stops(at, side)
    return side


def _prompt(at: _FieldReader) -> str:
    """The name of a skill; underscores count as hyphens, as tools are written too."""
    needed = "prompt must name the skill that this side works by, or promptText hold the prompt itself"
    prompt = at.text("prompt", MAX_LABEL, needed="" if at.data.get("promptText") is not None else needed)
    if prompt and not PROMPT.fullmatch(prompt):
        at.wrong("prompt", "prompt.name", "prompt must be the plain name of a skill, no path and no address")
    return prompt.replace("_", "-")


def _prompt_text(at: _FieldReader) -> str:
    """The prompt itself, in place of a skill's name."""
    if at.data.get("promptText") is None:
        return ""
    text = at.text("promptText", MAX_PROMPT_TEXT, needed="promptText must say what this side is and does")
    if at.data.get("prompt") is not None:
        at.wrong("promptText", "prompt.both", "a side has a prompt or a promptText, not both: take one of them out")
    elif wrong := frontmatter_problem(text):
        at.wrong("promptText", "prompt.frontmatter", wrong)
    return text


def _allowed_tools(at: _FieldReader) -> str | None:
    """The list beside a promptText, as in a skill's frontmatter; None: there is none."""
    given = at.data.get("allowedTools")
    if given is None:
        return None
    if at.data.get("promptText") is None:
        what = "allowedTools counts beside a promptText alone: a skill has its own list"
        at.wrong("allowedTools", "tools.unused", what)
    texts = given if isinstance(given, list) else [given]
    if not all(isinstance(text, str) for text in texts):
        at.wrong("allowedTools", "field.type", "allowedTools must be text, or a list of texts")
        return ""
    try:
        return parse_patterns(" ".join(texts)).text
    except PatternError as error:
        at.wrong("allowedTools", "patterns.invalid", str(error))
        return ""


def _model(at: _FieldReader) -> dict[str, Any]:
    """The side's model and its settings, or the name of a model alone."""
    given = at.data.get("model")
    if given is None:
        return {}
    said = {"model": given} if isinstance(given, str) else given
    if not isinstance(said, Mapping):
        at.wrong("model", "field.type", "model must be connection/model, or a mapping of settings")
        return {}
    below = _FieldReader(said, f"{at.path}model.", at.problems)
    below.known(("model", *SPELLINGS))
    name = said.get("model")
    if name is not None and named_model(said) is None:
        below.wrong("model", "model.name", f"model must be connection/model, not {name!r:.60}")
    settings, wrong = read_settings(said)
    for one in wrong:
        below.wrong(one.key, "model.setting", one.text)
    return {**({"model": name} if name is not None else {}), **settings.plain()}


def _stops(at: _FieldReader, side: SideDefinition) -> None:
    if side.stop_tool and not side.stop_property:
        text = "stopTool needs stopToolResponseProperty: which property of the tool's result counts"
        at.wrong("stopToolResponseProperty", "stop.property", text)
    if side.stop_property and not side.stop_tool:
        at.wrong("stopToolResponseProperty", "stop.unused", "this counts only together with stopTool", warning=True)
    if not side.stop_on_response and not (side.stop_tool or side.end_session_tool or at.data.get("maxSteps")):
        text = "with stopOnResponse false nothing ends this side: set stopTool, endSessionTool or maxSteps"
        at.wrong("stopOnResponse", "stop.never", text)


def _references(data: Mapping[str, Any], path: str) -> Iterator[DefinitionProblem]:
    """The newer fields that name a tool, as text or as a mapping (S-DEF-4)."""
    for key in (*SIDE_ALIASES, *UNUSED):
        value = data.get(key)
        if value is None:
            continue
        if isinstance(value, Mapping):
            odd = [str(name)[:40] for name in value if name not in _REFERENCE]
            if odd or not all(isinstance(item, str) for item in value.values()) or not value.get("name"):
                what = f"{key} must name a tool: text, or name with messageProperty and attachmentsProperty"
                yield DefinitionProblem(path + key, "field.type", what)
            if set(value) & set(_REFERENCE[1:]):
                yield DefinitionProblem(path + key, "field.unused", f"of {key} only the name counts here", True)
        elif not isinstance(value, str):
            yield DefinitionProblem(path + key, "field.type", f"{key} must name a tool")
        if key in UNUSED:
            yield DefinitionProblem(path + key, "field.unused", f"{key} is known and has no effect here", True)


def _icon(at: _FieldReader) -> str:
    """Read the icon of a definition (R-DEF-9)."""
    given = at.text("icon", MAX_TEXT)
    icon, problem = cleaned_icon(given)
    if problem:
        at.wrong("icon", "icon.invalid", problem)
    return icon


def _environment(at: _FieldReader) -> dict[str, str]:
    """Read the chat variables of a definition (R-DEF-15)."""
    given = at.data.get("tenvs")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        at.wrong("tenvs", "field.type", "tenvs must hold names and values")
        return {}
    problems = environment_problems(given, "tenvs")
    at.problems += [replace(problem, path=at.path + problem.path) for problem in problems]
    wrong = {problem.path for problem in problems}
    kept = ((str(key), environment_text(value)) for key, value in list(given.items())[:MAX_ENVIRONMENT])
    found = {key: text for key, text in kept if text is not None and f"tenvs.{key[:60]}" not in wrong}
    for key in found:
        if stays_out_of_commands(key) or key in DEFAULT_ENVIRONMENT:
            what = "commands keep their own, or go without: here it counts in texts and in tools.yaml alone"
            at.wrong(f"tenvs.{key}", "environment.texts", what, warning=True)
    return found


def _handoff(at: _FieldReader) -> Literal["call", "transfer"]:
    value = at.data.get("handoff")
    if value not in (None, "call", "transfer"):
        at.wrong("handoff", "handoff.unknown", "handoff must be call or transfer")
    return "transfer" if value == "transfer" else "call"


def _priority(at: _FieldReader) -> Priority | None:
    value = at.data.get("priority")
    if value is None:
        return None
    if not isinstance(value, str) or value not in PRIORITIES:
        at.wrong("priority", "priority.unknown", f"priority must be one of {', '.join(PRIORITIES)}")
        return None
    return PRIORITIES[value]


def _together(at: _FieldReader, definition: AgentDefinition) -> None:
    """Check what fields say about each other, such as a stop tool and its property."""
    dual = definition.type == "dual_ai"
    if definition.expose_as_tool and not definition.tool_description:
        text = "exposeAsTool needs toolDescription: models choose tools by it"
        at.wrong("toolDescription", "tool.description", text)
    if dual and at.data.get("maxSessionTurns") is None:
        text = "set maxSessionTurns: without it the two go on for 50 turns"
        at.wrong("maxSessionTurns", "turns.unset", text, warning=True)
    if not dual and at.data.get("maxSessionTurns") is not None:
        at.wrong("maxSessionTurns", "turns.unused", "this counts only for type dual_ai", warning=True)
    if not dual and at.data.get("sideB") is not None:
        at.wrong("sideB", "side.unused", "in an agent of type ai_human side B is the person", warning=True)
    if definition.handoff == "transfer" and dual:
        at.wrong("handoff", "handoff.dual", "only an agent of type ai_human can take over a conversation")
    if definition.handoff == "transfer" and not definition.expose_as_tool:
        at.wrong("handoff", "handoff.unused", "this counts only together with exposeAsTool", warning=True)


def _with_aliases(data: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    """The same under the names of ``TOP`` and ``SIDE``; where both stand, the older one counts."""
    found = {str(key): value for key, value in data.items() if key not in aliases}
    for newer, name in aliases.items():
        value = data.get(newer)
        if value is not None and found.get(name) is None:
            found[name] = str(value.get("name") or "") if isinstance(value, Mapping) and newer != "env" else value
    return found


def _doubled(data: Mapping[str, Any], aliases: Mapping[str, str], path: str) -> list[DefinitionProblem]:
    return [
        DefinitionProblem(path + newer, "field.double", f"{newer} and {name} are the same field; write one of them")
        for newer, name in aliases.items()
        if data.get(newer) is not None and data.get(name) is not None
    ]
