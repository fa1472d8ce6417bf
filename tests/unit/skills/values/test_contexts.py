"""What skills and middleware ask of their context, and schemas found through it (S-RES-1)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from desktop.domain.errors import ConfigurationError
from desktop.skills.values.contexts import ctx_cwd, ctx_hook_target, ctx_hook_trigger, ctx_paths, ctx_target
from desktop.skills.values.schemas import resolve_json_schema


@dataclass
class Ctx:
    """A context as the pipeline's; ``target`` None means itself."""

    args: dict[str, Any] = field(default_factory=dict)
    run: Any = field(default_factory=lambda: SimpleNamespace(frontmatter={}))
    locals: dict[str, Any] = field(default_factory=dict)
    nonlocals: dict[str, Any] = field(default_factory=dict)
    globals: dict[str, Any] = field(default_factory=dict)
    manager: Any = None
    trigger: str = ""
    wraps: str = ""
    target: Any = None

    @property
    def envelope(self) -> Any:
        return SimpleNamespace(id="id", target=self if self.target is None else self.target, parent=None)


@pytest.mark.spec("R-INV-6")
def test_a_middleware_gets_the_context_it_serves_and_others_an_error() -> None:
    served = Ctx()
    assert ctx_target(Ctx(target=served)) is served
    with pytest.raises(ConfigurationError) as caught:
        ctx_target(served)
    assert caught.value.code == "skill.not_middleware"


def test_paths_and_folder_are_the_calls_own_then_the_process_ones() -> None:
    shared = {"config": {"paths": ["/shared"], "cwd": "/there"}}
    assert ctx_paths(Ctx(locals={"config": {"paths": ["/own"]}}, globals=shared)) == ["/own"]
    assert ctx_paths(Ctx(locals={"config": {"paths": []}}, globals=shared)) == []
    assert ctx_paths(Ctx(locals={"config": {"paths": None}}, globals=shared)) == ["/shared"]
    assert ctx_cwd(Ctx(locals={"config": {"cwd": "/here"}}, globals=shared)) == "/here"
    for locals_ in ({}, {"config": {}}, {"config": 5}, {"config": None}):
        assert ctx_paths(Ctx(locals=dict(locals_), globals=shared)) == ["/shared"]
        assert ctx_cwd(Ctx(locals=dict(locals_), globals=shared)) == "/there"


def test_where_nobody_says_there_are_no_paths_and_the_folder_is_the_process_one() -> None:
    record = SimpleNamespace(paths=("/r",), cwd="")
    assert ctx_paths(Ctx(globals={"config": record})) == ("/r",)
    assert ctx_cwd(Ctx(globals={"config": record})) == os.getcwd()
    assert ctx_paths(Ctx()) == ()
    assert ctx_cwd(Ctx()) == os.getcwd()


@pytest.mark.spec("R-INV-11")
def test_a_hook_knows_its_trigger_and_what_it_wraps() -> None:
    hook = Ctx(trigger="$next", wraps="retry")
    assert (ctx_hook_trigger(hook), ctx_hook_target(hook)) == ("$next", "retry")
    assert (ctx_hook_trigger(Ctx()), ctx_hook_target(Ctx())) == (None, None)


SCHEMA = {"type": "object", "properties": {"x": {}}}


@pytest.mark.parametrize(
    "expr",
    [
        "args.schema",
        "$.args.schema",
        "locals.list[0]",
        "nonlocals['a.b']",
        "run.frontmatter.returns",
        "globals.config.s",
    ],
)
def test_a_schema_is_found_by_its_path_on_the_context(expr: str) -> None:
    ctx = Ctx(
        args={"schema": SCHEMA},
        locals={"list": [SCHEMA]},
        nonlocals={"a.b": SCHEMA},
        run=SimpleNamespace(frontmatter={"returns": SCHEMA}),
        globals={"config": {"s": SCHEMA}},
    )
    assert resolve_json_schema({"$resolve": expr, "type": "string"}, ctx) is SCHEMA


@pytest.mark.parametrize(
    "expr",
    ["args.nothing", "args.none", "args.text", "args.list", "args.", "$[", "", 5, None, "args.__class__", "manager"],
)
def test_otherwise_the_static_schema_stays_as_it_is(expr: Any) -> None:
    static = {"$resolve": expr, "type": "string"}
    ctx = Ctx(args={"none": None, "text": "x", "list": [1]})
    assert resolve_json_schema(static, ctx) is static


def test_a_schema_without_a_path_or_none_at_all_is_unchanged() -> None:
    static = {"type": "string"}
    assert resolve_json_schema(static, Ctx()) is static
    assert resolve_json_schema(None, Ctx()) is None
