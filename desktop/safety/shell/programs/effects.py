"""What well-known commands do: read, write, delete, talk to the network, act with other rights (R-BLK-8).

Tables first, then the few commands whose arguments decide. A command that is not known is ``unknown``, never harmless.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.programs.blocklist import forces_push, git_command, may_mean
from desktop.safety.shell.programs.databases import orders_act
from desktop.safety.shell.programs.git import git_needs_network, git_reads, git_words
from desktop.safety.shell.programs.known_options import known
from desktop.safety.shell.programs.sed import acts
from desktop.safety.shell.syntax.words import Word


@dataclass(slots=True)
class Effect:
    """What a command does."""

    kind: str
    """As in Judgement."""
    writes: list[Word] = field(default_factory=list)
    """The words that name what is written."""
    replaces: bool = False
    """Whether existing files there are lost."""
    recursive: bool = False
    """Whether it goes into folders by itself."""
    reasons: list[str] = field(default_factory=list)
    """Why it is admin."""
    by_option: list[Word] = field(default_factory=list)
    """Those of ``writes`` that an option names."""
    obeys: bool = False
    """Whether what it does stands in a file."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


READS = _set("""
    for case select
    cat head tail less more wc grep egrep fgrep zgrep rg ag ack ls dir vdir find fd fdfind locate du df stat file
    diff diff3 cmp comm sort uniq cut tr awk gawk mawk nawk sed jq yq xmllint echo printf
    pwd which type whereis whoami id groups date
    uname hostname arch nproc printenv env ps top tree basename dirname realpath readlink md5sum sha1sum sha224sum
    sha256sum sha384sum sha512sum b2sum cksum sum test true false sleep seq expr man info column nl od xxd hexdump
    strings join paste fold fmt rev tac yes cal uptime free lsof getent locale cd pushd popd dirs set shopt read return
    exit wait jobs local declare typeset readonly export unset : [ [[ help history hash umask ulimit getopts let shift
    break continue times disown alias unalias mapfile readarray compgen command builtin bc dc factor numfmt shuf split
    csplit tsort base64 base32 iconv look expand unexpand pr ptx zcat bzcat xzcat zless nm objdump
    size readelf pgrep pidof tty stty clear tput trap wait caller
""")
WRITES = _set("""
    touch mkdir cp mv ln tee install tar unzip zip gzip gunzip bzip2 bunzip2 xz unxz zstd 7z patch chmod chown chgrp
    make
    cmake ninja gcc g++ cc clang go cargo rustc javac mkfifo mktemp ed ex sponge dos2unix unix2dos split csplit git
    hg svn
    rename sqlite3
""")
DELETES = _set("rmdir unlink shred truncate wipe srm wipefs blkdiscard")
NETWORK = _set("""
    curl wget ssh scp sftp rsync ftp tftp lftp nc ncat netcat socat telnet ping traceroute dig nslookup host whois
    aria2c http https httpie gh glab aws gcloud az gsutil rclone mail sendmail mutt openssl w3m lynx elinks
""")
PRIVILEGED = _set("""
    systemctl service launchctl mount umount useradd userdel usermod groupadd groupdel passwd chpasswd visudo adduser
    deluser iptables ip6tables nft ufw firewall-cmd sysctl modprobe insmod rmmod docker podman nerdctl kubectl lxc
    virsh crontab at batch atrm init telinit loginctl timedatectl hostnamectl setcap setfacl chattr swapon swapoff
    fdisk parted sfdisk gdisk losetup cryptsetup lvm vgremove lvremove pvremove ip ifconfig route nmcli defaults csrutil
    spctl dscl diskutil launchd hdiutil reg schtasks net sc bcdedit gsettings dconf xdg-settings update-alternatives
    dbus-send busctl gdbus qdbus xdg-open
    adjtimex ntpdate rdate chronyc localectl rtcwake machinectl networkctl resolvectl systemd-tmpfiles systemd-sysusers
    udevadm initctl rc-service rc-update update-rc.d chkconfig sv ctrlaltdel kexec depmod dkms setpci pivot_root
    ldconfig locale-gen update-ca-certificates update-grub grub-install grub-mkconfig update-initramfs mkinitcpio dracut
    efibootmgr pam-auth-update authselect faillock chage chsh chfn gpasswd vipw vigr pwconv pwunconv grpconv newusers
    setsebool semanage chcon restorecon setenforce aa-enforce aa-complain aa-disable apparmor_parser auditctl
    rfkill ethtool iw iwconfig tc brctl bridge arp ipset ebtables arptables wg-quick openvpn
    tune2fs e2fsck fsck mkswap resize2fs xfs_admin xfs_growfs xfs_repair blockdev hdparm sdparm fstrim quotaon quotaoff
    edquota setquota exportfs zpool zfs btrfs mdadm dmsetup pvcreate vgcreate vgchange lvcreate lvchange lvextend
    vgextend pvresize lvresize iscsiadm nbd-client partprobe partx kpartx eject usbreset
    login newgrp agetty openvt chvt loadkeys setfont cpupower tuned-adm powertop
    lpadmin cupsenable cupsdisable bluetoothctl renice logrotate pw sysrc scutil systemsetup nvram pmset softwareupdate
    dpkg-divert dpkg-statoverride alternatives update-desktop-database update-mime-database
    iptables-restore iptables-apply iptables-legacy iptables-legacy-restore iptables-nft iptables-nft-restore
    ip6tables-restore ip6tables-apply ip6tables-legacy ip6tables-legacy-restore ip6tables-nft ip6tables-nft-restore
    ebtables-restore arptables-restore mke2fs mkdosfs mkntfs debugfs nvme bootctl mokutil wpa_cli
    docker-compose podman-compose crictl ctr
    dpkg-reconfigure snap flatpak secret-tool keyring security kwallet-query gpg gpg2 ssh-add ssh-keygen
""")
KILLS = _set("kill pkill killall xkill skill fuser taskkill")
RECURSIVE = _set("find fd tar zip 7z rsync tree du rg ag ack locate scp git")
INTERPRETERS = _set("""
    python pypy perl ruby node nodejs deno bun php lua luajit tclsh R Rscript julia osascript
    powershell pwsh awk gawk mawk nawk expect guile ghci sed vim vi nvim ex emacs
""")
_PACKAGES = _set("""
    apt apt-get aptitude dnf yum zypper pacman apk brew port pip pip3 pipx uv conda mamba npm yarn pnpm gem cargo go
    dpkg
    rpm snap flatpak choco winget scoop nix-env
""")
_REMOVES = _set(
    "remove purge uninstall autoremove erase rm un del -R -Rs -Rns -e -r --remove --purge clean prune unlink"
)
_SYSTEM_PACKAGES = _set("apt apt-get aptitude dnf yum zypper pacman apk dpkg rpm snap flatpak choco winget port")
_OPTION_FLAGS = ("-c", "-e", "-E", "-r", "-p", "-n", "-pe", "-ne", "-lane", "-x", "--eval", "--expression", "-ex")
_CODE_OPTIONS = frozenset(
    "--eval --print --exec --execute --expression --command --code --cmd --batch-command --run -command "
    "-encodedcommand -es -ex -lisp".split()
)
_CODE_SHORT_OPTIONS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("python", "pypy"), ("c", "mWX")),
    "perl": ("eE", "ImMDF"),
    "ruby": ("e", "rICFTKE"),
    **dict.fromkeys(("node", "nodejs", "bun"), ("ep", "r")),
    "deno": ("", ""),
    "php": ("rBRE", "dcfFtz"),
    **dict.fromkeys(("lua", "luajit"), ("e", "l")),
    "osascript": ("e", "l"),
}
"""Interpreter -> (letters of options that hold a program, letters that take the rest of the word for their value)."""
_CODE_ACTS = re.compile(
    r"(system|exec|popen|subprocess|spawn|fork|unlink|remove|rmtree|rmdir|truncate|kill|eval|shutil|child_process|"
    r"rename|replace\(|write|socket|urlopen|requests|http|open\(.*['\"][wax+]|\bsh\b|\bmv\b|:!|\|\s*getline|"
    r"print\s*[>|]|@load|@include|@\s*\w+\s*\(|`)"
)
_AWK_ACTS = re.compile(r"(?<!\|)\|(?!\|)|\bprintf?\b[^;}\n]*>")
"""A pipe is always to or from a command; what is printed can go into a file."""


