"""The command of an agent's terminal, as the line that a person is shown and bash runs."""

import subprocess
from pathlib import Path

import pytest

from desktop.agents.acp.calls import Refusal, command_line


@pytest.mark.spec("R-ACP-2")
@pytest.mark.parametrize("env", [[], [{"name": "WORD", "value": "it's"}]])
def test_a_command_whose_folder_is_not_there_is_not_run_in_another_one(tmp_path: Path, env: list[object]) -> None:
    asked = {"command": "touch one; touch two", "env": env, "cwd": str(tmp_path / "a folder")}
    line = command_line(asked, str(tmp_path))
    assert subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, check=False).returncode != 0
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a folder").mkdir()
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True)
    assert sorted(path.name for path in (tmp_path / "a folder").iterdir()) == ["one", "two"]


@pytest.mark.spec("R-ACP-2")
@pytest.mark.parametrize("cwd", ["-", "sub", "../up", 7, ["/"]])
def test_a_folder_that_depends_on_where_one_is_is_refused(cwd: object) -> None:
    with pytest.raises(Refusal, match="absolute path"):
        command_line({"command": "ls", "cwd": cwd}, "/work")
