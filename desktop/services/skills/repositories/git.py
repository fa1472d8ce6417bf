"""The system's git, asked for the files of one commit. It never checks anything out: files are read as they are stored.

It runs confined: of the disk it sees programs, libraries and what it is to read, and writes in the folder of one
repository. Nothing of the person's configuration counts, and nothing that a repository says about hooks, filters,
attributes, submodules or other protocols is acted on. It asks nobody for a password.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from desktop.domain.errors import AssentError, KnownError, ToolFailure
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Confinement, ProcessRunner, ProcessSpec
from desktop.domain.text.hidden_characters import without_hidden
from desktop.domain.text.words import size_words
from desktop.files.private import make_folder
from desktop.services.skills.repositories.ssh import SshLine
from desktop.skills.importing.limits import StagedFiles
from desktop.skills.repositories.address import Address
from desktop.skills.repositories.offers import Facts
from desktop.skills.repositories.tree import MAX_LISTING, MAX_WANTED, TreeEntry, entries_of, wanted_of
from desktop.systems import current

MAX_PACK = 300_000_000
"""Bytes of one commit as it is sent."""
MAX_TIME_S = 600.0
MAX_MEMORY = 2_000_000_000
_BLOCK = 512
_GIT = "<git>"
"""Where the program and its options go."""
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PROGRESS = re.compile(r"(?:remote: )?([A-Z][a-z]+ing [a-z]+):\s+(\d{1,3})% \((\d+)/(\d+)\)")
_SYSTEM = ("/etc/resolv.conf", "/etc/gai.conf", "/etc/pki", "/etc/ca-certificates", "/etc/passwd", "/etc/group")
_NETWORK = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.askPass=",
    "credential.helper=",
    "protocol.version=2",
    "http.lowSpeedLimit=500",
    "http.lowSpeedTime=40",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "fetch.unpackLimit=1",
    "fetch.writeCommitGraph=false",
    "pack.threads=1",
)
_LIMITED = 'ulimit -f "$0" || exit 125; exec "$@"'
_WRITTEN = 'ulimit -f "$0" || exit 125; out="$1"; shift; exec "$@" >"$out"'
_FED = 'ulimit -f "$0" || exit 125; list="$1"; out="$2"; shift 2; exec "$@" <"$list" >"$out"'

Progress = Callable[[str], None]


class GitFailed(KnownError):
    """A repository could not be had; nothing that was there is lost."""

    code = "skills.repository"


@dataclass(frozen=True, slots=True)
class GitSurroundings:
    """Of the computer: the program, and what ssh needs of the person."""

    git: str | None
    variables: Mapping[str, str]

    @classmethod
    def here(cls) -> GitSurroundings:
        """Of this one. Blocks."""
        return cls(shutil.which("git"), dict(os.environ))


class Git:
    """``surroundings`` is asked each time: git may be installed meanwhile. ``most``: bytes of one commit."""

    def __init__(
        self,
        confinement: Confinement,
        runner: ProcessRunner,
        surroundings: Callable[[], GitSurroundings] = GitSurroundings.here,
        most: int = MAX_PACK,
    ) -> None:
        self._confinement = confinement
        self._runner = runner
        self._look = surroundings
        self._most = most

    async def fetch(
        self, address: Address, folder: Path, token: CancellationToken, said: Progress, commit: str = ""
    ) -> str:
        """Bring the newest commit, or this one, into a bare repository in ``folder``, without its history; the commit.
        Raises GitFailed."""
        bare = folder / "git"
        await asyncio.to_thread(make_folder, folder)
        if not await asyncio.to_thread((bare / "HEAD").exists):
            await self._run(address, folder, ("init", "--quiet", "--bare", "--template=", str(bare)), token)
        wanted = commit or "HEAD"
        words = ("fetch", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--progress")
        where = address.path or address.text
        asked = (*words, "--force", "--update-shallow", "--", where, f"+{wanted}:refs/assent/newest")
        if address.protocol == "ssh":
            await self._over_ssh(address, folder, asked, token, said)
        else:
            await self._run(address, folder, asked, token, said=said)
        found = folder / "commit"
        await self._run(address, folder, ("rev-parse", "refs/assent/newest^{commit}"), token, out=found)
        text = (await asyncio.to_thread(found.read_text, "ascii", "replace")).strip()
        if not _COMMIT.fullmatch(text) or (commit and text != commit):
            raise GitFailed("The repository did not give the commit that was asked for.")
        return text

    async def _over_ssh(
        self, address: Address, folder: Path, asked: tuple[str, ...], token: CancellationToken, said: Progress
    ) -> None:
        around = await asyncio.to_thread(self._look)
        line = await asyncio.to_thread(SshLine, address, folder, around.variables)
        failed: AssentError | None = None
        async with asyncio.TaskGroup() as group:
            line.begin(group)
            try:
                await self._run(address, folder, asked, token, said=said, line=line)
            except AssentError as error:
                failed = error
            finally:
                heard = await line.close()
        if isinstance(failed, GitFailed):
            raise _known_failure(address, heard) or failed
        if failed is not None:
            raise failed

    async def files(self, address: Address, folder: Path, commit: str, into: Path, token: CancellationToken) -> Facts:
        """Write what may be taken of a commit below ``into``, as it is stored. Raises GitFailed or ImportRefused."""
        listing, blobs = folder / "listing", folder / "blobs"
        stop = TokenStop(token)
        try:
            words = ("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
            await self._run(address, folder, words, token, out=listing, limit=MAX_LISTING)
            wanted = await asyncio.to_thread(lambda: wanted_of(entries_of(listing.read_bytes())))
            ids = folder / "ids"
            await asyncio.to_thread(_write_ids, ids, wanted.files)
            total = sum(one.size for one in wanted.files) + 200 * len(wanted.files)
            await self._run(address, folder, ("cat-file", "--batch"), token, fed=ids, out=blobs, limit=total + 1_000)
            await asyncio.to_thread(_unpack, blobs, wanted.files, into, stop)
            return Facts(wanted.wrong, wanted.links, wanted.modules, wanted.more)
        finally:
            for path in (listing, blobs, folder / "ids", folder / "commit"):
                path.unlink(missing_ok=True)

    async def _run(
        self,
        address: Address,
        folder: Path,
        words: tuple[str, ...],
        token: CancellationToken,
        *,
        said: Progress | None = None,
        out: Path | None = None,
        fed: Path | None = None,
        limit: int = 0,
        line: SshLine | None = None,
    ) -> None:
        argv = _limited(words, limit or self._most, out, fed)
        ssh = line.command if line is not None else ""
        wrapped = await asyncio.to_thread(self._spec, address, folder, argv, "fetch" in words, ssh)
        try:
            done = await self._runner.run(wrapped, token, None if said is None else lambda text: _tell(said, text))
        except ToolFailure as error:
            raise GitFailed(f"git cannot be started: {error}") from error
        token.check()
        if done.ended == "timeout":
            raise GitFailed(f"{address.text} took longer than {MAX_TIME_S / 60:.0f} minutes.", next_step="Try again.")
        if done.exit_code != 0:
            if await asyncio.to_thread(_at_limit, folder / "git" / "objects" / "pack", self._most):
                step = "Import the folder of one skill."
                raise GitFailed(f"{address.text} is larger than {size_words(self._most)}.", next_step=step)
            raise _failure(address, done.output, done.exit_code)

    def _spec(self, address: Address, folder: Path, argv: tuple[str, ...], fetches: bool, ssh: str) -> ProcessSpec:
        """The process of one command, confined. Blocks. Raises GitFailed."""
        around = self._look()
        if around.git is None:
            raise GitFailed(
                "git is not installed on this computer, and it is what reads repositories.",
                next_step="Install git, or download the repository as a zip and give that.",
            )
        folder = Path(os.path.realpath(folder))
        git = (around.git, *(part for option in _OPTIONS for part in ("-c", option)))
        at = argv.index(_GIT)
        where = () if argv[at + 1] == "init" else (f"--git-dir={folder / 'git'}",)
        argv = (*argv[:at], *git, *where, *argv[at + 1 :])
        env = _environment(address, folder, around)
        env |= {"GIT_SSH_COMMAND": ssh, "GIT_SSH_VARIANT": "ssh"} if ssh else {}
        spec = ProcessSpec(argv, str(folder), env, MAX_TIME_S, keep="tail", memory_limit=MAX_MEMORY)
        reads = (*_SYSTEM, *_of_program(around.git), *_read_by(address, around))
        _write_configuration(folder)
        network = fetches and address.protocol == "https"
        return self._confinement.wrap_apart(spec, folder=str(folder), readable=reads, network=network)


def _limited(words: tuple[str, ...], limit: int, out: Path | None, fed: Path | None) -> tuple[str, ...]:
    """git with these words, with a limit on the size of each file that it writes, and its input and output."""
    if current.WINDOWS:
        raise GitFailed("Repositories are not read on Windows yet.", next_step="Download it as a zip, and give that.")
    blocks, git = str(limit // _BLOCK + 1), (_GIT, *words)
    if fed is not None:
        return ("/bin/sh", "-c", _FED, blocks, str(fed), str(out), *git)
    if out is not None:
        return ("/bin/sh", "-c", _WRITTEN, blocks, str(out), *git)
    return ("/bin/sh", "-c", _LIMITED, blocks, *git)


def _environment(address: Address, folder: Path, around: GitSurroundings) -> dict[str, str]:
    """All of it: nothing that is not here reaches git."""
    own = str(folder / "configuration")
    env = {
        "PATH": around.variables.get("PATH", os.defpath),
        "HOME": str(folder),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": own,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_ALLOW_PROTOCOL": address.protocol or "none",
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }
    if address.protocol != "https":
        return env
    env |= {name: around.variables[name] for name in _NETWORK if name in around.variables}
    if certificates := around.variables.get("SSL_CERT_FILE"):
        env["GIT_SSL_CAINFO"] = certificates
    return env


def _read_by(address: Address, around: GitSurroundings) -> tuple[str, ...]:
    """What it has to see for this address."""
    if address.here:
        return _objects_of(address.path)
    certificates = around.variables.get("SSL_CERT_FILE", "")
    return (certificates,) if certificates else ()


def _objects_of(path: str) -> tuple[str, ...]:
    """A repository on this computer, and the one that a worktree of it belongs to."""
    found = [os.path.realpath(path)]
    pointer = os.path.join(path, ".git")
    if os.path.isfile(pointer):
        try:
            with open(pointer, encoding="utf-8", errors="replace") as file:
                text = file.read(4_096)
        except OSError:
            text = ""
        _, _, where = text.partition("gitdir:")
        inner = os.path.normpath(os.path.join(path, where.strip())) if where.strip() else ""
        if os.path.basename(os.path.dirname(inner)) == "worktrees":
            found.append(os.path.realpath(os.path.dirname(os.path.dirname(inner))))
    return tuple(found)


def _of_program(git: str) -> tuple[str, ...]:
    """The folder that a git outside of the system's lies in."""
    real = os.path.realpath(git)
    return (os.path.dirname(os.path.dirname(real)),) if not real.startswith(("/usr/", "/bin/")) else ()


