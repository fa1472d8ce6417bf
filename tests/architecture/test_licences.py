"""The licences of all that is handed out: known, allowed, with their texts, and listed as they are."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from devlib.licences import command, notices, tree
from devlib.licences.collector import Collector, Inputs
from devlib.licences.expressions import NotAllowed, NotReadable, chosen
from devlib.licences.listing import differences, missing_texts, read_list, write_list
from devlib.licences.wheels import installed, read_lock
from devlib.words import Stop

ROOT = Path(__file__).resolve().parents[2]
MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy"


def _wheel(
    site: Path,
    name: str = "soup",
    *,
    metadata: str = "License-Expression: MIT",
    texts: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> None:
    """Lays a wheel down as pip does."""
    folder = site / f"{name}-1.0.dist-info"
    written = {f"{folder.name}/licenses/{title}": text.encode() for title, text in (texts or {}).items()}
    written |= dict(files or {})
    written[f"{folder.name}/METADATA"] = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{metadata}\n".encode()
    for path, content in written.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(content)
    (folder / "RECORD").write_text("".join(f"{path},,\n" for path in written), "utf-8")


def _collected(
    tmp_path: Path, decisions: str = "", lock: str = "soup==1.0 \\\n    --hash=sha256:0\n", system: str = "linux"
) -> Collector:
    """What is found in a small environment: our table of licences, the decisions of the test."""
    ours = (ROOT / "packaging/licences/decisions.toml").read_text("utf-8")
    allowed = ours.partition("[spellings]")[0]
    interpreter = '[interpreter]\nlicence = "Python-2.0.1"\ncopyright = ""\nsource = ""\ntexts = []\nrefused = {}\n'
    folder = tmp_path / "licences"
    shutil.copytree(ROOT / "packaging/licences/texts", folder / "texts", dirs_exist_ok=True)
    (folder / "decisions.toml").write_text(f"{allowed}\n{decisions}\n{interpreter}", "utf-8")
    (tmp_path / "a.lock").write_text(lock, "utf-8")
    (tmp_path / "resources").mkdir(exist_ok=True)
    locked = read_lock(tmp_path / "a.lock")
    read = command.read_decisions(folder / "decisions.toml")
    return Collector(Inputs(installed(tmp_path / "site", locked), locked, read, folder, tmp_path, system))


@pytest.fixture(scope="module")
def ours() -> Collector:
    return command.collected()


@pytest.mark.spec("R-PKG-2")
def test_every_licence_of_what_we_hand_out_is_known_and_allowed_and_has_its_text(ours: Collector) -> None:
    assert ours.problems == []
    assert all(one.used and one.texts for one in ours.components)


@pytest.mark.spec("R-PKG-2")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="wheels of other systems hold other libraries")
def test_the_list_in_resources_is_what_is_handed_out(ours: Collector) -> None:
    locked = read_lock(command.LOCK)
    not_here = set(locked) - set(installed(command.site_packages(), locked))
    assert differences(command.LISTED, ours.components, ours.texts.kept, not_here) == []


def test_each_row_has_a_text_and_each_text_a_row() -> None:
    assert missing_texts(command.LISTED) == []


def test_every_wheel_of_the_lock_has_a_row(ours: Collector) -> None:
    named = {one.purl for one in ours.components}
    wanted = {f"pkg:pypi/{one.name}@{one.version}" for one in read_lock(command.LOCK).values()}
    never = {f"pkg:pypi/{name}" for name, one in command.decided().wheels.items() if one.never}
    assert {one for one in wanted - named if one.partition("@")[0] not in never} == set()


def test_pillow_holds_none_of_the_libraries_that_its_own_list_names_besides() -> None:
    """Its list names libraries under the GPL and LGPL that it can be built with."""
    from PIL import features  # noqa: PLC0415 -- a heavy import, for this test alone

    assert not features.check("libimagequant")


def test_a_wheel_with_licence_and_text_is_in_order(tmp_path: Path) -> None:
    _wheel(tmp_path / "site", texts={"LICENSE": MIT})
    found = _collected(tmp_path)
    assert found.problems == []
    assert [(one.name, one.used) for one in found.components] == [("soup", ("MIT",))]
    assert found.texts.kept[found.components[0].texts[0]] == MIT


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ("License-Expression: GPL-3.0-only", "GPL-3.0-only is not among the licences that are allowed"),
        ("License-Expression: MIT AND AGPL-3.0-or-later", "AGPL-3.0-or-later is not among"),
        ("License-Expression: LGPL-3.0-only", "LGPL-3.0-only is allowed only in pyside6-essentials"),
        ("License-Expression: SSPL-1.0", "SSPL-1.0 is not among"),
        ("License: ask me", "its licence is not known: it says"),
        ("Summary: nothing at all", "its licence is not known: it says nothing"),
        ("License-Expression: MPL-2.0", "asks that people are told where the source is"),
    ],
)
def test_a_licence_that_is_unknown_or_not_allowed_stops_the_build(tmp_path: Path, metadata: str, said: str) -> None:
    _wheel(tmp_path / "site", metadata=metadata, texts={"LICENSE": MIT})
    assert any(said in one for one in _collected(tmp_path).problems)


def test_a_choice_with_one_allowed_way_is_taken(tmp_path: Path) -> None:
    _wheel(tmp_path / "site", metadata="License-Expression: GPL-2.0-only OR Apache-2.0", texts={"LICENSE": MIT})
    found = _collected(tmp_path)
    assert found.problems == []
    assert found.components[0].used == ("Apache-2.0",)


def test_a_missing_text_stops_the_build(tmp_path: Path) -> None:
    _wheel(tmp_path / "site")
    assert _collected(tmp_path).problems == ["soup: it has no text of its licence."]


def test_a_text_of_another_licence_than_the_wheel_says_stops_the_build(tmp_path: Path) -> None:
    _wheel(tmp_path / "site", texts={"LICENSE": "            GNU GENERAL PUBLIC LICENSE\n              Version 3"})
    assert any("holds a text of GPL, and it says that it is MIT" in one for one in _collected(tmp_path).problems)


@pytest.mark.parametrize("path", ["soup/_fast.cpython-311.so", "soup/tool", "soup/letters.ttf", "soup/page.js"])
def test_what_nobody_looked_into_stops_the_build(tmp_path: Path, path: str) -> None:
    _wheel(tmp_path / "site", texts={"LICENSE": MIT}, files={path: b"\x7fELF\x02\x01\x01\x00"})
    assert any("that nobody looked into" in one and path in one for one in _collected(tmp_path).problems)


def test_another_version_than_the_one_that_was_looked_into_stops_the_build(tmp_path: Path) -> None:
    _wheel(tmp_path / "site", texts={"LICENSE": MIT}, files={"soup/_fast.so": b"\x7fELF"})
    right = _collected(tmp_path, '[wheels.soup]\nseen = "1.0"\nnatives = ["soup/*"]')
    assert right.problems == []
    wrong = _collected(tmp_path, '[wheels.soup]\nseen = "0.9"\nnatives = ["soup/*"]')
    assert wrong.problems == ["soup: somebody looked into 0.9, and 1.0 is handed out."]


def test_a_crate_that_no_list_names_stops_the_build(tmp_path: Path) -> None:
    code = b"\x7fELF\x00/root/registry/src/index-0a1b/salt-1.2.3/src/lib.rs\x00"
    _wheel(tmp_path / "site", texts={"LICENSE": MIT}, files={"soup/_fast.so": code})
    decided = '[wheels.soup]\nseen = "1.0"\nnatives = ["soup/*"]\n'
    assert any("names crates that no list has: salt" in one for one in _collected(tmp_path, decided).problems)
    decided += 'parts = [{ name = "salt", version = "1.2.3", licence = "MIT" }]'
    assert _collected(tmp_path, decided).problems == []


def test_a_crate_that_a_build_on_windows_names_is_seen_too(tmp_path: Path) -> None:
    code = b"MZ\x00C:\\cargo\\registry\\src\\index-0a1b\\salt-1.2.3\\src\\lib.rs\x00"
    _wheel(tmp_path / "site", texts={"LICENSE": MIT}, files={"soup/_fast.pyd": code})
    decided = '[wheels.soup]\nseen = "1.0"\nnatives = ["soup/*"]\n'
    assert any("names crates that no list has: salt" in one for one in _collected(tmp_path, decided).problems)


def test_a_part_that_only_one_systems_wheel_has_is_listed_there_alone(tmp_path: Path) -> None:
    _wheel(tmp_path / "site", texts={"LICENSE": MIT})
    decided = '[wheels.soup]\nparts = [{ name = "salt", licence = "MIT", systems = ["windows"] }]'
    assert [one.name for one in _collected(tmp_path, decided).components] == ["soup"]
    assert {one.name for one in _collected(tmp_path, decided, system="windows").components} == {"soup", "salt"}


def test_the_text_of_a_licence_that_its_author_offers_beside_another_is_explained(tmp_path: Path) -> None:
    _wheel(tmp_path / "site", texts={"LICENSE": "    GNU GENERAL PUBLIC LICENSE\n"})
    decided = '[wheels.soup]\nchoices = { GPL = "salt offers MIT or GPL; MIT is taken" }'
    assert _collected(tmp_path, decided).problems == []


def test_a_part_in_the_wheels_own_list_is_judged_like_a_wheel(tmp_path: Path) -> None:
    part = '{"components": [{"name": "salt", "version": "2", "licenses": [{"license": {"id": "GPL-3.0-or-later"}}]}]}'
    path = "soup-1.0.dist-info/sboms/soup.cyclonedx.json"
    _wheel(tmp_path / "site", texts={"LICENSE": MIT}, files={path: part.encode()})
    assert any(one.startswith("soup, salt: GPL-3.0-or-later is not among") for one in _collected(tmp_path).problems)
    (tmp_path / "site" / path).write_text('{"components": [{"name": "salt"}]}', "utf-8")
    assert any("lists it without a licence" in one for one in _collected(tmp_path).problems)


def test_a_wheel_that_is_only_for_other_systems_needs_a_decision(tmp_path: Path) -> None:
    lock = "soup==1.0 ; sys_platform == 'win32' \\\n    --hash=sha256:0\n"
    (tmp_path / "site").mkdir()
    assert any("the decisions have to say its licence" in one for one in _collected(tmp_path, "", lock).problems)
    decided = '[wheels.soup]\nelsewhere = "Windows"\nlicence = "MIT"\nstandard_text = true'
    assert _collected(tmp_path, decided, lock).problems == []


def test_a_wheel_that_is_not_installed_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    assert _collected(tmp_path).problems == ["soup: the lock names it, and it is not installed here."]


def test_a_font_of_ours_without_a_decision_stops_the_build(tmp_path: Path) -> None:
    _wheel(tmp_path / "site", texts={"LICENSE": MIT})
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources/Fine.otf").write_bytes(b"OTTO")
    assert _collected(tmp_path).problems == ["resources/Fine.otf: nobody wrote down its licence."]


def test_a_word_in_the_decisions_that_means_nothing_is_refused(tmp_path: Path) -> None:
    _wheel(tmp_path / "site", texts={"LICENSE": MIT})
    with pytest.raises(Stop, match="has no key “licens”"):
        _collected(tmp_path, '[wheels.soup]\nlicens = "MIT"')


def test_a_list_that_is_not_of_today_is_noticed(tmp_path: Path) -> None:
    _wheel(tmp_path / "site", texts={"LICENSE": MIT})
    found = _collected(tmp_path)
    listed = tmp_path / "list"
    write_list(listed, found.components, found.texts.kept)
    assert differences(listed, found.components, found.texts.kept, ()) == []
    (listed / "texts" / f"{found.components[0].texts[0]}.txt").write_text("other words", "utf-8")
    assert len(differences(listed, found.components, found.texts.kept, ())) == 1
    (listed / "texts" / f"{found.components[0].texts[0]}.txt").unlink()
    assert any("is not there" in one for one in missing_texts(listed))


def test_the_plain_text_for_packages_names_every_part_and_holds_every_text() -> None:
    said = notices.notices(command.LISTED, "Assent")
    rows = read_list(command.LISTED)
    assert [row.name for row in rows if f"{row.name} {row.version}".strip() not in said] == []
    texts = {path.stem: path.read_text("utf-8").strip() for path in (command.LISTED / "texts").glob("*.txt")}
    assert [name for name, text in texts.items() if text not in said] == []


def test_debians_file_has_a_paragraph_for_every_part_and_for_every_licence() -> None:
    said = notices.debian_copyright(command.LISTED, "Assent", "LicenseRef-not-chosen")
    paragraphs = [paragraph.splitlines() for paragraph in said.split("\n\n")]
    files = [one for one in paragraphs if one[0].startswith("Files: ")]
    assert len(files) == 1 + len(read_list(command.LISTED))
    alone = {one[0] for one in paragraphs if one[0].startswith("License: ")}
    used = {line for one in files[1:] for line in one if line.startswith("License: ")}
    assert used - alone == set()
    assert all(line.startswith((" ", "Files:", "License:", "Copyright:", "Comment:")) for one in files for line in one)


@pytest.mark.parametrize(
    ("expression", "taken"),
    [
        ("MIT", ("MIT",)),
        ("GPL-2.0-only OR (Zlib AND MIT)", ("MIT", "Zlib")),
        ("(MIT OR GPL-2.0-only) AND Zlib", ("MIT", "Zlib")),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", ("Apache-2.0 WITH LLVM-exception",)),
        ("Zlib OR MIT", ("MIT",)),
    ],
)
def test_expressions_are_read_as_their_authors_mean_them(expression: str, taken: tuple[str, ...]) -> None:
    assert chosen(expression, ["MIT", "Apache-2.0 WITH LLVM-exception", "Zlib"]) == taken


@pytest.mark.parametrize(
    "expression", ["Apache-2.0", "MIT WITH fancy", "MIT AND GPL-2.0-only", "Apache-2.0 OR GPL-2.0-only"]
)
def test_what_is_not_allowed_is_not_taken(expression: str) -> None:
    with pytest.raises(NotAllowed):
        chosen(expression, ["MIT"])


@pytest.mark.parametrize("expression", ["", "MIT OR", "(MIT", "MIT)", "MIT Zlib", "AND", "MIT, really", "M" * 501])
def test_what_is_no_expression_is_no_licence(expression: str) -> None:
    with pytest.raises(NotReadable):
        chosen(expression, ["MIT"])


class TestTree:
    """A finished tree, as the package command looks at it."""

    @staticmethod
    def _tree(tmp_path: Path) -> Path:
        root = tmp_path / "assent/versions/1"
        shutil.copytree(command.LISTED, root / "resources/licences")
        (root / "lib/python3.11/lib-dynload").mkdir(parents=True)
        (root / "lib/python3.11/site-packages/PySide6/Qt/lib").mkdir(parents=True)
        (root / "lib/python3.11/os.py").write_text("", "utf-8")
        (root / "lib/python3.11/lib-dynload/zlib.cpython-311.so").write_bytes(b"\x7fELF")
        (root / "lib/libz.so.1").write_bytes(b"\x7fELF")
        (root / "lib/python3.11/site-packages/pillow.libs").mkdir()
        (root / "lib/python3.11/site-packages/pillow.libs/libxcb-9065bb12.so.1.1.0").write_bytes(b"\x7fELF")
        for name in ("PySide6_Essentials-6.11.3", "shiboken6-6.11.3", "mmdr-0.4.0", "assent-0.1.0"):
            package = root / f"lib/python3.11/site-packages/{name}.dist-info"
            package.mkdir(parents=True)
            (package / "METADATA").write_text(f"Name: {name.partition('-')[0]}\n", "utf-8")
        tree.add_to(root, root / "resources", "3.11.7")
        return root

    def test_one_whose_parts_are_all_listed_is_in_order(self, tmp_path: Path) -> None:
        root = self._tree(tmp_path)
        shown = "lib/python3.11/site-packages/PySide6/Qt/lib/libQt6Core.so.6"
        (root / shown).write_bytes(b"\x7fELF")
        ours = root / "lib/python3.11/site-packages/resources/fonts"
        shutil.copytree(ROOT / "resources/fonts", ours)
        assert tree.problems_of(root) == []

    @pytest.mark.parametrize(
        ("path", "said"),
        [
            ("lib/python3.11/site-packages/PySide6/Qt/lib/libQt6WaylandCompositor.so.6", "GPL-3.0-only"),
            ("lib/python3.11/site-packages/PySide6/designer", "GPL-3.0-only"),
            ("lib/python3.11/site-packages/litellm/rust_bridge/_native.abi3.so", "the wheel says neither which"),
            ("lib/python3.11/site-packages/soup/_fast.so", "no wheel of the lock has it"),
            ("lib/python3.11/lib-dynload/readline.cpython-311.so", "GNU readline is GPL-3.0-or-later"),
            ("lib/libreadline.so.8", "GNU readline is GPL-3.0-or-later"),
            ("lib/libsoup.so.2", "nobody wrote down what it is"),
            ("bin/soup", "nobody wrote down what it is"),
            ("share/fonts/Fine.ttf", "nobody wrote down its licence"),
            ("lib/python3.11/site-packages/resources/fonts/Fine.ttf", "nobody wrote down its licence"),
            ("lib/python3.11/site-packages/desktop/_fast.so", "nobody wrote down what it is"),
        ],
    )
    def test_what_may_not_be_in_it_is_named(self, tmp_path: Path, path: str, said: str) -> None:
        root = self._tree(tmp_path)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"\x7fELF")
        found = tree.problems_of(root)
        assert [said in one and path in one for one in found] == [True]

    def test_its_list_names_what_lies_in_it_and_nothing_else(self, tmp_path: Path) -> None:
        root = self._tree(tmp_path)
        rows = {one.name: one for one in read_list(root / "resources/licences")}
        assert {"PySide6_Essentials", "mmdr", "HarfBuzz-NG", "merman-elk-layered", "Inter", "Python", "zlib"} <= set(
            rows
        )
        assert {"litellm", "hf-xet", "cryptography", "openssl", "assent", "libxcb"} & set(rows) == set()
        assert rows["Python"].version == "3.11.7"

    def test_a_package_that_the_list_does_not_name_is_refused(self, tmp_path: Path) -> None:
        root = self._tree(tmp_path)
        package = root / "lib/python3.11/site-packages/soup-1.0.dist-info"
        package.mkdir()
        (package / "METADATA").write_text("Metadata-Version: 2.4\nName: soup\n", "utf-8")
        assert tree.problems_of(root) == ["resources/licences: soup is in the tree, and not in the list."]

    def test_one_without_the_list_is_refused(self, tmp_path: Path) -> None:
        root = self._tree(tmp_path)
        shutil.rmtree(root / "resources/licences")
        assert any("The list of licences" in one for one in tree.problems_of(root))

    def test_one_whose_interpreter_is_not_listed_is_refused(self, tmp_path: Path) -> None:
        root = self._tree(tmp_path)
        (root / "resources/licences/folder.json").unlink()
        found = tree.problems_of(root)
        assert any("Python is in the tree, and not in the list" in one for one in found)
        assert any("zlib is in the tree" in one for one in found)


class TestTreeOfAnotherSystem:
    """What an installer for Windows or a bundle for macOS holds."""

    @staticmethod
    def _tree(tmp_path: Path, files: Mapping[str, str]) -> Path:
        root = tmp_path / "tree"
        for name, says in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(says, "utf-8")
        shutil.copytree(command.LISTED, root / "resources/licences")
        return root

    @pytest.mark.spec("R-PKG-3")
    def test_the_libraries_in_a_python_for_windows_are_listed_those_that_no_file_shows_too(
        self, tmp_path: Path
    ) -> None:
        names = ("python.exe", "python311.dll", "libcrypto-3.dll", "sqlite3.dll", "libffi-8.dll", "vcruntime140.dll")
        root = self._tree(tmp_path, dict.fromkeys((*names, "_bz2.pyd", "DLLs/_ssl.pyd"), "MZ"))
        tree.add_to(root, root / "resources", "3.11.9", {"OpenSSL": "3.0.13"})
        rows = {one.name: one for one in read_list(root / "resources/licences")}
        shown = {"Python", "OpenSSL", "SQLite", "libffi", "Microsoft Visual C++ runtime", "expat", "libmpdec"}
        assert shown | {"zlib", "bzip2", "liblzma", "NSIS", "LZMA module of NSIS"} <= set(rows)
        assert {"ncurses", "libedit"} & set(rows) == set()
        assert rows["OpenSSL"].version == "3.0.13"
        assert tree.problems_of(root) == []

    @pytest.mark.spec("R-PKG-3")
    @pytest.mark.parametrize("name", ["libsoup-2.dll", "_soup.pyd", "DLLs/tcl86t.dll", "mfc140u.dll"])
    def test_what_nobody_looked_into_stops_the_build(self, tmp_path: Path, name: str) -> None:
        root = self._tree(tmp_path, {"python.exe": "MZ", name: "MZ"})
        tree.add_to(root, root / "resources", "3.11.9")
        assert [name in one and "nobody wrote down what it is" in one for one in tree.problems_of(root)] == [True]

    @pytest.mark.spec("R-PKG-3")
    def test_the_libraries_in_a_python_for_macos_are_listed_though_no_file_shows_them(self, tmp_path: Path) -> None:
        root = self._tree(tmp_path, {"Info.plist": "", "bin/python3.11": "", "lib/python3.11/os.py": ""})
        tree.add_to(root, root / "resources", "3.11.16")
        rows = {one.name for one in read_list(root / "resources/licences")}
        assert {"Python", "OpenSSL", "SQLite", "libffi", "zlib", "bzip2", "liblzma", "ncurses", "libedit"} <= rows
        assert {"NSIS", "Microsoft Visual C++ runtime"} & rows == set()
        assert tree.problems_of(root) == []
