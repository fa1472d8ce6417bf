"""The power goes while a version is installed: every process of the machine ends at once, in the middle of a file.

What is on the disk by then stays. The next start of the machine, and the package manager's own words, put it right.
"""

import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trials.course import FIRST_START_S, Bench, Trial, contents, first_answer
from trials.trees import HOME, TrialFailed

MOMENTS = (0.2, 0.5, 0.8)
"""Parts of the time that an installation takes when nobody disturbs it."""
TRIES = 5
ANSWER = "script that plays a model"
HASHES = (
    "import base64, hashlib, importlib.metadata as m\n"
    "for file in m.distribution('assent').files:\n"
    "    if file.hash:\n"
    "        made = base64.urlsafe_b64encode(hashlib.new(file.hash.mode, file.read_binary()).digest())\n"
    "        assert made.decode().rstrip('=') == file.hash.value, file\n"
)
"""Every file of the distribution is what its list says, by pip's own record."""
PIP = f'{HOME}/assent/bin/python -I -c "{HASHES}" && {HOME}/assent/bin/pip check'


@dataclass(frozen=True)
class Repair:
    """``again``: what a person types after it, "": the same once more. ``whole``: whether every file is there."""

    whole: str
    again: str = ""


DPKG = "apt-get install -y -q --allow-downgrades --reinstall FILE"
REPAIRS = {
    "wheel": Repair(PIP),
    "deb": Repair("! dpkg --verify assent | grep .", f"{DPKG} || {{ dpkg --configure -a; {DPKG}; }}"),
    "rpm": Repair(
        "rpm --verify --nodeps assent && [ $(rpm --query assent | wc -l) = 1 ]",
        "rpm --upgrade --oldpackage --replacepkgs --nodeps FILE",
    ),
    "folder": Repair("tar --compare -f FILE -C ~"),
    "appimage": Repair("cmp FILE ~/Applications/Assent.AppImage"),
}


def power_cut(bench: Bench) -> Mapping[str, Any]:
    """A newer version over an older one, cut off midway, installed again: it is whole, and the chats are there."""
    installed = bench.installed
    repair = REPAIRS.get(installed.kind.name)
    if repair is None or not bench.older:
        return {"power cut": "not tried"}
    if not bench.home.exists():
        first_answer(bench)
    before = contents(bench.home)
    installed.replace(bench.older)
    begun = time.monotonic()
    installed.replace(installed.file)
    whole_s = time.monotonic() - begun
    said = []
    for moment in MOMENTS:
        left = _cut_at(bench, moment * whole_s)
        words = _run(bench, repair.again or installed.kind.replace or installed.kind.install)
        _run(bench, repair.whole)
        said.append(f"{left}; {_important(words)}")
    if contents(bench.home) != before:
        raise TrialFailed("the home is not what it was")
    with bench.app("after-the-cuts") as app:
        app.painted(FIRST_START_S)
        app.read(ANSWER)
        bench.ended(app)
    return {"undisturbed s": round(whole_s, 1), "repaired": said}


def _cut_at(bench: Bench, seconds: float) -> str:
    """Installs the older one, then the newer, and ends everything in the tree in the middle of it; how the program
    answers in that state. Where a machine that is less busy by now was faster, it is cut off earlier."""
    installed = bench.installed
    script = installed.filled(installed.kind.replace or installed.kind.install)
    command = installed.tree.command(["sh", "-ec", script], root=installed.kind.as_root, **installed.kind.values)
    log = bench.out / f"{installed.kind.name}-cut.log"
    for _ in range(TRIES):
        installed.replace(bench.older)
        with log.open("wb") as file:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
        if code == -signal.SIGKILL:
            done = installed.tree.tried([*installed.command, "--version"], **installed.kind.values)
            return f"cut at {seconds:.1f} s it says {done.stdout.strip().splitlines()[-1:]} ({done.returncode})"
        seconds *= 0.6
    raise TrialFailed(f"it was over before it was cut ({code}): {log.read_text(errors='replace')[-500:]}")


def _run(bench: Bench, script: str) -> str:
    installed = bench.installed
    words = ["sh", "-ec", installed.filled(script)]
    return installed.tree.run(words, root=installed.kind.as_root, **installed.kind.values)


def _important(words: str) -> list[str]:
    """What the package manager says about the state it found."""
    marks = ("dpkg was interrupted", "warning", "error", "re-install", "reinst", "E:", "W:")
    return [line.strip()[:160] for line in words.splitlines() if any(mark in line for mark in marks)][:4]


POWER: list[Trial] = [power_cut]
