"""Options of well-known programs that do more than the program's name says (see ``options``)."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.syntax.words import Word


@dataclass(slots=True)
class Found:
    """The effects of a command's options."""

    starts: list[str] = field(default_factory=list)
    """Options that start another program."""
    writes: list[Word] = field(default_factory=list)
    """The files that others write."""
    said: list[str] = field(default_factory=list)
    """Words that only a rule which says them covers."""
    changes: bool = False
    """Whether it changes files that stand elsewhere among its arguments."""
    obeys: bool = False
    """Whether what it does stands in a file."""
    sends: bool = False
    """Whether it sends data away."""
    hidden: str = ""
    """Why no rule covers it at all, or ""."""
    because: list[str] = field(default_factory=list)
    """Other reasons why it is admin."""
    unlisted: bool = False
    """Whether it has options and there is no table of them."""

    def say(self, *options: str) -> None:
        """Note options that a rule has to name before it covers this command."""
        self.said += [option for option in options if option not in self.said]


@dataclass(frozen=True)
class Options:
    """The options of one program by what they do."""

    starts: frozenset[str] = frozenset()
    """They start a program."""
    writes: frozenset[str] = frozenset()
    """They write the file that they name."""
    changes: frozenset[str] = frozenset()
    """They change files without naming one."""
    orders: frozenset[str] = frozenset()
    """They take orders from elsewhere."""
    sends: frozenset[str] = frozenset()
    """They send data away."""
    glued: bool = False
    """Whether values may follow long names with one dash at once."""

    @cached_property
    def all(self) -> frozenset[str]:
        """Every option of interest."""
        return self.starts | self.writes | self.changes | self.orders | self.sends

    @cached_property
    def long(self) -> tuple[str, ...]:
        """The options with two dashes."""
        return tuple(option for option in self.all if option.startswith("--"))

    @cached_property
    def single(self) -> tuple[str, ...]:
        """Names of several letters with one dash."""
        return tuple(option for option in self.all if not option.startswith("--") and len(option) > 2)

    @cached_property
    def short(self) -> frozenset[str]:
        """The options of a single letter."""
        return frozenset(option for option in self.all if len(option) == 2)


def _of(
    starts: str = "", writes: str = "", changes: str = "", orders: str = "", sends: str = "", *, glued: bool = False
) -> Options:
    first, second, third, fourth, fifth = (
        frozenset(names.split()) for names in (starts, writes, changes, orders, sends)
    )
    return Options(first, second, third, fourth, fifth, glued=glued)


NONE = Options()
_GIT_STARTS = (
    "--ext-diff --extcmd --exec --exec-path --upload-pack --receive-pack --open-files-in-pager --template "
    "--config-env --smtp-server --sendmail-cmd --to-cmd --cc-cmd"
)
_GIT_WRITES = "--output --output-directory --separate-git-dir --export-marks --export-pack-edges"
_GIT_ORDERS = (
    "--git-dir --work-tree --textconv --contents --namespace --import-marks --directory --unsafe-paths --config "
    "--remote --index-file --prefix"
)


def _git(starts: str = "", writes: str = "", changes: str = "", orders: str = "") -> Options:
    return _of(f"{_GIT_STARTS} {starts}", f"{_GIT_WRITES} {writes}", f"--in-place {changes}", f"{_GIT_ORDERS} {orders}")


