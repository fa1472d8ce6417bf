"""Two versions on one machine: each with a home of its own, at the same time; then both with the same one."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from trials.course import FIRST_START_S, START_S, Bench, Trial, contents
from trials.desktop import running_desktop
from trials.kinds import Installed
from trials.odd import in_words, on, second_start
from trials.trees import HOME, TrialFailed
from trials.versions import ANSWER, chat_or_refusal

OTHER_HOME = f"{HOME}/other-home"
ELSEWHERE = {
    "wheel": ("python3 -m venv ~/other && ~/other/bin/pip install --quiet FILE", f"{HOME}/other/bin/assent"),
    "folder": ("mkdir ~/other && tar -xf FILE -C ~/other", f"{HOME}/other/assent/assent"),
    "appimage": ("mkdir ~/other && cp FILE ~/other/old && chmod +x ~/other/old", f"{HOME}/other/old"),
}
"""How the older version is put into another place; a package manager has one version only."""


def side_by_side(bench: Bench) -> Mapping[str, Any]:
    """The older beside the newer one: with two homes both work; with one home the second start says who has it, and
    each opens what the other left, or says that it cannot."""
    if bench.installed.kind.name not in ELSEWHERE or not bench.older:
        return {"side by side": "not tried"}
    older = _elsewhere(bench)
    shutil.rmtree(bench.home, ignore_errors=True)
    with running_desktop() as screen:
        _two_homes(bench, on(older, screen))
    kept = contents(bench.home)
    with older.app("shared-older") as first:  # the newer one has used this home
        first.painted(FIRST_START_S)
        back = chat_or_refusal(first)
        if back != ANSWER:
            first.click("Quit", "push button")
            first.process.wait(START_S)
            if contents(bench.home) != kept:
                raise TrialFailed("the older version refused the home and changed it")
            return {"two homes": True, "one home": back}
        done = second_start(bench, first)
        said = in_words(done.stdout, done.returncode)
        bench.ended(first)
    with bench.app("shared-newer") as second:
        second.painted(FIRST_START_S)
        second.read(ANSWER)
        bench.ended(second)
    return {"two homes": True, "one home": said}


def _two_homes(bench: Bench, older: Bench) -> None:
    """Each answers while the other one runs, and each ends by itself."""
    with bench.app("beside-newer") as new, older.app("beside-older", "--home", OTHER_HOME) as old:
        for app in (new, old):
            app.painted(FIRST_START_S)
            app.click("Start the demo", "push button")
        for app in (new, old):
            app.read(ANSWER)
            app.insist("Allow once", "push button")
            app.find("Send", "push button")
        older.ended(old)
        bench.ended(new)
    written = bench.installed.tree.home / Path(OTHER_HOME).name / "data" / "assent.db"
    if not written.exists() or not (bench.home / "data" / "assent.db").exists():
        raise TrialFailed("there are not two homes")


def _elsewhere(bench: Bench) -> Bench:
    install, program = ELSEWHERE[bench.installed.kind.name]
    kind = replace(bench.installed.kind, start=(program,), install=install)
    older = Installed(kind, bench.installed.tree, bench.older, {})
    older.script(install)
    return replace(bench, installed=older)


BESIDE: list[Trial] = [side_by_side]
