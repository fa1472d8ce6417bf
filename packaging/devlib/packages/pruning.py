"""What of Python and of the packages does not come with Assent: what no process of it loads, what is there for
developers, and what its licence keeps from being handed out with the rest.

Of Qt the table says what is taken, of all else what is left out. `proving.py` starts every process on what remains.
"""

import hashlib
import shutil
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from pathlib import Path

from . import elf

QT_MODULES = ("QtCore", "QtDBus", "QtGui", "QtSvg", "QtWidgets")
QT_PLUGINS = (
    "platforms/libqxcb.so",
    "platforms/libqwayland.so",
    "platforms/libqoffscreen.so",
    "platforms/libqminimal.so",
    "imageformats/libqgif.so",
    "imageformats/libqico.so",
    "imageformats/libqjpeg.so",
    "imageformats/libqsvg.so",
    "imageformats/libqwebp.so",
    "iconengines/libqsvgicon.so",
    "platformthemes/*.so",
    "platforminputcontexts/libcomposeplatforminputcontextplugin.so",
    "platforminputcontexts/libibusplatforminputcontextplugin.so",
    "wayland-decoration-client/*.so",
    "wayland-graphics-integration-client/*.so",
    "wayland-shell-integration/libxdg-shell.so",
    "xcbglintegrations/*.so",
)
QT_PACKAGE = ("__init__.py", "_config.py", "_git_pyside_version.py", "support/*.py", "libpyside6.abi3.so.*")

AWS_SERVICES = ("bedrock*", "sagemaker-runtime", "signin", "sso", "sso-oidc", "sts")
"""Of Amazon's 440 services those that a model is asked through, or a key comes from."""

PACKAGES = (
    ("*.pyi", "types, for those who write code"),
    ("*.pyx", "sources of what is compiled"),
    ("*.pxd", "sources of what is compiled"),
    ("*.c", "sources of what is compiled"),
    ("*.h", "sources of what is compiled"),
    ("*/tests", "tests of packages"),
    ("*/test_data", "the same"),
    ("bin", "commands of packages; ours is beside the interpreter"),
    ("share", "manuals of those commands"),
    ("boto3/data", "objects of Amazon's services; requests are made without them"),
    ("boto3/examples", "documents"),
    ("hf_xet*", "fast downloads of models, which nothing here does"),
    ("huggingface_hub", "downloads of tokenizers, which the model host switches off"),
    ("fsspec", "files of other computers, for those downloads alone"),
    ("filelock", "the same"),
    ("litellm/proxy/_experimental/out", "the web page of litellm's own server"),
    ("litellm/proxy/swagger", "the same"),
    ("litellm/proxy/_lazy_openapi_snapshot.json", "the same"),
    ("litellm/rust_bridge/_native*.so", "a second way of doing what litellm does in Python, off unless asked for"),
    ("litellm/rust_bridge/_native*.pyd", "the same on Windows"),
    ("*.lib", "for those who write code for Windows"),
    ("shiboken6/concrt140.dll", "parts of Microsoft's runtime that nothing here loads"),
    ("shiboken6/vc[aco]*140.dll", "the same"),
    ("win32/Demos", "of pywin32 only its calls of Windows are used, by the MCP library"),
    ("win32/scripts", "the same"),
    ("win32/test", "the same"),
    ("win32com*", "the same"),
    ("adodbapi", "the same"),
    ("isapi", "the same"),
    ("pythonwin", "the same"),
    ("PyWin32.chm", "the same"),
    ("pythoncom.py", "the same"),
    ("pywin32-*.data", "the same"),
    ("novasvg/bin", "a command"),
    ("PIL/_imagingft.*", "letters in pictures, which nothing here draws"),
    ("PIL/_imagingtk.*", "pictures in another kind of windows"),
    ("pillow.libs/libfreetype-*", "only for letters in pictures"),
    ("pillow.libs/libharfbuzz-*", "the same"),
    ("pillow.libs/libbrotli*", "the same"),
)

UNCOMPILED = "litellm/proxy"
"""litellm's own server: its sources stay, for a few of them are loaded with the rest, but 19 MB of bytecode would lie
there unread."""
COMPILED = (
    "__init__",
    "_experimental/mcp_server/stdio_gate",
    "_types",
    "common_utils/config_sync_pubsub",
    "common_utils/encrypt_decrypt_utils",
    "guardrails/exception_utils",
    "openai_files_endpoints/common_utils",
    "pass_through_endpoints/llm_provider_handlers/typesafe_passthrough_logging_handler",
    "spend_tracking/cold_storage_handler",
    "spend_tracking/savings",
    "types_utils/utils",
)
"""Those few. A build in which another one is loaded says so (`proving.py`)."""

