#!/usr/bin/env python3
"""Everything a developer needs in one command: run, test, bench, shots, check, package. Standard library only.

Makes `.venv` from the hashed lock files, names the system libraries that Qt misses and installs them where it may,
then starts. The work is in packaging/devlib.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 -- before the imports below, which an older Python cannot even read
    sys.exit(
        f"assent: Assent needs Python 3.11 or newer and this is Python {sys.version_info[0]}.{sys.version_info[1]}.\n"
        "  next: Install a newer Python and run this with it, for example `python3.11 packaging/dev.py run`."
    )

from devlib.benching import run_benches
from devlib.ending import until_told
from devlib.environment import ROOT, clean_environment, ensure_environment, run_module
from devlib.licences.command import check_licences, write_licences
from devlib.mutating import run_mutants
from devlib.packing import make_packages
from devlib.picturing import save_pictures
from devlib.system import ensure_system
from devlib.testing import run_changed, run_chosen, run_stages
from devlib.trying import run_trials
from devlib.words import Stop, fail


def main(arguments: list[str]) -> int:
    """Runs the command; options that dev.py does not know go on to the app or to pytest."""
    options, rest = _parser().parse_known_args(arguments)
    options.rest = [argument for argument in rest if argument != "--"]
    try:
        _refuse_leftovers(options)
        return until_told(lambda: int(options.command(options)))
    except Stop as stop:
        fail(stop)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py", description=str(__doc__).splitlines()[0], allow_abbrev=False)
    parser.add_argument("--yes", action="store_true", help="install missing system packages through sudo")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _command(commands, "run", run, "start the app; further arguments go to it")
    tests = _command(commands, "test", test, "run every test; further arguments go to pytest instead")
    tests.add_argument(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="COMMIT",
        help="only tests that what differs from COMMIT (HEAD) can touch at first hand",
    )
    bench = _command(commands, "bench", bench_command, "measure what docs promise; reports and never fails")
    bench.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to FILE")
    bench.add_argument("names", nargs="*", metavar="NAME", help="a bench, the start of its name, or a pattern")
    mutate = _command(commands, "mutate", mutate_command, "put faults into rooms and say which ones no test notices")
    mutate.add_argument("places", nargs="+", metavar="PATH", help="a file or folder below desktop")
    mutate.add_argument("--seed", type=int, default=0, help="another seed draws other faults")
    mutate.add_argument("--count", type=int, default=60, help="how many faults for each path")
    mutate.add_argument("--json", type=Path, metavar="FILE", help="also write a line to FILE for each fault")
    shots = _command(commands, "shots", shots_command, "save every page, light and dark, as pictures")
    shots.add_argument("folder", type=Path, metavar="DIR")
    shots.add_argument("names", nargs="*", metavar="NAME", help="only pictures with this in their name")
    licences = _command(commands, "licences", licences_command, "write the list of licences of all that is handed out")
    licences.add_argument("--check", action="store_true", help="write nothing; say what is unknown, missing or refused")
    licences.add_argument("--qt-source", type=Path, action="append", default=[], metavar="DIR", help="read Qt's parts")
    trial = _command(commands, "try", try_command, "use packages in bare Debian trees, as a stranger would; as root")
    trial.add_argument("folder", type=Path, metavar="DIR", help="the packages")
    trial.add_argument("--store", type=Path, metavar="DIR", default=Path("/var/tmp/assent-trials"), help="of the trees")
    wheels = _command(commands, "wheels", wheels_command, "which wheels of the lock there are for Windows and macOS")
    wheels.add_argument("pythons", nargs="*", metavar="PYTHON", help="as 3.12; without, each that is supported")
    wheels.add_argument("--imports", action="store_true", help="lay them down and look for all that we import")
    wheels.add_argument("--target", default="", metavar="NAME", help="one of them, as win_amd64")
    _command(commands, "rights", rights, "write what this version may do, worked out from the code")
    publishing = _command(
        commands, "publish", publish, "sign packages, and make or renew what updates are looked for in"
    )
    publishing.add_argument("folder", type=Path, metavar="REPOSITORY")
    publishing.add_argument("--keys", type=Path, required=True, metavar="DIR", help="where the keys are, outside of it")
    publishing.add_argument("--packages", type=Path, metavar="DIR", help="packages to add; without, times are renewed")
    publishing.add_argument("--new-keys", action="store_true", help="make the keys first")
    publishing.add_argument("--for-builds", type=Path, metavar="DIR", help="write what `package --updates` takes")
    publishing.add_argument("--address", default="", metavar="URL", help="where the repository is served, for builds")
    _command(commands, "check", check, "style, types, import rules and all house rules")
    words = "make wheel, sdist, folder and packages; `package --help` says how"
    packages = commands.add_parser("package", help=words, add_help=False, allow_abbrev=False)
    packages.set_defaults(command=package)
    _command(commands, "setup", setup, "make the environment and start nothing")
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, function: object, help_text: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=help_text, description=help_text, allow_abbrev=False)
    parser.set_defaults(command=function)
    parser.add_argument("--yes", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return parser


def _refuse_leftovers(options: argparse.Namespace) -> None:
    if options.rest and options.command not in (run, test, try_command, package):
        raise Stop(f"Unknown arguments: {' '.join(options.rest)}.", "See `python3 packaging/dev.py --help`.")


def run(options: argparse.Namespace) -> int:
    """Starts the app and passes its exit code on."""
    quiet = {"--version", "--check", "--help", "-h"} & set(options.rest) or options.rest[:1] in (["run"], ["send"])
    if sys.platform.startswith("linux") and not quiet and not _has_screen():
        raise Stop(
            "There is no screen here: neither DISPLAY nor WAYLAND_DISPLAY is set.",
            "Run this in a desktop session, or try it with `xvfb-run python3 packaging/dev.py run`.",
        )
    ensure_system(for_tests=False, may_use_sudo=options.yes)
    interpreter = ensure_environment(dev=False, may_use_sudo=options.yes)
    command = [str(interpreter), "-m", "desktop", *options.rest]
    environment = {**clean_environment(), "PYTHONPATH": str(ROOT)}
    if os.name == "posix":
        os.execve(command[0], command, environment)
    return subprocess.call(command, env=environment)


def _has_screen() -> bool:
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def test(options: argparse.Namespace) -> int:
    """Runs the whole suite, or what the person chose."""
    setup(options)
    if options.changed:
        return run_changed(options.changed)
    return run_chosen(options.rest) if options.rest else run_stages()


def bench_command(options: argparse.Namespace) -> int:
    """Runs the benches in a process each."""
    setup(options)
    return run_benches(options.names, options.json)


def mutate_command(options: argparse.Namespace) -> int:
    """Measures what the tests notice; it reports and never fails."""
    setup(options)
    return run_mutants(options.places, seed=options.seed, count=options.count, json_file=options.json)


def shots_command(options: argparse.Namespace) -> int:
    """Draws the pages without a screen and says where the pictures are."""
    setup(options)
    return save_pictures(options.folder.resolve(), options.names)


def try_command(options: argparse.Namespace) -> int:
    """Installs, starts, upgrades and removes packages as a stranger would, and says how it went."""
    setup(options)
    return run_trials(options.folder.resolve(), options.store.resolve(), options.rest)


def wheels_command(options: argparse.Namespace) -> int:
    """Asks the package index; 1 where the lock lacks the hash of a wheel that would be taken."""
    setup(options)
    more = [*(["--imports"] if options.imports else []), *(["--target", options.target] if options.target else [])]
    return run_module("wheels", *options.pythons, *more)


def rights(options: argparse.Namespace) -> int:
    """Writes resources/rights.json."""
    setup(options)
    return run_module("rights")


def publish(options: argparse.Namespace) -> int:
    """Signs packages for updates."""
    setup(options)
    more = ["--packages", str(options.packages.resolve())] if options.packages else []
    more += ["--new-keys"] if options.new_keys else []
    if options.for_builds:
        more += ["--for-builds", str(options.for_builds.resolve()), "--address", options.address]
    return run_module("publishing", str(options.folder.resolve()), "--keys", str(options.keys.resolve()), *more)


def check(options: argparse.Namespace) -> int:
    """Style, complexity, types, imports: tests/architecture holds them all."""
    setup(options)
    return run_chosen(["-q", "tests/architecture"])


def licences_command(options: argparse.Namespace) -> int:
    """Looks into every wheel of the lock and writes resources/licences, or says why not."""
    setup(options)
    return check_licences() if options.check else write_licences(options.qt_source)


def package(options: argparse.Namespace) -> int:
    """Makes packages, in an environment of its own."""
    return make_packages(options.rest)


def setup(options: argparse.Namespace) -> int:
    """Makes the environment for running and testing, and starts nothing."""
    ensure_system(for_tests=True, may_use_sudo=options.yes)
    ensure_environment(dev=True, may_use_sudo=options.yes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