def _write_configuration(folder: Path) -> None:
    """All that git has for a configuration: a person gave the folder, whoever it belongs to."""
    path = folder / "configuration"
    if not path.exists():
        path.write_text("[safe]\n\tdirectory = *\n", "ascii")


def _write_ids(path: Path, files: Iterable[TreeEntry]) -> None:
    path.write_text("".join(f"{one.oid}\n" for one in files), "ascii")


class TokenStop:
    """A token as ``StagedFiles`` asks it."""

    def __init__(self, token: CancellationToken) -> None:
        self._token = token

    def is_set(self) -> bool:
        return self._token.cancelled


class _Part:
    """So many bytes of an open file."""

    def __init__(self, file: object, size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int, /) -> bytes:
        data: bytes = self._file.read(min(size, self._left))  # type: ignore[attr-defined]
        self._left -= len(data)
        return data


def _unpack(blobs: Path, files: list[TreeEntry], into: Path, stop: TokenStop) -> None:
    """The output of ``git cat-file --batch``, each blob to its file. Raises GitFailed for one that lacks."""
    staged = StagedFiles(into, stop, MAX_WANTED)
    with open(blobs, "rb") as file:
        for one in files:
            head = file.readline(200).split()
            if len(head) != 3 or head[1] != b"blob" or int(head[2]) != one.size:
                raise GitFailed(f"The repository lacks a part of {one.path[:80]!a}.", next_step="Try again.")
            staged.write(tuple(one.path.split("/")), _Part(file, one.size), runnable=one.mode == "100755")
            file.read(1)