def effect_of(name: str, words: Sequence[Word]) -> Effect:
    """The effect of one command without wrappers. ``name`` is its base name, ``words`` its arguments."""
    name, words = git_words(name, words)
    special = _SPECIAL.get(name)
    effect = special(name, list(words)) if special else Effect(_kind(name))
    language = re.sub(r"[\d.]+$", "", name)
    if language in INTERPRETERS:
        _judge_code(language, words, effect)
    if orders_act(language, words):
        effect.reasons.append(f"its {name} commands can start other programs or write files")
    if name in _PACKAGES:
        _judge_packages(name, words, effect)
    if name in KILLS:
        effect.kind = "privileged"
        effect.reasons.append(f"{name} ends other programs")
    if effect.kind == "privileged" and not effect.reasons:
        effect.reasons.append(f"{name} changes the system or other programs")
    if effect.kind == "deletes" and not effect.reasons:
        effect.reasons.append(f"{name} deletes for good")
    recursive_flag = any(word.text[:1] == "-" and _may_be_flag(word.text, "rR", "--recursive") for word in words)
    effect.recursive = effect.recursive or name in RECURSIVE or recursive_flag
    return effect


def _kind(name: str) -> str:
    for kind, names in (
        ("privileged", PRIVILEGED),
        ("deletes", DELETES),
        ("network", NETWORK),
        ("writes", WRITES),
        ("reads", READS),
    ):
        if name in names:
            return kind
    return "unknown"


