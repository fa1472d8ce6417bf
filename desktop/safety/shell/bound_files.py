"""What an approved command would run, or take its orders from: files that must still be as they were when it was shown.

Where such a file is not among the words (a makefile, ``package.json``, a module), its usual places are held, also while
nothing is there. What cannot be held is said plainly in the request (R-PRM-5).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence

from desktop.safety.shell.paths import PathReader, harmless_target
from desktop.safety.shell.programs.interpreters import RUNS_A_FILE, SHELLS, run_by
from desktop.safety.shell.programs.options import module_of
from desktop.safety.shell.programs.wrappers import Unwrapped
from desktop.safety.shell.syntax.commands import SimpleCommand
from desktop.safety.shell.syntax.getopt import SHORT_OPTIONS, ShortOptions
from desktop.safety.shell.syntax.words import Word, base_name
from desktop.safety.shell.targets import JudgedCommand

_TESTS = frozenset(("pytest", "py.test"))
_UNPACKERS = frozenset("tar bsdtar unzip cpio patch 7z 7za ar jar unrar".split())
_NODE = "package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml"
_RUST = "Cargo.toml build.rs .cargo/config.toml .cargo/config rust-toolchain.toml"
_JAVA = "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties init.gradle"
_PROJECT: dict[str, str] = {
    **dict.fromkeys(("make", "gmake"), "GNUmakefile makefile Makefile"),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun", "pnpx", "bunx"), _NODE),
    **dict.fromkeys(_TESTS, "conftest.py pytest.ini .pytest.ini pyproject.toml tox.ini setup.cfg"),
    **dict.fromkeys(("tox", "nox", "hatch", "pdm", "poetry", "uv"), "tox.ini noxfile.py pyproject.toml setup.py"),
    **dict.fromkeys(("pip", "pip3"), "setup.py pyproject.toml setup.cfg"),
    "just": "justfile Justfile .justfile",
    "task": "Taskfile.yml Taskfile.yaml",
    "rake": "Rakefile rakefile",
    "bundle": "Gemfile",
    "invoke": "tasks.py",
    "fab": "fabfile.py",
    "scons": "SConstruct",
    "snakemake": "Snakefile workflow/Snakefile",
    "waf": "wscript",
    "cargo": _RUST,
    "go": "go.mod go.work",
    "cmake": "CMakeLists.txt CMakePresets.json",
    "ninja": "build.ninja",
    "meson": "meson.build",
    **dict.fromkeys(("gradle", "gradlew"), _JAVA),
    **dict.fromkeys(("mvn", "mvnw"), "pom.xml"),
    "ant": "build.xml",
    "composer": "composer.json",
    "mix": "mix.exs",
    "terraform": "main.tf",
    "docker": "Dockerfile docker-compose.yml compose.yaml compose.yml",
    "vagrant": "Vagrantfile",
    **dict.fromkeys(("grunt", "gulp"), "Gruntfile.js gulpfile.js"),
    "pre-commit": ".pre-commit-config.yaml",
    **dict.fromkeys(
        ("jest", "vitest", "mocha", "eslint", "webpack", "vite", "rollup", "prettier", "tsc"),
        (
            "package.json jest.config.js vitest.config.ts .mocharc.js eslint.config.js .eslintrc.js webpack.config.js "
            "vite.config.ts vite.config.js rollup.config.js .prettierrc.js tsconfig.json"
        ),
    ),
    "node": "package.json",
    "deno": "deno.json deno.jsonc",
    "mypy": "mypy.ini pyproject.toml setup.cfg",
    "pylint": ".pylintrc pylintrc pyproject.toml",
    "sphinx-build": "conf.py docs/conf.py",
    "direnv": ".envrc",
    "ansible-playbook": "ansible.cfg",
    "gdb": ".gdbinit",
    "vim": ".exrc",
    "lefthook": "lefthook.yml",
}
_UNSEEN = {
    **dict.fromkeys(("make", "gmake"), "what its makefile includes and runs"),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun"), "what its scripts start"),
    **dict.fromkeys(_TESTS, "what the tests load, and tests in folders"),
}
_INTERPRETERS = RUNS_A_FILE - {"source", ".", "make"}
_PLAIN_SOURCES = frozenset(("cat", "echo", "printf", "head", "tail", "tac"))


class Binder:
    """Holds the files of one command's parts. ``note`` makes it admin and says why."""

    def __init__(self, paths: PathReader, note: Callable[[JudgedCommand, str], None]) -> None:
        self._paths = paths
        self._note = note
        self._search: list[str] = []
        self._unknown_search = False

    def look_in(self, path: Word | None) -> None:
        """Note a ``PATH=...``: programs may be found there from now on; ``path`` None: nobody knows where."""
        if path is None:
            self._unknown_search = True
            return
        for entry in path.known.partition("=")[2].split(":"):
            if entry in ("$PATH", "${PATH}"):
                continue
            if "$" in entry or "`" in entry:
                self._unknown_search = True
            elif len(self._search) < 8:
                self._search.append(entry or ".")

    def bind(self, unwrapped: Unwrapped, judged: JudgedCommand) -> None:
        """Everything that this command runs and is told by."""
        inner = unwrapped.innermost
        layers = [*unwrapped.layers, *unwrapped.executed_layers]
        for words in layers:
            judged.bound += self._programs(words, judged)
        name = base_name(inner[0].text) if inner else ""
        told = judged.opaque or name in _UNPACKERS
        given = self._given(inner[0], judged.command.words[1:]) if told and inner else []
        for words in layers:
            self._run(words, judged, given)
        if judged.opaque:
            judged.bound += judged.touches
        if inner and told:
            judged.bound += given
            for redirect in judged.command.redirects:
                if not redirect.feeds_text and not redirect.writes:
                    judged.bound += self._real(self._paths.resolve(redirect.target))
            self._source(judged.command.piped_from, judged, inner, unwrapped)
        self._found_files(unwrapped, judged)

    def _run(self, words: Sequence[Word], judged: JudgedCommand, given: list[str]) -> None:
        if not words:
            return
        name = base_name(words[0].text)
        scripts = [path for word in run_by(tuple(words)) for path in self._real(self._paths.resolve(word))]
        judged.bound += scripts
        for path in scripts:
            if name in ("python", "python3", "node") and os.path.isdir(path):
                judged.bound += [os.path.join(path, part) for part in ("__main__.py", "index.js", "package.json")]
        module = module_of(name.rstrip("0123456789.-"), words[1:])
        if module is not None:
            judged.bound += [path for text in _module_files(module[0].text) for path in self._at(text)]
            self._run((module[0], *module[1]), judged, given)
            return
        if usual := _PROJECT.get(name, "").split():
            judged.bound += [path for text in usual for path in self._at(text)]
            folders = {path for path in given if self._is_folder(path)}
            judged.bound += [os.path.join(folder, text) for folder in sorted(folders) for text in usual]
        if name in _TESTS:
            judged.bound += self._tests(words[1:])
        if unseen := _UNSEEN.get(name) or (
            f"what {base_name(scripts[0])} loads" if scripts and name in _INTERPRETERS else ""
        ):
            _say(judged, f"{unseen} may change unseen until it runs")

    def _tests(self, words: Sequence[Word]) -> Iterator[str]:
        """The files, and conftest.py in every folder on the way to each."""
        seen, top = set[str](), len(self._paths.lists.workspace)
        for word in words:
            if word.text[:1] == "-":
                continue
            plain = word if "::" not in word.text else Word(word.text.partition("::")[0], word.known.partition("::")[0])
            for path in self._paths.resolve(plain):
                yield path
                folder = path if not path.endswith(".py") else path.rpartition("/")[0]
                while len(folder) > top and folder not in seen:
                    seen.add(folder)
                    yield f"{folder}/conftest.py"
                    folder = folder.rpartition("/")[0]

    def _programs(self, words: Sequence[Word], judged: JudgedCommand) -> Iterator[str]:
        """Where a bare name may lead since PATH was set."""
        if not words or "/" in words[0].text:
            return
        if self._unknown_search:
            self._note(judged, "which program a name means is not known, and not compared when it runs")
        for entry in self._search:
            yield from self._at(f"{entry}/{words[0].text}")

    def _given(self, program: Word, words: Sequence[Word]) -> list[str]:
        """The files among the words that are there now."""
        short_options = SHORT_OPTIONS.get(base_name(program.text))
        status, found = self._paths.disk.status, []
        for word in words:
            given = self._paths.leads(word)
            if word.text[:1] == "-":
                given = [path for one in (word, *_glued(word.text, short_options)) for path in self._paths.leads(one)]
            found += [path for path in given if status(path) is not None and not harmless_target(path)]
        return found

    def _source(
        self, source: SimpleCommand | None, judged: JudgedCommand, inner: Sequence[Word], unwrapped: Unwrapped
    ) -> None:
        """What comes in through a pipe: the files that it is made of, as far as they are named."""
        for _ in range(8):
            if source is None:
                return
            name = base_name(source.words[0].text) if source.words else ""
            judged.bound += self._given(source.words[0], source.words[1:]) if source.words else []
            for redirect in source.redirects:
                if not redirect.feeds_text and not redirect.writes:
                    judged.bound += self._real(self._paths.resolve(redirect.target))
            runs = unwrapped.reads_stdin_as_code or base_name(inner[0].text) in _INTERPRETERS
            if name not in _PLAIN_SOURCES and runs:
                self._note(judged, f"what {name or 'another command'} gives it is not compared when it runs")
            source = source.piped_from

    def _found_files(self, unwrapped: Unwrapped, judged: JudgedCommand) -> None:
        """Programs that find, xargs and others find by themselves."""
        names = [base_name(layer[0].text) for layer in unwrapped.layers]
        fed = bool({"xargs", "parallel"} & set(names[:-1])) and names[-1] in _INTERPRETERS - SHELLS
        for words in (*unwrapped.executed_layers, *unwrapped.layers[1:]):
            run = [words[0], *words[1:]] if base_name(words[0].text) in _INTERPRETERS else words[:1]
            fed = fed or any("{}" in word.text for word in run)
        fed = fed or any(base_name(words[-1].text) in _INTERPRETERS for words in unwrapped.executed_layers)
        if fed:
            self._note(judged, "which files it runs shows only when it runs, so they are not compared")

    def _is_folder(self, path: str) -> bool:
        status = self._paths.disk.status(path)
        return status is not None and not stat.S_ISREG(status.st_mode) and os.path.isdir(path)

    def _at(self, text: str) -> list[str]:
        """A relative name in every folder that the command may be in."""
        if os.path.isabs(text):
            return self._real([text])
        return self._real(f"{folder}/{text.removeprefix('./')}" for folder in self._paths.folders)

    def _real(self, found: Sequence[str] | Iterator[str]) -> list[str]:
        return [path for path in found if not harmless_target(path)]


def _module_files(module: str) -> list[str]:
    """Where ``-m a.b`` is looked for first."""
    if not re.fullmatch(r"[\w.]+", module):
        return []
    parts = module.split(".")
    whole = "/".join(parts)
    above = ["/".join([*parts[:at], "__init__.py"]) for at in range(1, len(parts) + 1)]
    return [f"{parts[0]}.py", f"{whole}.py", f"{whole}/__main__.py", *above]


def _glued(text: str, short_options: ShortOptions | None) -> list[Word]:
    """The values of single letters that stand in the same word."""
    if text[:1] != "-" or text[1:2] == "-" or len(text) < 3:
        return []
    if short_options is None:
        return [Word(text[2:], text[2:])]
    return [Word(value, value) for _, value, _ in short_options.split(text) if value]


def _say(judged: JudgedCommand, text: str) -> None:
    """Add a sentence to the request, without making the command admin."""
    if text not in judged.notes:
        judged.notes.append(text)
