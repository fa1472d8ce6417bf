"""Options that make another thing of a well-known program: judged as what they do, and tried against the programs."""

import shutil
from pathlib import Path

import pytest

from desktop.skills.patterns.commands import command_glob
from tests.unit.safety.shell.bash_oracle import Oracle
from tests.unit.safety.shell.test_reader import corpus
from tests.unit.safety.world import World


@pytest.mark.spec("R-BLK-4", "R-BLK-8")
def test_the_corpus_holds_more_than_five_hundred_different_tricks() -> None:
    found = corpus()
    assert len({command for _, command in found}) == len(found)
    assert sum(outcome != "write" for outcome, _ in found) >= 400
    assert len(found) >= 540


@pytest.mark.spec("R-PRM-11")
@pytest.mark.parametrize(
    ("command", "effect", "said"),
    [
        ("git diff --output=x", "writes", ("--output",)),
        ("git diff --outpu x", "writes", ("--outpu",)),
        ("git diff --output-indicator-new=+", "reads", ()),
        ("git diff --stat", "reads", ()),
        ("find . -fprint x", "writes", ("-fprint",)),
        ("find . -okdir ./x {} \\;", "unknown", ()),
        ("fd -x ./x", "unknown", ("-x",)),
        ("sort -uo x y", "writes", ("-uo",)),
        ("sort -k2 x", "reads", ()),
        ("uniq a b", "writes", ("b",)),
        ("uniq a", "reads", ()),
        ("sed -ni p x", "writes", ("-ni",)),
        ("sed -f x y", "unknown", ("-f",)),
        ("sed -n p x", "reads", ()),
        ("awk -i inplace 1 x", "writes", ("-i",)),
        ("awk -f x y", "unknown", ("-f",)),
        ("yq -i .a=1 x", "writes", ("-i",)),
        ("xxd a b", "writes", ("b",)),
        ("curl -fsSo x https://a.b", "network", ("-fsSo",)),
        ("wget -qO- https://a.b", "network", ("-qO-",)),
        ("git -C sub status", "unknown", ("-C",)),
        ("tar -Pxf a.tar", "writes", ("-P",)),
        ("xmllint --output x y", "writes", ("--output",)),
        ("grep -o x y", "reads", ()),
        ("ls -o", "reads", ()),
        ("man 1 ls", "reads", ()),
        ("man 1 ./x", "unknown", ("/",)),
        ("npm uninstall x", "deletes", ()),
        ("npm run remove", "unknown", ()),
    ],
)
def test_what_an_option_does_is_judged_and_must_be_said_by_a_rule(
    world: World, command: str, effect: str, said: tuple[str, ...]
) -> None:
    reading = world.reader.read_now(command)
    part = reading.parts[0]
    assert (reading.judgements[0].effect, part.said) == (effect, said)
    host = " https://a.b" if "https://a.b" in command else ""
    of_program = command_glob(f"{command.split()[0]} *{host}")
    assert of_program.covers(part) == (not said and not part.hidden), "a rule of the program alone"
    assert reading.reads_only == (effect == "reads")


@pytest.mark.spec("R-PRM-11")
@pytest.mark.parametrize(
    ("command", "rule"),
    [("sort -uo x y", "sort -uo *"), ("git diff --output=x", "git diff --output*"), ("sed -ni p x", "sed -ni *")],
)
def test_a_rule_that_says_the_option_covers_it(world: World, command: str, rule: str) -> None:
    (part,) = world.reader.read_now(command).parts
    assert command_glob(rule).covers(part)
    assert not command_glob(rule.replace("-uo", "-u*").replace("--output", "--*").replace("-ni", "-n*")).covers(part)


@pytest.mark.spec("R-BLK-8")
def test_a_file_that_an_option_writes_is_named_and_bound(world: World) -> None:
    reading = world.reader.read_now("git diff --output=new.py")
    assert str(world.workspace / "new.py") in reading.paths
    assert str(world.workspace / "new.py") in reading.bound
    assert "outside the workspace" in world.reader.read_now(f"sort -o {world.outside}/x y").raised_because
    assert "overwrites" in world.reader.read_now("sort -o note.txt y").raised_because


