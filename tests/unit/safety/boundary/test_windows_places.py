"""Places whose files run by themselves later, as paths are written on Windows: judged the same on every system."""

import pytest

from desktop.safety.boundary.autorun_places import runs_later

WORKSPACE, HOME = "C:\\Users\\ada\\work", "C:\\Users\\ada"


def why(path: str, workspace: str = WORKSPACE) -> str:
    return runs_later(path, workspace, HOME, windows=True)


@pytest.mark.spec("R-TOOL-4", "R-BLK-8")
@pytest.mark.parametrize(
    "path",
    [
        f"{WORKSPACE}\\.git\\hooks\\pre-commit",
        f"{WORKSPACE}\\.git\\config",
        f"{WORKSPACE}\\sub/.git\\config",
        f"{WORKSPACE}\\.GIT\\Config",
        f"{WORKSPACE}\\.vscode\\tasks.json",
        f"{WORKSPACE}\\.envrc",
        f"{WORKSPACE}\\desktop.ini",
        f"{WORKSPACE}\\AUTORUN.INF",
        f"{WORKSPACE}\\lib\\site-packages\\evil.pth",
        f"{WORKSPACE}\\sitecustomize.py",
        f"{HOME}\\bin\\tool.exe",
        f"{HOME}\\.local\\bin\\tool.exe",
        f"{HOME}\\.gitconfig",
        f"{HOME}\\AppData\\Roaming\\Microsoft\\Windows\\Start Menu\\Programs\\Startup\\x.lnk",
        "C:\\ProgramData\\Microsoft\\Windows\\Start Menu\\Programs\\StartUp\\x.cmd",
        f"{HOME}\\Documents\\PowerShell\\Microsoft.PowerShell_profile.ps1",
        f"{HOME}\\Documents\\WindowsPowerShell\\profile.ps1",
        f"{HOME}\\AppData\\Roaming\\Microsoft\\AddIns\\x.xlam",
        f"{HOME}\\AppData\\Roaming\\Microsoft\\Excel\\XLSTART\\x.xlsb",
        f"{HOME}\\AppData\\Roaming\\Microsoft\\Word\\STARTUP\\x.dotm",
        f"{HOME}\\AppData\\Local\\Microsoft\\Windows Terminal\\settings.json",
        "C:\\Windows\\System32\\Tasks\\mine",
        "C:\\Windows\\System32\\GroupPolicy\\gpt.ini",
        f"{HOME}\\.agents\\skills\\x\\SKILL.md",
    ],
)
def test_a_file_that_runs_later_is_known_with_the_other_slash(path: str) -> None:
    assert why(path)
    assert why(path.replace("\\", "/")) == why(path), "the same path, written the other way"


@pytest.mark.spec("R-TOOL-4")
@pytest.mark.parametrize(
    "path",
    [
        f"{WORKSPACE}\\notes.txt",
        f"{WORKSPACE}\\src\\main.py",
        f"{WORKSPACE}\\startup.md",
        f"{WORKSPACE}\\user\\list.txt",
        f"{WORKSPACE}\\a.git\\x",
        f"{HOME}\\Documents\\letter.docx",
    ],
)
def test_usual_files_do_not(path: str) -> None:
    assert why(path) == ""


def test_what_lies_above_the_workspace_was_put_there_by_the_person() -> None:
    """A project below a folder of such a name is no reason by itself; what is in it may be."""
    inside = f"{HOME}\\.vscode\\extensions\\mine"
    assert why(f"{inside}\\notes.txt", inside) == ""
    assert why(f"{inside}\\.vscode\\tasks.json", inside)


def test_elsewhere_a_backslash_is_a_letter_of_a_name() -> None:
    assert runs_later("/w/a\\.git\\config", "/w", "/home/ada", windows=False) == ""
    assert runs_later("/w/a/.git/config", "/w", "/home/ada", windows=False)