GIT = _git()
"""Of git's subcommands that have no table of their own."""
_SSH = _of("-S", orders="-F")
_COMPILER = _of("-wrapper -fplugin -B -specs --specs --wrapper", glued=True)
OPTIONS: dict[str, Options] = {
    "git": _git(orders="-C"),
    "git grep": _git("-O"),
    "git clone": _git("-u", orders="-c"),
    "git rebase": _git("-x"),
    "git difftool": _git("-x"),
    "git archive": _git("", "-o"),
    "git format-patch": _git("", "-o"),
    "rg": _of("--pre --hostname-bin", orders="--search-zip --ignore-file"),
    "ag": _of("--pager"),
    "ack": _of("--pager", "--output", "", "--ackrc"),
    "less": _of("-k --lesskey-file --lesskey-src --lesskey-content", "-o -O --log-file --LOG-FILE"),
    "man": _of("-P --pager -H --html -X", orders="-C --config-file"),
    "tar": _of(
        "--to-command -I --use-compress-program -F --info-script --new-volume-script --rmt-command --rsh-command "
        "--checkpoint-action",
        "--index-file --volno-file -g --listed-incremental",
        "-P --absolute-names --remove-files",
        "-T --files-from",
    ),
    "zip": _of("--unzip-command", "-b --temp-path --out -O", "-m --move"),
    "split": _of("--filter"),
    "sort": _of("--compress-program", "-o --output", "-T --temporary-directory", "--files0-from"),
    "shuf": _of("", "-o --output"),
    "tree": _of("", "-o", "-R"),
    "fd": _of("", "", "", "-x -X --exec --exec-batch"),
    "iconv": _of("", "-o --output"),
    "xmllint": _of("--shell", "-o --output", "", "--load-trace"),
    "yq": _of("", "", "-i --inplace --in-place -s --split-exp", "--from-file --split-exp-file"),
    "info": _of("", "-o --output --dribble", "", "--restore"),
    "diff": _of("", "--output"),
    "sed": _of("", "", "-i --in-place", "-f --file"),
    **dict.fromkeys(
        ("awk", "gawk", "mawk", "nawk"),
        _of(
            "-l --load -D --debug -W",
            "-o --pretty-print -p --profile -d --dump-variables",
            "-i --include",
            "-f --file -E --exec",
        ),
    ),
    "find": _of("", "-fprint -fprintf -fls -fprint0", "", "-files0-from"),
    **dict.fromkeys(("scp", "sftp"), _SSH),
    "ssh": _SSH,
    "rsync": _of(
        "--rsync-path --daemon",
        "--log-file --write-batch --only-write-batch --temp-dir -T --backup-dir --partial-dir",
        "--remove-source-files --remove-sent-files",
        "--files-from --read-batch --config -M --remote-option",
    ),
    "curl": _of(
        "",
        "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts "
        "--alt-svc --output-dir",
        "-O --remote-name --remote-name-all -J --remote-header-name",
        "-K --config --resolve --connect-to --doh-url --dns-servers "
        "--unix-socket --abstract-unix-socket -x --proxy --preproxy --socks4 --socks4a --socks5 "
        "--socks5-hostname -b --cookie -E --cert --key -n --netrc --netrc-file --netrc-optional -u --user -Q --quote "
        "-X --request -t --telnet-option --variable --engine --proxy-user -U --proxy-header",
        "-d --data --data-ascii --data-binary --data-raw --data-urlencode -F --form --form-string -T --upload-file "
        "--json --url-query --mail-from",
    ),
    "wget": _of(
        "--use-askpass",
        "-O --output-document -o --output-file -a --append-output --save-cookies -P "
        "--directory-prefix --warc-file --hsts-file --rejected-log",
        "",
        "-i --input-file -e --execute -H --span-hosts --config --load-cookies --certificate --private-key -U --method",
        "--post-data --post-file --body-data --body-file",
    ),
    **dict.fromkeys(("nc", "ncat", "netcat"), _of("-e --exec -c --sh-exec --lua-exec", "-o --output")),
    "openssl": _of("-engine -provider", "-out -writerand", "", "-config"),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _COMPILER),
    "go": _of(
        "-exec -toolexec -vettool --exec --toolexec --vettool",
        "-coverprofile -cpuprofile -memprofile",
        "",
        "-C -overlay --overlay -modfile --modfile -pkgdir -ldflags --ldflags -gcflags -asmflags",
    ),
    "cargo": _of("--config", "", "--target-dir", "--manifest-path -C"),
    **dict.fromkeys(("make", "gmake"), _of("--eval -E", orders="-f --file --makefile -C --directory -I --include-dir")),
    **dict.fromkeys(
        ("npm", "npx", "pnpm", "yarn", "bun"),
        _of(
            "--script-shell --node-options --git --editor --viewer --browser --shell --init-module --onload-script -c "
            "--call --use-yarnrc --shell-mode",
            "--cache",
            "",
            "--prefix -C --userconfig --globalconfig --cwd --dir --modules-dir --registry --config --pnpmfile",
        ),
    ),
    "pytest": _of(
        "--pdbcls --pastebin",
        "--junitxml --junit-xml --log-file --resultlog --report-log --debug",
        "--basetemp --html",
        "-c --config-file --rootdir --confcutdir -o --override-ini -W --pythonwarnings "
        "--import-mode --pythonpath --tx --cov-config",
    ),
    "psql": _of("", "-o --output -L --log-file", "", "-f --file"),
    **dict.fromkeys(
        ("mysql", "mariadb"),
        _of("--pager --plugin-dir", "--tee", "", "--init-command --defaults-file --defaults-extra-file"),
    ),
    **dict.fromkeys(("sqlite3", "sqlite"), _of("", "", "-A -archive --archive --A -append --append", "-init --init")),
    **dict.fromkeys(("mapfile", "readarray"), _of("-C")),
    "compgen": _of("-C -F"),
    "history": _of("", "", "-w -a", "-r -n"),
    "jq": _of("", "", "", "-f --from-file -L"),
    "file": _of("", "", "-C --compile", "-m --magic-file"),
    "date": NONE,
    "ld": _of("-plugin"),
    "start-stop-daemon": _of("-x --exec -a --startas"),
    **dict.fromkeys(("diff3", "sdiff"), _of("--diff-program", "-o --output")),
    "ptx": _of("", "", "-G --traditional"),
    "ss": _of("", "-D --diag", "-K --kill", "-F --filter"),
    "lsof": _of("", "", "-D"),
    "nm": _of("--plugin"),
    "dmesg": _of("", "", "-C --clear -c --read-clear -n --console-level -D --console-off -E --console-on", "-F --file"),
    "hostname": _of("", "", "-b --boot", "-F --file"),
    "wc": _of(orders="--files0-from"),
    "du": _of(orders="--files0-from"),
    "install": _of("--strip-program", changes="-s --strip"),
    **dict.fromkeys(
        ("pip", "pip3"),
        _of(
            "--python",
            "--log --report --cache-dir -t --target --root --prefix --src --build -d --dest -w --wheel-dir",
            "",
            "-r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -f --find-links --proxy "
            "--global-option --build-option --config-settings --install-option",
        ),
    ),
    **dict.fromkeys(("bat", "batcat"), _of("--pager --diff-so-fancy", "", "--generate-config-file", "--config-file")),
    "delta": _of("--pager --diff-program", "", "", "--config"),
    "mypy": _of(
        "--python-executable",
        "--html-report --txt-report --xml-report --junit-xml --cobertura-xml-report --any-exprs-"
        "report --linecount-report --linecoverage-report --lineprecision-report --cache-dir",
        "--install-types",
        "--config-file --shadow-file --custom-typeshed-dir --custom-typing-module",
    ),
    "eslint": _of(
        "",
        "-o --output-file --cache-file --cache-location",
        "--fix --fix-type --init --cache",
        "-c --config -f --format --rulesdir --plugin --parser --resolve-plugins-relative-to --ignore-path",
    ),
    "prettier": _of(
        "", "--cache-location", "-w --write --cache", "--plugin --plugin-search-dir --config --ignore-path"
    ),
    "clang-format": _of("", "", "-i", "--files", glued=True),
    "tcpdump": _of("-z", "-w", "", "-F -V"),
    "exiftool": _of("-if -userParam -config -execute", "-o -w -W -csv -tagsFromFile", "-overwrite_original", "-@"),
    "pandoc": _of(
        "-F --filter -L --lua-filter --pdf-engine",
        "-o --output --extract-media --log",
        "",
        "-d --defaults --template -H -B -A --include-in-header --include-before-body --include-after-body "
        "--syntax-definition --data-dir --metadata-file --csl --bibliography",
    ),
    **dict.fromkeys(("strace", "ltrace", "time"), _of("", "-o --output")),
    "valgrind": _of("--db-command", "--log-file --xml-file --log-socket --massif-out-file --callgrind-out-file"),
    "unset": NONE,
    "uniq": NONE,
    "base64": NONE,
    "grep": NONE,
}
for _same, _as in (("fdfind", "fd"), ("ginfo", "info"), ("gsed", "sed"), ("py.test", "pytest")):
    OPTIONS[_same] = OPTIONS[_as]