REAL = [
    "find . -maxdepth 0 -exec rm {} \\;",
    "find . -maxdepth 0 -execdir rm {} +",
    "sed '1e rm x' f",
    "sed 's/h/rm x/e' g",
    "sed 's|h|rm x|e' g",
    "sed -n '/h/ e rm x' g",
    "sed '$!{e rm x\n}' two",
    "awk 'BEGIN{system(\"rm x\")}'",
    "awk 'BEGIN{print 1 | \"rm x\"}'",
    "awk 'BEGIN{\"rm x\" | getline}'",
    "tar cf a.tar f; tar xf a.tar --to-command='rm x'",
    "tar cf b.tar --checkpoint=1 --checkpoint-action=exec='rm x' f",
    "tar -I 'rm x' -cf c.tar f",
    "tar --use-comp='rm x' -cf d.tar f",
    "make -f mk SHELL=rm",
    "make --eval='x:;rm x' x",
    "echo '.shell rm x' | sqlite3 t.db",
    "sqlite3 t.db '.shell rm x'",
    "sqlite3 t.db <<E\n.shell rm x\nE",
    "ed f <<< '!rm x'",
    "echo 'rm x' | xargs -I{} sh -c '{}'",
    "echo 'rm' | xargs sh -c",
    "xargs -a names rm",
    "git -c alias.x='!rm x' x",
    "git -c core.pager='rm x' -p version",
    "GIT_PAGER='rm x' git -p version",
    "git init -q r; git -C r -c core.fsmonitor='rm x' status",
    "split --filter='rm x' f",
    "env -S 'rm x'",
    "git clone -q -u 'rm x' . s",
    "git bisect run rm x; git init -q q; cd q; git rebase -x 'rm x' HEAD",
    "sed -n 's .* rm\\ x e' g",
    "sed -n 's_h_rm x_e' g",
    "sed -n 'sxhxrmxe' g",
    "sed '/h/{e rm x\n}' g",
    "sed --exp='1e rm x' g",
    "git init -q o; cd o; echo x > f; git add f; git grep -nO'rm x;true' x",
    "git clone -qu 'rm x;false' . t",
    "git init -q p; cd p; git -c user.name=a -c user.email=b commit -q --allow-empty -m a; "
    "git -c user.name=a -c user.email=b rebase '-xrm x' --root",
    "sqlite3 t.db '.sh rm x'",
    "sqlite3 t.db '.sy rm x'",
    "sqlite3 t.db '.out |rm x'",
    "tar cIf 'rm x' e.tar f",
    "tar cfI e.tar 'rm x' f",
    "sort --compress-prog=rm -S 1k --parallel=1 big",
    "make -sE 'x:;rm x' x",
    "make -sf mk SHELL=rm",
    "split --fi='rm x' f",
    "git init -q h; printf '#!/bin/sh\\nrm x\\n' > hook; /bin/chmod +x hook; "
    "/bin/cp hook h/.git/hooks/pre-commit; cd h; git -c user.name=a -c user.email=b commit -q --allow-empty -m a",
    "git init -q i; /bin/mkdir i/ci; printf '#!/bin/sh\\nrm x\\n' > i/ci/post-checkout; "
    "/bin/chmod +x i/ci/post-checkout; /bin/ln -sf ../../ci/post-checkout i/.git/hooks/post-checkout; cd i; "
    "git -c user.name=a -c user.email=b commit -q --allow-empty -m a; git checkout -q -b c",
    "zip -q z.zip f; zip -T -TT 'rm x' z.zip",
    "sort --compress-program=rm -S 1k --parallel=1 big",
]


@pytest.mark.spec("R-BLK-4", "R-BLK-8")
def test_what_real_programs_run_is_never_judged_as_ordinary(world: World, tmp_path: Path) -> None:
    oracle = Oracle.make(tmp_path)
    for name in ("sed", "awk", "tar", "make", "sqlite3", "ed", "git", "sort", "zip", "split", "echo"):
        if (found := shutil.which(name)) is not None:
            (tmp_path / "bin" / name).symlink_to(found)
    work = tmp_path / "work"
    for name, text in (("f", "f\n"), ("g", "h\n"), ("two", "1\n2\n"), ("mk", "all:\n\techo\n"), ("names", "x\n")):
        (work / name).write_text(text)
    (work / "big").write_text("line of text\n" * 20_000)
    ran = [command for command in REAL if oracle.ran(command)]
    assert len(ran) >= 30  # else the programs are not there and nothing was tried
    ordinary = []
    for command in ran:
        reading = world.reader.read_now(command)
        if reading.blocked is None and reading.category.value == "write":
            ordinary.append(command)
    assert ordinary == []


@pytest.mark.spec("R-PRM-11")
@pytest.mark.parametrize(
    ("command", "texts", "hidden"),
    [
        ("git diff | head -20", ["git diff", "head -20"], 0),
        ("ls; (id && pwd)", ["ls", "id", "pwd"], 0),
        ('git commit -m "a  b"', ["git commit -m 'a  b'"], 0),
        ("sh -c 'id; ls'", ["sh -c 'id; ls'", "id", "ls"], 0),
        ("env A=1 nice git  diff", ["env A=1 nice git diff", "nice git diff", "git diff"], 0),
        ("A=1 ls", ["A=1 ls"], 0),
        ("cat < a", ["cat < a"], 0),
        ("ls 2>/dev/null", ["ls"], 0),
        ("ls 2>&1", ["ls"], 0),
        ("'git' d\\iff", ["git diff"], 0),
        ("$'git' diff", ["git diff"], 0),
        ("gi''t diff", ["git diff"], 0),
        ("if ls; then id; fi", ["ls", "id"], 0),
        ("! ls &", ["ls"], 0),
        ("ls # id", ["ls"], 0),
        ("ls \\\n -l", ["ls -l"], 0),
        ("ls > a", ["ls"], 1),
        ("ls $X", ["", "ls '$X'"], 2),
        ('ls "$HOME"', ["", "ls '$HOME'"], 2),
        ("ls *", ["ls '*'"], 1),
        ("ls a?", ["ls 'a?'"], 1),
        ("cat <<E\nx\nE", ["", "cat"], 2),
        ("cat <<< x", ["", "cat"], 2),
        ("f() { ls; }", ["", "ls"], 1),
        ("xargs ls", ["xargs ls", "ls"], 1),
        ("[ -f x ]", ["", "'[' x"], 1),
    ],
)
def test_a_command_is_taken_apart_for_rules(world: World, command: str, texts: list[str], hidden: int) -> None:
    reading = world.reader.read_now(command)
    seen = list(dict.fromkeys((part.text, bool(part.hidden)) for part in reading.parts))
    assert [text for text, _ in seen] == texts
    assert sum(is_hidden for _, is_hidden in seen) == hidden
