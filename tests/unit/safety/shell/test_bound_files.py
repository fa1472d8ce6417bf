"""A file that a command would run, or take its orders from, is held to what it was when the command was shown."""

from __future__ import annotations

import pytest

from tests.unit.safety.world import World

RUN = [
    ("cat s.sh | bash", "s.sh"),
    ("cat s.sh | tac | bash -s x", "s.sh"),
    ("cat < s.sh | sh", "s.sh"),
    ("sed p s.sh | bash", "s.sh"),
    ("head -5 s.sh | python3", "s.sh"),
    ("bash < s.sh", "s.sh"),
    (". s.sh", "s.sh"),
    ("tail -n 5 s.sh | python3 -", "s.sh"),
    ("cat s.sh | xargs -0 sh -c", "s.sh"),
    ("bash s.sh", "s.sh"),
    ("find . -name q -exec ./s.sh {} +", "s.sh"),
    ("find . -exec bash s.sh {} \\;", "s.sh"),
    ("find . -execdir python3 s.sh {} \\;", "s.sh"),
    ("fd -x ./s.sh", "s.sh"),
    ("fd -Hx bash s.sh", "s.sh"),
    ("xargs ./s.sh", "s.sh"),
    ("timeout 5 ./s.sh", "s.sh"),
    ("cd d && ./s.sh", "d/s.sh"),
    ("cd d; make", "d/Makefile"),
    ("sed -f s.sh f", "s.sh"),
    ("sed -nf s.sh f", "s.sh"),
    ("sed --fi=s.sh f", "s.sh"),
    ("sed -fs.sh f", "s.sh"),
    ("awk -f s.sh f", "s.sh"),
    ("awk -fs.sh f", "s.sh"),
    ("awk -vx=1 -f s.sh f", "s.sh"),
    ("awk --fi=s.sh f", "s.sh"),
    ("make", "Makefile"),
    ("make", "makefile"),
    ("make all", "GNUmakefile"),
    ("make -f s.sh", "s.sh"),
    ("make -C d", "d/Makefile"),
    ("make --dir=d", "d/Makefile"),
    ("make -sCd", "d/Makefile"),
    ("npm test", "package.json"),
    ("npm run x", "package.json"),
    ("npm run x", ".npmrc"),
    ("yarn x", "package.json"),
    ("npm --prefix d test", "d/package.json"),
    ("npm -C d test", "d/package.json"),
    ("npx x", "package.json"),
    ("node .", "package.json"),
    ("node d", "d/index.js"),
    ("python3 d", "d/__main__.py"),
    ("pytest t.py", "t.py"),
    ("pytest t.py", "conftest.py"),
    ("pytest d/t.py::test_x", "d/t.py"),
    ("pytest d/t.py", "d/conftest.py"),
    ("pytest d", "d/conftest.py"),
    ("pytest", "pyproject.toml"),
    ("python3 -m pytest d/t.py", "d/conftest.py"),
    ("python3 -m pytest", "pytest.py"),
    ("pytest -q", "pytest.ini"),
    ("python3 -m mod", "mod.py"),
    ("python3 -m mod", "mod/__main__.py"),
    ("python3 -Im mod", "mod.py"),
    ("python3 -m mod.sub", "mod/sub.py"),
    ("python3 -m mod.sub", "mod/__init__.py"),
    ("python3 -mmod", "mod.py"),
    ("PATH=.:$PATH tool", "tool"),
    ("PATH=d:$PATH tool", "d/tool"),
    ("export PATH=./d:$PATH; tool x", "d/tool"),
    ("PATH=$PWD/d:$PATH tool", "d/tool"),
    ("env PATH=d tool", "d/tool"),
    ("PATH=:$PATH tool", "tool"),
    ("git apply p.patch", "p.patch"),
    ("git am p.patch", "p.patch"),
    ("git apply < p.patch", "p.patch"),
    ("cat p.patch | git apply", "p.patch"),
    ("patch -p1 < p.patch", "p.patch"),
    ("patch -p1 -i p.patch", "p.patch"),
    ("patch -ip.patch", "p.patch"),
    ("patch --input=p.patch", "p.patch"),
    ("cat p.patch | patch -p1", "p.patch"),
    ("tar xf a.tar", "a.tar"),
    ("tar -xfa.tar", "a.tar"),
    ("tar -C d -xf a.tar", "a.tar"),
    ("tar x < a.tar", "a.tar"),
    ("tar xf a.tar -C d", "a.tar"),
    ("cat a.tar | tar x", "a.tar"),
    ("unzip a.tar -d d", "a.tar"),
    ("tar --extract --file=a.tar", "a.tar"),
    ("tar cf b.tar -T s.sh", "s.sh"),
    ("sqlite3 -init s.sh x.db", "s.sh"),
    ("sqlite3 x.db < s.sh", "s.sh"),
    ("cat s.sh | sqlite3 x.db", "s.sh"),
    ("psql -f s.sh", "s.sh"),
    ("psql -fs.sh", "s.sh"),
    ("mysql < s.sh", "s.sh"),
    ("jq -f s.sh f", "s.sh"),
    ("gdb -x s.sh", "s.sh"),
    ("vim -S s.sh", "s.sh"),
    ("vim -es f", ".exrc"),
    ("m4 s.sh", "s.sh"),
    ("ed f < s.sh", "s.sh"),
    ("gnuplot s.sh", "s.sh"),
    ("curl -K s.sh", "s.sh"),
    ("wget -i s.sh", "s.sh"),
    ("cargo test", "Cargo.toml"),
    ("cargo build", "build.rs"),
    ("go test ./...", "go.mod"),
    ("just x", "justfile"),
    ("tox", "tox.ini"),
    ("nox", "noxfile.py"),
    ("rake", "Rakefile"),
    ("cmake .", "CMakeLists.txt"),
    ("pip install .", "setup.py"),
    ("docker build .", "Dockerfile"),
    ("gradle build", "build.gradle"),
    ("ansible-playbook s.sh", "s.sh"),
    ("tool s.sh", "s.sh"),
    ("tool --config=s.sh", "s.sh"),
    ("tool -cs.sh", "s.sh"),
    ("perl s.sh", "s.sh"),
    ("ruby s.sh", "s.sh"),
    ("php s.sh", "s.sh"),
    ("script -qc ./s.sh /dev/null", "s.sh"),
    ("nohup ./s.sh &", "s.sh"),
    ("bash --rcfile s.sh -i", "s.sh"),
    ("bash --init-file s.sh -i", "s.sh"),
    ("perl -I d s.sh", "s.sh"),
    ("python3 -X dev s.sh", "s.sh"),
    ("git config -f s.sh x.y z", "s.sh"),
    ("jest", "package.json"),
    ("pre-commit run", ".pre-commit-config.yaml"),
    ("ninja", "build.ninja"),
]
UNKNOWN = [
    "git show x:y | bash",
    "ls *.sh | xargs python3",
    "find . -name x -exec {} \\;",
    "find . -exec bash {} \\;",
    "find . -name x -exec python3 {} +",
    "fd -x python3",
    "read PATH < f; tool",
    "PATH=$X tool",
    "tool2 | python3 -",
]


