"""Variables that make programs run other code or read other settings, by name (R-ENV-7)."""

from __future__ import annotations

_LOADER = ("GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "TERMINFO", "TERMINFO_DIRS", "TERMCAP",
           "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "KRB5_CONFIG", "HOSTALIASES")  # fmt: skip
_SHELL = (
    "PATH", "HOME", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "BASH_LOADABLES_PATH",
    "BASH_XTRACEFD", "CDPATH", "GLOBIGNORE", "INPUTRC", "ZDOTDIR", "FPATH", "SHELL", "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
)  # fmt: skip
# What people set for themselves: harmless as they set it, not so in a tool's hands.
OF_A_PERSON = (
    "PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE", "SSH_ASKPASS", "SUDO_ASKPASS",
    "RSYNC_RSH", "CVS_RSH", "SVN_SSH", "TAR_OPTIONS", "VIMINIT", "EXINIT",
)  # fmt: skip
_LANGUAGES = (
    "NODE_OPTIONS", "NODE_PATH", "PERL5LIB", "PERL5OPT", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "LUA_INIT",
    "LUA_PATH", "LUA_CPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH",
    "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER", "COR_PROFILER", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON",
    "MAKEFLAGS", "MAKEFILES", "GOFLAGS", "RUSTC_WRAPPER", "RUSTFLAGS", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME",
    "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONWARNINGS", "PYTHONUSERBASE", "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE",
    "PYTHONPYCACHEPREFIX",
)  # fmt: skip
_GIT = (
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_ASKPASS",
    "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR",
)  # fmt: skip
ADMIN_ONLY = frozenset((*_LOADER, *_SHELL, *OF_A_PERSON, *_LANGUAGES, *_GIT))
_PREFIXES = ("LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "NPM_CONFIG_", "CARGO_TARGET_")


def needs_admin(name: str) -> bool:
    """Whether only an admin tool may set this variable (R-ENV-7)."""
    upper = name.upper()
    return upper in ADMIN_ONLY or upper.startswith(_PREFIXES)


def usable_path(value: str, separator: str = ":") -> str:
    """A PATH without the folders that depend on where a program is started: "", "." and other relative ones."""
    absolute = ("/",) if separator == ":" else ("/", "\\")
    folders = value.split(separator)
    return separator.join(f for f in folders if f.startswith(absolute) or (separator == ";" and f[1:2] == ":"))