def _has_flag(text: str, short_options: str, *long: str) -> bool:
    if text.startswith("--"):
        return text.split("=")[0] in long
    return text.startswith("-") and len(text) < 8 and bool(set(text[1:]) & set(short_options))


def _may_be_flag(text: str, short_options: str, *long: str) -> bool:
    """The same of an option that does harm: a long one that is cut short counts as every one that begins so."""
    return _has_flag(text, short_options, *long) or may_mean(text, *long)


def operands(words: Sequence[Word], valued: frozenset[str] = frozenset()) -> list[Word]:
    """The arguments that are no options and no values of the options named."""
    found: list[Word] = []
    at = 0
    while at < len(words):
        text = words[at].text
        if text == "--":
            return found + list(words[at + 1 :])
        if text.startswith("-") and len(text) > 1:
            at += 2 if text in valued else 1
            continue
        found.append(words[at])
        at += 1
    return found


def _value_of(words: Sequence[Word], *names: str) -> list[Word]:
    """Values given to options, as ``-o x``, ``-ox`` or ``--out=x``."""
    found: list[Word] = []
    for at, word in enumerate(words):
        for name in names if word.text.startswith("-") else ():
            if word.text == name and at + 1 < len(words):
                found.append(words[at + 1])
            elif name.startswith("--") and word.text.startswith(f"{name}="):
                found.append(Word(word.text[len(name) + 1 :], word.known[len(name) + 1 :], word.dynamic, word.glob))
            elif not name.startswith("--") and word.text.startswith(name) and len(word.text) > len(name):
                found.append(Word(word.text[len(name) :], word.known[len(name) :], word.dynamic, word.glob))
    return found


def _copy_or_move(name: str, words: list[Word]) -> Effect:
    keeps = any(_has_flag(word.text, "n", "--no-clobber") for word in words) and name in ("cp", "mv")
    into = _value_of(words, "-t", "--target-directory")
    plain = operands(words, frozenset(("-t", "--target-directory", "-S", "--suffix", "-m", "-o", "-g")))
    sources, targets = (plain, into) if into else (plain[:-1], plain[-1:])
    effect = Effect("writes", list(targets), replaces=not keeps)
    if name == "mv":
        effect.writes += sources
        effect.replaces = not keeps
    if name == "ln":
        effect.replaces = any(_may_be_flag(word.text, "f", "--force") for word in words)
    return effect


def _all_operands(name: str, words: list[Word]) -> Effect:
    replaces = name in ("tee", "sponge") and not any(_has_flag(word.text, "a", "--append") for word in words)
    kind = "deletes" if name in DELETES else "writes"
    return Effect(kind, operands(words, frozenset(("-m", "-s", "-r", "-d", "-t", "--mode"))), replaces=replaces)


def _permissions(name: str, words: list[Word]) -> Effect:
    effect = Effect("writes", operands(words)[1:])
    if any(_may_be_flag(word.text, "R", "--recursive") for word in words):
        effect.reasons.append(f"{name} -R changes everything below a folder")
    return effect


