"""Variables that make programs run other code or read other settings, by name (R-ENV-7)."""

from __future__ import annotations

import re

_LOADER = (
    "GCONV_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "LOCPATH",
    "NLSPATH",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TERMCAP",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_ENGINES",
    "KRB5_CONFIG",
    "HOSTALIASES",
)
_SHELL = (
    "PATH",
    "HOME",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "BASH_LOADABLES_PATH",
    "BASH_XTRACEFD",
    "CDPATH",
    "GLOBIGNORE",
    "INPUTRC",
    "ZDOTDIR",
    "FPATH",
    "SHELL",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
)
# What people set for themselves: harmless as they set it, not so in a tool's hands.
OF_A_PERSON = (
    "PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "RSYNC_RSH",
    "CVS_RSH",
    "SVN_SSH",
    "TAR_OPTIONS",
    "VIMINIT",
    "EXINIT",
)
_LANGUAGES = (
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "DOTNET_STARTUP_HOOKS",
    "CORECLR_PROFILER",
    "COR_PROFILER",
    "R_PROFILE",
    "R_PROFILE_USER",
    "R_ENVIRON",
    "MAKEFLAGS",
    "MAKEFILES",
    "GOFLAGS",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONWARNINGS",
    "PYTHONUSERBASE",
    "PYTHONPLATLIBDIR",
    "PYTHONEXECUTABLE",
    "PYTHONPYCACHEPREFIX",
)
_GIT = (
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
)
ADMIN_ONLY = frozenset((*_LOADER, *_SHELL, *OF_A_PERSON, *_LANGUAGES, *_GIT))
COMMAND_NAMES = frozenset(
    "GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND "
    "PAGER EDITOR VISUAL MANPAGER LESSOPEN LESSCLOSE PROMPT_COMMAND SSH_ASKPASS SUDO_ASKPASS BROWSER "
    "CC CXX LD RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC_WRAPPER FCEDIT RSYNC_RSH CVS_RSH "
    "TEXEDIT WGET_ASKPASS TAR_RSH".split()
)
"""Variables whose value is a command that another program runs."""
# Beside those that only admin tools may set: places that programs take their own settings and options from.
_PLACES = frozenset(
    "HOME CDPATH RIPGREP_CONFIG_PATH TAR_OPTIONS MAKEFLAGS GNUMAKEFLAGS MFLAGS GREP_OPTIONS WGETRC CURL_HOME GOFLAGS "
    "RUSTFLAGS CARGO_HOME PYTEST_ADDOPTS PYTEST_PLUGINS LESSKEY LESSKEYIN FZF_DEFAULT_COMMAND DOCKER_HOST "
    "XDG_CONFIG_HOME ZDOTDIR INPUTRC AWKPATH AWKLIBPATH JAVA_HOME".split()
)
_OF_THE_SHELL = frozenset(
    "PWD OLDPWD SHLVL _ UID EUID PPID GROUPS OPTIND OPTERR RANDOM SECONDS POSIXLY_CORRECT".split()
)
_OF_FAMILIES = ("BASH", "GIT_", "PYTHON", "NODE_", "NPM_", "PIP_", "UV_", "CARGO_", "RUST", "XDG_")
# Where requests go, and whose certificates count: a request names its host, and traffic shall go there.
_OF_REQUESTS = re.compile(
    r"\w*_PROXY|SSL_CERT_(?:FILE|DIR)|\w*_CA_(?:BUNDLE|CERT|FILE|PATH)\w*|\w*_CACERTS?|RES_OPTIONS|LOCALDOMAIN|"
    r"NODE_TLS_REJECT_UNAUTHORIZED|NODE_EXTRA_CA_CERTS|SSLKEYLOGFILE"
)
_PREFIXES = ("LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "NPM_CONFIG_", "CARGO_TARGET_")


def needs_admin(name: str) -> bool:
    """Whether only an admin tool may set this variable (R-ENV-7)."""
    upper = name.upper()
    return upper in ADMIN_ONLY or upper.startswith(_PREFIXES)


def changes_programs(name: str) -> bool:
    """Whether programs run other code, or take other settings, with this variable."""
    return name in COMMAND_NAMES or name in _PLACES or needs_admin(name)


def stays_out_of_commands(name: str) -> bool:
    """Whether a thread's variable of this name is for its texts alone. Stricter than for what a person declares with a
    tool: a command does not say which variables it reads (D-6)."""
    upper = name.upper()
    known = changes_programs(upper) or name in _OF_THE_SHELL or upper.startswith(_OF_FAMILIES)
    return known or _OF_REQUESTS.fullmatch(upper) is not None


def usable_path(value: str, separator: str = ":") -> str:
    """A PATH without the folders that depend on where a program is started: "", "." and other relative ones."""
    absolute = ("/",) if separator == ":" else ("/", "\\")
    folders = value.split(separator)
    return separator.join(f for f in folders if f.startswith(absolute) or (separator == ";" and f[1:2] == ":"))