STANDARD_LIBRARY = (
    ("config-*", "for building Python"),
    ("ensurepip", "installs pip"),
    ("idlelib", "an editor"),
    ("lib2to3", "translates Python 2"),
    ("pydoc_data", "the text of Python's manual"),
    ("site-packages", "what was installed on the machine that builds"),
    ("test", "tests"),
    ("*/test", "tests"),
    ("*/tests", "tests"),
    ("tkinter", "another kind of windows"),
    ("turtledemo", "another kind of windows"),
    ("turtle.py", "another kind of windows"),
    ("venv", "makes environments, with ensurepip"),
    ("__phello__", "a test"),
    ("lib-dynload/_tkinter.*", "another kind of windows"),
    ("lib-dynload/_curses*", "windows in a terminal"),
    ("curses", "the same"),
    ("lib-dynload/readline.*", "GNU readline, whose licence does not go with the rest"),
    ("lib-dynload/_gdbm.*", "GNU dbm, whose licence does not go with the rest"),
    ("lib-dynload/_dbm.*", "Berkeley DB, whose licence does not go with the rest"),
    ("lib-dynload/nis.*", "an old directory service, with libraries of its own"),
    ("lib-dynload/ossaudiodev.*", "sound of old Unix"),
    ("lib-dynload/_crypt.*", "passwords of Unix, with a library of its own"),
    ("lib-dynload/_test*", "tests"),
    ("lib-dynload/_ctypes_test.*", "tests"),
    ("lib-dynload/_xxtestfuzz.*", "tests"),
    ("lib-dynload/xxlimited*", "tests"),
)


def prune_packages(packages: Path) -> None:
    """Of what pip installed."""
    _take_of_qt(packages / "PySide6")
    prune_amazon(packages / "botocore" / "data")
    prune_table(packages, PACKAGES)
    for folder in sorted(packages.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def prune_standard_library(folder: Path) -> None:
    """Of the interpreter's own library."""
    prune_table(folder, STANDARD_LIBRARY)
    for cache in list(folder.rglob("__pycache__")):
        shutil.rmtree(cache)


def prune_bytecode(packages: Path) -> None:
    """Of what is never loaded."""
    place = packages / UNCOMPILED
    kept = {place / name for name in COMPILED}
    for path in list(place.rglob("*.pyc")):
        if path.parent.parent / path.name.partition(".")[0] not in kept:
            path.unlink()
    for cache in list(place.rglob("__pycache__")):
        if not any(cache.iterdir()):
            cache.rmdir()


def mend_records(packages: Path, only: str = "*.dist-info") -> None:
    """What the packages' own lists (RECORD) say is what is here: files that were left out go, and what was made smaller
    has its new digest."""
    for record in sorted(packages.glob(f"{only}/RECORD")):
        lines = [line.rsplit(",", 2)[0].strip('"') for line in record.read_text("utf-8").splitlines() if line]
        kept = [name for name in sorted(set(lines)) if (packages / name).is_file() and not name.endswith(".pyc")]
        record.write_text("".join(f"{_recorded(packages, name, record)}\n" for name in kept), encoding="utf-8")


def _recorded(packages: Path, name: str, record: Path) -> str:
    if packages / name == record:
        return f"{name},,"
    content = (packages / name).read_bytes()
    digest = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    quoted = f'"{name}"' if "," in name else name
    return f"{quoted},sha256={digest},{len(content)}"


def prune_table(folder: Path, table: Iterable[tuple[str, str]]) -> None:
    """Remove what the patterns of a table name."""
    for pattern, _reason in table:
        found = folder.rglob(pattern[2:]) if pattern.startswith("*/") else folder.glob(pattern)
        if pattern.startswith("*."):
            found = folder.rglob(pattern)
        for path in list(found):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _take_of_qt(folder: Path) -> None:
    """The modules, the plugins, and whatever libraries these need of those that come with them."""
    plugins = [path for pattern in QT_PLUGINS for path in (folder / "Qt" / "plugins").glob(pattern)]
    taken = {path for pattern in QT_PACKAGE for path in folder.glob(pattern)}
    taken |= {folder / f"{name}.abi3.so" for name in QT_MODULES} | set(plugins)
    libraries = {path.name: path for path in (folder / "Qt" / "lib").iterdir()}
    left = [path for path in taken if elf.is_elf(path)]
    while left:
        for name in elf.needs(left.pop()).libraries:
            found = libraries.pop(name, None)
            if found is not None:
                taken.add(found)
                left.append(found)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path not in taken:
            path.unlink()


def prune_amazon(folder: Path) -> None:
    """Of Amazon's descriptions those that are used."""
    kept = {path for pattern in AWS_SERVICES for path in folder.glob(pattern)}
    for path in folder.iterdir():
        if path.is_dir() and path not in kept:
            shutil.rmtree(path)