def _tell(said: Progress, text: str) -> None:
    """The last line of progress in a piece of output."""
    found = _PROGRESS.findall(text)
    if found:
        what, percent, _, of = found[-1]
        said(f"{what.lower()}, {percent}% of {int(of):,}")


_WORDS: tuple[tuple[str, str, str], ...] = (
    (
        r"could not resolve|failed to connect|couldn't connect|unreachable|connection refused|timed out|too slow|"
        r"network is down|connection reset|no route to host|could not resolve proxy",
        "{where} cannot be reached.",
        "Look whether this computer is online, and whether the address is right.",
    ),
    (r"ssh cannot be started", "ssh cannot be started on this computer.", "Install it, or give an https address."),
    (
        r"host key verification failed",
        "The host of {where} is not known to ssh on this computer.",
        "Connect to it once with ssh in a terminal, then try again.",
    ),
    (
        r"authentication failed|could not read username|could not read password|permission denied|terminal prompts|"
        r"error: 40[13]",
        "{where} is not there, or is not public.",
        "Look at the address. For a private repository give its ssh address, with the key in your ssh agent.",
    ),
    (
        r"not our ref|unadvertised object|no such remote ref [0-9a-f]{40}|couldn't find remote ref [0-9a-f]{40}",
        "{where} does not have that commit any more: its history was rewritten.",
        "Ask whoever gave you the file, or add the repository as it is now.",
    ),
    (
        r"couldn't find remote ref head|remote head refers to nonexistent",
        "{where} is empty: it has no commit yet.",
        "Add it once something is in it.",
    ),
    (
        r"repository .* not found|does not appear to be a git|not a git repository|does not exist|error: 404",
        "There is no git repository at {where}.",
        "Look whether the address is right.",
    ),
    (
        r"unable to read|corrupt|missing blob|bad object|early eof",
        "{where} is not whole: some of what it says that it has cannot be read.",
        "Get it anew, or ask whoever keeps it.",
    ),
    (r"certificate|ssl|tls", "The connection to {where} is not trusted.", "Look whether the address is right."),
    (r"transport .* not allowed|redirect", "{where} leads on to another place.", "Give the address of that place."),
)


def _at_limit(folder: Path, most: int) -> bool:
    """Whether a file there could not grow any more."""
    try:
        return any(entry.stat().st_size >= most - _BLOCK for entry in list(os.scandir(folder)))
    except OSError:
        return False


def _failure(address: Address, output: str, code: int | None) -> GitFailed:
    """What git said, in words; of its own text only one line, and none where it is known what it means."""
    if (known := _known_failure(address, output)) is not None:
        return known
    lines = [line for line in output.splitlines() if line.startswith(("fatal:", "error:"))]
    last = without_hidden(lines[-1].partition(":")[2].strip(" .\n"))[:200] if lines else f"it ended with {code}"
    return GitFailed(f"git could not read {address.text}: {last}.", next_step="Try again.")


def _known_failure(address: Address, output: str) -> GitFailed | None:
    """What an output means that is known."""
    text = output.lower()
    found = next(((words, step) for pattern, words, step in _WORDS if re.search(pattern, text)), None)
    return None if found is None else GitFailed(found[0].format(where=address.text), next_step=found[1])