@pytest.fixture
def furnished(world: World) -> World:
    (world.workspace / "d").mkdir()
    for name in ("s.sh", "p.patch", "a.tar", "t.py", "d/t.py", "d/s.sh", "f", "x.db"):
        (world.workspace / name).write_text("first\n")
        (world.workspace / name).chmod(0o755)
    return world


@pytest.mark.spec("R-PRM-5")
@pytest.mark.parametrize(("command", "name"), RUN, ids=lambda value: value)
def test_what_it_runs_was_the_same_when_it_was_shown(furnished: World, command: str, name: str) -> None:
    before = furnished.reader.read_now(command).states
    path = furnished.workspace / name
    path.parent.mkdir(exist_ok=True)
    (path.parent / "swapped").write_text("other content\n")
    (path.parent / "swapped").rename(path)
    after = furnished.reader.read_now(command).states
    assert before.get(str(path)) is not None
    assert before.get(str(path)) != after.get(str(path))


@pytest.mark.spec("R-PRM-5", "R-BLK-5")
@pytest.mark.parametrize("command", UNKNOWN)
def test_what_cannot_be_known_is_admin_and_said(furnished: World, command: str) -> None:
    reading = furnished.reader.read_now(command)
    assert reading.category.value == "admin"
    assert "compared" in " ".join(judgement.note for judgement in reading.judgements), reading


@pytest.mark.spec("R-PRM-5")
@pytest.mark.parametrize("command", ["make", "npm test", "pytest -q", "python3 t.py"])
def test_what_is_not_held_is_said_without_making_it_admin(furnished: World, command: str) -> None:
    reading = furnished.reader.read_now(command)
    assert reading.category.value == "write"
    assert "may change unseen" in reading.judgements[0].note


@pytest.mark.spec("R-PRM-5")
def test_more_files_than_are_held_make_it_admin(furnished: World) -> None:
    few, many = ("pytest -q " + " ".join(f"a{n}/b{n}/test_it.py" for n in range(count)) for count in (100, 200))
    assert furnished.reader.read_now(few).category.value == "write"
    reading = furnished.reader.read_now(many)
    assert "more files than are compared" in reading.raised_because
