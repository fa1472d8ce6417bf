"""What names mean on Windows: the same wherever it is asked, so it is tried here."""

import pytest

from desktop.systems.windows_names import absolute, as_posix, harmless, is_device, name_problem, path_problem

DEVICES = [
    *("con", "PRN", "aux", "NUL", "conin$", "CONOUT$", "clock$"),
    *(f"{kind}{one}" for kind in ("com", "LPT") for one in "0123456789¹²³"),
]


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("end", ["", ".txt", " .log", ".tar.gz", ".", " ", " . "])
def test_a_device_is_one_whatever_its_ending(name: str, end: str) -> None:
    assert is_device(name + end)
    assert path_problem(f"C:\\Users\\ada\\{name}{end}")
    assert path_problem(f"notes/{name}{end}/x.txt")


@pytest.mark.parametrize("name", ["COM⁴", "com⁰", "COM₁", "com10", "lpt", "console", "nullify.txt", "acon", "com1x"])
def test_what_only_looks_like_a_device_is_a_name(name: str) -> None:
    """Windows takes the superscripts of Latin-1 alone."""
    assert not is_device(name)
    assert name_problem(name) == ""


@pytest.mark.parametrize(
    ("path", "base", "meant"),
    [
        ("notes.txt", "C:\\work", "C:\\work\\notes.txt"),
        ("D:\\notes.txt", "C:\\work", "D:\\notes.txt"),
        ("D:/notes.txt", "C:\\work", "D:/notes.txt"),
        ("\\Windows\\win.ini", "C:\\work", "C:\\Windows\\win.ini"),
        ("/Windows/win.ini", "D:\\work", "D:/Windows/win.ini"),
        ("\\\\server\\share\\x", "C:\\work", "\\\\server\\share\\x"),
        ("..\\x", "C:\\work", "C:\\work\\..\\x"),
        ("~", "C:\\work", "C:\\work\\~"),
    ],
)
def test_a_path_is_meant_from_its_folder_on(path: str, base: str, meant: str) -> None:
    assert absolute(path, base) == meant


@pytest.mark.parametrize("path", ["C:notes.txt", "D:notes.txt", "c:..\\x", "C:"])
def test_a_path_that_hangs_on_a_drives_own_folder_is_refused(path: str) -> None:
    """Where it leads, the process decides that happens to run; another drive's is not ours to know."""
    assert path_problem(path) == "is relative to a drive"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("\\\\server\\share", "network or device"),
        ("//server/share", "network or device"),
        ("\\\\.\\PhysicalDrive0", "network or device"),
        ("\\\\?\\C:\\x", "network or device"),
        ("C:\\x.txt:stream", "stream"),
        ("C:\\x\\y::$DATA", "stream"),
        ("C:\\x.\\y", "dot or a space"),
        ("C:\\x \\y", "dot or a space"),
        ("C:\\...\\y", "dot or a space"),
        ("x\x00y", ""),
        ("a\x1fb", "character"),
        ("a*b", "character"),
        ('a"b', "character"),
    ],
)
def test_a_name_that_means_something_else_is_refused(path: str, why: str) -> None:
    assert why in path_problem(path)


@pytest.mark.parametrize(
    "path", ["C:\\Users\\ada\\x.txt", "C:/Users/ada", "..\\x", "./x", "a/.hidden/b c.d", "C:\\", "~\\x"]
)
def test_usual_paths_are_not_refused(path: str) -> None:
    assert path_problem(path) == ""


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("tides.md", "tides.md"),
        ("Nul.md", "_Nul.md"),
        ("COM¹", "_COM¹"),
        ("a:b", "a_b"),
        ("..", "_"),
        ("", "_"),
        (" . ", "_"),
        ("a/b\\c", "a_b_c"),
        ('what?*<>|"', "what______"),
        ("x. .", "x"),
        ("con .", "_con"),
        ("aux:", "aux_"),
        ("a\x01b", "a_b"),
    ],
)
def test_a_name_from_outside_becomes_one_that_means_nothing_else(name: str, made: str) -> None:
    assert harmless(name) == made


@pytest.mark.parametrize(
    "name", [*DEVICES, "a:b", "..", "", "x.", "x ", "\x01", "a/b", "\\\\server", "NUL.txt.", "con. "]
)
def test_a_harmless_name_has_no_problem_and_stays_as_it_is(name: str) -> None:
    made = harmless(name)
    assert name_problem(made) == ""
    assert harmless(made) == made


def test_names_are_compared_with_forward_slashes() -> None:
    assert as_posix("C:\\a/b\\c") == "C:/a/b/c"
