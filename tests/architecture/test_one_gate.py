"""One gate: nothing in the app runs a tool but the pipeline's last step, and nothing but its gates judges one."""

import ast
from pathlib import Path

import pytest

from tests.architecture.rules import Source, last_name, sources

ROOT = Path(__file__).resolve().parents[2]
SQL = ("desktop/store/", "desktop/app/commands/check.py")
"""Where ``execute`` is a statement of SQL."""


def callers(files: list[Source], method: str) -> set[str]:
    """The files that call a method of this name on something other than themselves or their base."""
    found = set()
    for file in files:
        for call in file.find(ast.Call):
            assert isinstance(call, ast.Call)
            named = isinstance(call.func, ast.Attribute) and call.func.attr == method
            if named and last_name(call.func.value) not in ("self", "super"):
                found.add(file.name)
    return found


def calling(files: list[Source], function: str) -> set[str]:
    """The files that call a function of this name."""
    calls = ((file, call) for file in files for call in file.find(ast.Call) if isinstance(call, ast.Call))
    return {file.name for file, call in calls if isinstance(call.func, ast.Name) and call.func.id == function}


@pytest.mark.spec("R-INV-1", "R-INV-2")
def test_a_tool_is_run_in_one_place_and_judged_by_the_gates_alone() -> None:
    ours = [file for file in sources(ROOT, "desktop") if not file.name.startswith(SQL)]
    assert callers(ours, "execute") == {"desktop/pipeline/execute.py"}
    assert callers(ours, "precheck") == {"desktop/pipeline/gates.py"}
    judging = {"desktop/pipeline/gates.py", "desktop/pipeline/rehearsing.py"}
    assert callers(ours, "execute") | judging == calling(ours, "prechecked")
    assert callers(ours, "rehearse") == {"desktop/pipeline/rehearsing.py"}


@pytest.mark.spec("R-INV-1")
def test_library_skills_reach_tools_through_their_context_only() -> None:
    library = sources(ROOT, "skills")
    assert len(library) > 10
    assert callers(library, "execute") == callers(library, "precheck") == set()


@pytest.mark.spec("R-INV-1")
def test_the_pipeline_is_made_once() -> None:
    """A second one could have other gates. ``app`` wires the one there is."""
    made = {
        file.name
        for file in sources(ROOT, "desktop")
        for call in file.find(ast.Call)
        if isinstance(call, ast.Call) and last_name(call.func) == "Pipeline"
    }
    assert made == {"desktop/app/wiring/runtime.py"}
