"""What the README shows works."""

import re
from pathlib import Path

from desktop.skills.formats import load_from_bytes

README = Path(__file__).resolve().parents[3] / "README.md"


def test_the_skills_that_the_readme_shows_load_without_a_problem() -> None:
    blocks = re.findall(r"```(markdown|python)\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    paths = ["/x/release-notes/SKILL.md", "/x/word-count.skill.py", "/x/agent-careful.skill.py"]
    assert [kind for kind, _ in blocks] == ["markdown", "python", "python"]
    for (_, text), path in zip(blocks, paths, strict=True):
        loaded = load_from_bytes(text.encode(), path, source="mine", root="/x")
        assert [definition.name for definition in loaded.definitions] == [path.split("/")[2].split(".")[0]]
        assert not loaded.problems