def _sed(_: str, words: list[Word]) -> Effect:
    in_place = any(_may_be_flag(word.text, "i", "--in-place") for word in words)
    return Effect("writes", operands(words)[1:]) if in_place else Effect("reads")


def _find(_: str, words: list[Word]) -> Effect:
    texts = [word.text for word in words]
    effect = Effect("reads")
    if "-delete" in texts:
        effect = Effect("deletes", reasons=["find -delete removes everything it finds"])
    for name in ("-fprint", "-fprintf", "-fls", "-fprint0"):
        effect.writes += _value_of(words, name)
    return effect


def _download(name: str, words: list[Word]) -> Effect:
    output = ("-o", "--output", "--output-dir") if name == "curl" else ("-O", "--output-document", "-P")
    return Effect("network", _value_of(words, *output), replaces=True)


def _archive(name: str, words: list[Word]) -> Effect:
    folder = _value_of(words, "-C", "--directory") if name == "tar" else _value_of(words, "-d")
    effect = Effect("writes", folder, recursive=True)
    if name == "tar" and words and re.match(r"-{0,2}[a-zA-Z]*[crAu]", words[0].text) and "x" not in words[0].text:
        effect.writes += _value_of(words, "-f", "--file")
    return effect


_GIT_LOSES = _set(
    "reset clean push checkout switch restore rm branch tag stash reflog gc filter-branch filter-repo update-ref "
    "worktree config"
)


def _git(_: str, words: list[Word]) -> Effect:
    subcommand, rest = git_command(words)
    texts = [word.text for word in rest]
    kind = "network" if git_needs_network(words) else "reads" if git_reads(words) else "writes"
    effect = Effect(kind, recursive=False)
    if why := _git_loss(subcommand, texts, rest):
        effect.kind = "network" if subcommand == "push" else "deletes"
        effect.reasons.append(why)
    return effect


def _git_loss(subcommand: str, texts: list[str], rest: list[Word]) -> str:
    """What a git command throws away, or ""."""
    if subcommand not in _GIT_LOSES:
        return ""
    flags = [text for text in texts if text.startswith("-")]

    def has(short_options: str, *long: str) -> bool:
        return any(_may_be_flag(flag, short_options, *long) for flag in flags)

    losses: dict[str, tuple[bool, str]] = {
        "reset": (has("", "--hard", "--merge", "--keep"), "git reset --hard throws away changes"),
        "clean": (True, "git clean deletes files that git does not know"),
        "push": (forces_push(rest), "a forced push overwrites or deletes what others have"),
        "checkout": (has("f", "--force") or "--" in texts or "." in texts, "it throws away changes"),
        "switch": (has("f", "--force", "--discard-changes"), "it throws away changes"),
        "restore": (True, "git restore throws away changes"),
        "rm": (True, "git rm deletes files"),
        "branch": (has("dD", "--delete"), "it deletes a branch"),
        "tag": (has("d", "--delete"), "it deletes a tag"),
        "stash": (bool({"drop", "clear", "pop"} & set(texts)), "it can lose stashed changes"),
        "reflog": (bool({"expire", "delete"} & set(texts)), "it deletes git's history of changes"),
        "gc": (has("", "--prune"), "it deletes unreachable commits"),
        "filter-branch": (True, "it rewrites history"),
        "filter-repo": (True, "it rewrites history"),
        "update-ref": (has("d"), "it deletes a reference"),
        "worktree": ("remove" in texts, "it deletes a working tree"),
        "config": (has("", "--global", "--system"), "it changes git for every project"),
    }
    lost, why = losses[subcommand]
    return why if lost else ""


def _network_copy(name: str, words: list[Word]) -> Effect:
    effect = Effect("network", operands(words)[-1:] if name in ("rsync", "scp") else [], recursive=True)
    if name == "rsync" and any(word.text.startswith("--del") for word in words):
        effect.reasons.append("rsync --delete removes files at the target")
    if name == "ssh":
        effect.reasons.append("it runs commands on another computer")
    return effect


def _name_of_host(_: str, words: list[Word]) -> Effect:
    """The effect of ``hostname``: it shows the name; with an argument, or a file, it sets it."""
    shows = _only_shows("hostname", words) and all(word.text.startswith("-") for word in words)
    return Effect("reads") if shows else Effect("privileged", reasons=["it changes the name of this computer"])


