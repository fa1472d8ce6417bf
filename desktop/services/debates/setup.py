"""A debate's set-up: kept as JSON, read back without trust, turned into what a side turn needs; and the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from desktop.domain.debates import DebateSetup, DebateTemplate, SideSetup
from desktop.domain.definitions import AgentDefinition, SideDefinition, SideName
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.model_settings import read_settings
from desktop.services.skills.side_prompt import as_list, in_place
from desktop.skills.patterns import parse_patterns

if TYPE_CHECKING:
    from desktop.services.turns import spec as turns_spec
    from desktop.services.turns.spec import SideSpec
else:
    turns_spec = lazy_module("desktop.services.turns.spec")

LABELS: Mapping[SideName, str] = {"a": "Side A", "b": "Side B"}
"""S-DEF-2."""
DEBATE = "debate"
"""What stands for the agent's name where a debate was made from no definition."""


def to_plain(setup: DebateSetup) -> dict[str, Any]:
    """The set-up as JSON values."""
    return asdict(setup)


def from_plain(data: Mapping[str, Any]) -> DebateSetup:
    """Read a set-up back from JSON; unknown fields are dropped, and values that do not fit are left at their
    default."""
    known = {name: data[name] for name in DebateSetup.__dataclass_fields__ if name in data}
    environment = known.get("environment")
    pairs = environment.items() if isinstance(environment, Mapping) else ()
    known["environment"] = {str(name): str(value) for name, value in pairs}
    known["a"], known["b"] = _side(data.get("a")), _side(data.get("b"))
    known["topic"], known["project"] = str(known.get("topic") or ""), str(known.get("project") or "")
    return DebateSetup(**known)


def _side(data: Any) -> SideSetup:
    given = data if isinstance(data, Mapping) else {}
    known = {name: given[name] for name in SideSetup.__dataclass_fields__ if name in given}
    tools = known.get("tools")
    known["tools"] = tuple(str(one) for one in tools) if isinstance(tools, (list, tuple)) else None
    known["prompt"] = str(known.get("prompt") or "")
    settings = known.get("settings")
    known["settings"] = read_settings(settings)[0].plain() if isinstance(settings, Mapping) else {}
    return SideSetup(**known)


def label_of(setup: DebateSetup, side: SideName) -> str:
    """What a side is called."""
    return setup.side(side).label or LABELS[side]


def spec_of(setup: DebateSetup, name: SideName) -> SideSpec:
    """A side as it runs. Requests for approval say which side asks. Raises KnownError ``model.none``."""
    side, label = setup.side(name), label_of(setup, name)
    known = f"{label} (side {name.upper()})" if side.label else label
    own = None if side.prompt else in_place(side.prompt_text, label, as_list(side.tools))
    return turns_spec.SideSpec(
        agent=setup.agent or DEBATE,
        shown=label,
        prompt=side.prompt,
        model=turns_spec.model_from(side.model),
        side=name,
        where=f"side{name.upper()}.prompt",
        chain=(known,),
        tools=side.tools if own is None else None,
        in_place=own,
        prompt_text=side.prompt_text if own is None else "",
        stop_on_response=side.stop_on_response,
        stop_tool=side.stop_tool,
        stop_property=side.stop_property,
        end_session_tool=side.end_session_tool,
        max_rounds=side.max_rounds,
        usual_rounds=turns_spec.SIDE_LIMIT,
        environment=setup.environment,
        said=read_settings(side.settings)[0],
    )


def definition_of(setup: DebateSetup, name: str, description: str) -> AgentDefinition:
    """A set-up as a definition: what a definition has no field for (topic, models, bounds) is left out."""
    return AgentDefinition(
        name=name,
        type="dual_ai",
        title=setup.title,
        description=description,
        max_turns=setup.max_turns,
        side_a=_definition_side(setup.a),
        side_b=_definition_side(setup.b),
        environment=dict(setup.environment),
    )


def _definition_side(side: SideSetup) -> SideDefinition:
    return SideDefinition(
        side.prompt,
        side.label,
        side.stop_on_response,
        side.stop_tool,
        side.stop_property,
        side.max_rounds,
        side.end_session_tool,
        "" if side.prompt else side.prompt_text,
        None if side.prompt else as_list(side.tools),
        dict(side.settings),
    )


def setup_of(definition: AgentDefinition, topic: str, model: str) -> DebateSetup:
    """A definition as a set-up to begin with. Raises KeyError for an agent with one side."""
    a, b = (_setup_side(definition.side(name), model) for name in ("a", "b"))
    return DebateSetup(
        topic=topic,
        a=a,
        b=b,
        max_turns=definition.max_turns,
        agent=definition.name,
        title=definition.title,
        environment=dict(definition.environment),
    )


def _setup_side(side: SideDefinition, model: str) -> SideSetup:
    listed = side.allowed_tools
    tools = None if listed is None else tuple(pattern.text for pattern in parse_patterns(listed).patterns)
    return SideSetup(
        prompt=side.prompt,
        prompt_text=side.prompt_text,
        tools=tools,
        label=side.label,
        model=str(side.model.get("model") or model),
        settings=read_settings(side.model)[0].plain(),
        stop_on_response=side.stop_on_response,
        stop_tool=side.stop_tool,
        stop_property=side.stop_property,
        end_session_tool=side.end_session_tool,
        max_rounds=side.max_rounds,
    )


def templates() -> Sequence[DebateTemplate]:
    """What the page offers; the topics are examples."""
    return _TEMPLATES


_TEMPLATES: Sequence[DebateTemplate] = (
    DebateTemplate(
        "debate",
        "Debate",
        "Two positions",
        "debates",
        DebateSetup(
            "Should a small team rewrite its product when the first version has become hard to change?",
            SideSetup("debate-for", "For"),
            SideSetup("debate-against", "Against"),
            6,
            template="debate",
        ),
    ),
    DebateTemplate(
        "red-team",
        "Red team",
        "One plans, one attacks",
        "admin",
        DebateSetup(
            "A plan to move our customer database to another data centre over one weekend.",
            SideSetup("red-team-planner", "Planner"),
            SideSetup("red-team-attacker", "Attacker"),
            6,
            template="red-team",
        ),
    ),
    DebateTemplate(
        "negotiation",
        "Negotiation",
        "A deal ends it",
        "swap",
        DebateSetup(
            "A bicycle shop wants 40 repair kits by May; the maker sells them at 31 euros and has 25 in stock.",
            SideSetup("negotiator-a", "Shop", end_session_tool="agree", max_rounds=4),
            SideSetup("negotiator-b", "Maker", end_session_tool="agree", max_rounds=4),
            12,
            template="negotiation",
        ),
    ),
    DebateTemplate(
        "author-critic",
        "Author and critic",
        "Draft, notes, draft",
        "write",
        DebateSetup(
            "A notice of 80 words for the door of a library that closes for two weeks of repairs.",
            SideSetup("author", "Author"),
            SideSetup("critic", "Critic", end_session_tool="accept", max_rounds=4),
            8,
            template="author-critic",
        ),
    ),
    DebateTemplate(
        "worker-reviewer",
        "Work and review",
        "One does, one checks",
        "terminal",
        DebateSetup(
            "Write a file notes.md in the workspace with a table of the files that are there and their sizes.",
            SideSetup("worker", "Worker", max_rounds=20),
            SideSetup("reviewer", "Reviewer", end_session_tool="accept", max_rounds=12),
            8,
            template="worker-reviewer",
        ),
    ),
)
