"""What servers say of themselves is bounded before a model is told."""

from desktop.domain.approval.judgement import Category
from desktop.domain.tools import ToolSpec
from desktop.services.turns.prompts import system_text
from desktop.tools.mcp.offered import MAX_INSTRUCTIONS, instructions_of


def test_long_instructions_are_cut_and_many_are_left_out() -> None:
    one = instructions_of("chatty", "word " * 3_000, lambda text: text)
    assert one is not None
    assert one.text.endswith("[cut: the server said 14,999 characters]")
    assert len(one.text) < MAX_INSTRUCTIONS + 60
    assert instructions_of("silent", " \n\u202e", lambda text: text) is None

    class Guided:
        def __init__(self, name: str) -> None:
            self.spec = ToolSpec(f"{name}-echo", "", {}, Category.READ)
            self.guidance = (name, "x" * 4_000)

    text = system_text("Do it.", [Guided(f"s{number}") for number in range(5)], None, {})  # type: ignore[misc]
    assert text.count("x" * 4_000) == 3
    assert text.count("its instructions are left out") == 2