def _clock_of_board(_: str, words: list[Word]) -> Effect:
    """The effect of ``hwclock``: it shows the computer's own clock; with nearly all its options it sets that clock or
    the system's."""
    shows = all(_has_flag(word.text, "rVhv", "--show", "--get", "--version", "--help", "--verbose") for word in words)
    shows = shows and not any(set(word.text[1:]) - set("rVhv") for word in words if not word.text.startswith("--"))
    return Effect("reads") if shows else Effect("privileged", reasons=["it sets the clock of this computer"])


def _only_shows(name: str, words: list[Word]) -> bool:
    """Whether all options are by their whole names in the table of what only shows; what may become one is not."""
    table = known(name)
    if table is None:
        return not words
    before = ""
    for word in words:
        text, waits = word.text, table.short_options.waits(before)
        if text.startswith("--"):
            if len(text) > 2 and not table.has(text.partition("=")[0]):
                return False
        elif text.startswith("-"):
            if not table.has(text) and not all(has for _, _, has in table.short_options.split(text)):
                return False
        elif word.split and not word.literal_start and not waits:
            return False
        before = text
    return True


def _shows(name: str, words: list[Word]) -> Effect:
    """The effect of programs that show something of the machine and with other options change it."""
    return Effect(_kind(name) if _only_shows(name, words) else "privileged")


def _judge_code(name: str, words: Sequence[Word], effect: Effect) -> None:
    """A program given in the arguments, in another language."""
    codes = list(_value_of(words, *_OPTION_FLAGS))
    if name in ("awk", "gawk", "mawk", "nawk"):
        codes += operands(words, frozenset(("-F", "-v", "-f")))[:1]
        if any(_CODE_ACTS.search(word.text) or _AWK_ACTS.search(word.text) for word in codes):
            effect.reasons.append(f"its {name} program can start other programs or write files")
        return
    if name == "sed":
        if acts(words):
            effect.reasons.append("its sed program can start other programs or write files")
        return
    if _has_code(name, words):
        effect.reasons.append(f"it holds a {name} program, and what that does cannot be read")


def _has_code(name: str, words: Sequence[Word]) -> bool:
    """Whether a program stands in the arguments, also behind other letters (``-uc``) or without a blank."""
    short_options, valued = _CODE_SHORT_OPTIONS.get(name, ("ce", ""))
    may_be_value = False
    for word in words:
        text = word.text
        if text.split("=")[0].casefold() in _CODE_OPTIONS or text.startswith("+"):
            return True
        if text == "eval" and name in ("deno", "bun"):
            return True
        if not text.startswith("-") or text == "--":
            if not may_be_value:
                return False  # from here on the words are the program's own
            may_be_value = False
            continue
        options = "" if text.startswith("--") else re.split(f"[{valued}]", text[1:])[0] if valued else text[1:]
        if set(options) & set(short_options):
            return True
        may_be_value = "=" not in text if text.startswith("--") else text[-1] in valued
    return False


def _judge_packages(name: str, words: Sequence[Word], effect: Effect) -> None:
    texts = {word.text for word in words}
    if texts & _REMOVES and not (name in ("npm", "yarn", "go", "cargo") and texts & {"run", "test"}):
        effect.kind = "deletes"
        effect.reasons.append(f"{name} removes packages or files")
    elif name in _SYSTEM_PACKAGES:
        effect.kind = "privileged"
    elif effect.kind in ("unknown", "writes") and texts & {
        "install",
        "add",
        "i",
        "get",
        "update",
        "upgrade",
        "publish",
    }:
        effect.kind = "network"


_SPECIAL: dict[str, Callable[[str, list[Word]], Effect]] = {
    **dict.fromkeys(("cp", "mv", "ln", "install"), _copy_or_move),
    **dict.fromkeys(("tee", "sponge", "touch", "mkdir", "mkfifo", "patch", *DELETES), _all_operands),
    **dict.fromkeys(("chmod", "chown", "chgrp"), _permissions),
    **dict.fromkeys(("curl", "wget"), _download),
    **dict.fromkeys(("tar", "unzip"), _archive),
    **dict.fromkeys(("rsync", "scp", "ssh", "sftp"), _network_copy),
    **dict.fromkeys(("hostname", "domainname", "nisdomainname", "ypdomainname"), _name_of_host),
    "sed": _sed,
    "find": _find,
    "git": _git,
    "hwclock": _clock_of_board,
    "dmesg": _shows,
    "journalctl": _shows,
}
