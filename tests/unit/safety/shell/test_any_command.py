"""What a person assents to who allows ``bash`` without a pattern, and what stays asked (R-PRM-11, R-BLK-5).

| the command                                              | with a pattern       | bare `bash`    | a job with `bash` |
|----------------------------------------------------------|----------------------|----------------|-------------------|
| what the blocklist refuses                               | refused              | refused        | refused           |
| admin; cannot be read; text from outside becomes a command | asked              | asked          | by allow_admin    |
| uses the network                                         | if it names the program | asked       | without network   |
| substitutions, file patterns, redirects, functions       | asked                | passes         | passes            |
| programs that are told by files (make, bash x.sh)        | if it names them     | passes         | passes            |
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.jobs import JobPolicy
from desktop.safety.permission.decide import answer
from desktop.services.rules.text import read_rule
from desktop.services.rules.trust import TrustRules
from desktop.services.turns.unattended import JobPermission
from desktop.skills.patterns.paths import Where
from tests.harness.timeouts import WAIT_S
from tests.unit.safety.shell.command_patterns import Patterns
from tests.unit.safety.world import World

FROM_OUTSIDE = r"""
read X < f; let X
read X < f; echo $((X))
read X < f; let Y=X+1
cat f | while read x; do echo $((x)); done
cat f | { read x; let x; }
command read X < f; builtin let X
mapfile -t L < f; echo $((L))
mapfile < f; echo $((MAPFILE))
n=$(wc -l f); echo $((n+1))
n=$(cat f); m=$n; ((m++))
wc() { cat f; }; echo $(( $(wc -l < f) + 1 ))
for i in *; do let i; done
for i in $(cat f); do let i; done
read x < f; [[ $x -gt 3 ]]
x=$(cat f); test -v "$x"
x=$(cat f); [ -v "$x" ]
x=$(cat f); echo ${!x}
x=$(cat f); echo ${y:x:3}
x=$(cat f); echo "${y[x]}"
x=$(cat f); echo $[x]
x=$(cat f); echo "a $((x)) b"
x=$(cat f); if ((x>3)); then ls; fi
x=$(cat f); for ((i=x;i<3;i++)); do ls; done
x=$(cat f); a[x]=1
x=$(cat f); unset a[$x]
x=$(cat f); read "$x" < g
x=$(cat f); y=${x:1}; let y
y=$(cat f); : ${x:=$y}; let x
x=1; x+=$(cat f); let x
a=(1 $(cat f)); let a
a=(*); let a
declare -i X=$(cat f)
declare -i X; X=$(cat f)
declare -n r=$(cat f)
printf -v X '%s' "$(cat f)"; let X
unset "$(cat f)"
set -- $(cat f); let $1
f() { let $1; }; f "$(cat f)"
read X < f; eval 'let X'
read X < f; export X; bash -c 'let X'
echo $(( $(cat f) + 1 ))
x=$(<f); let x
env X='a[$(id)]' bash -c 'let X'
a=$(cat f); b=a; let b
read x<f; y=x; ((y>1))
read x<f; y=x; [[ $y -gt 1 ]]
read x<f; y=x; echo ${a[y]}
read x<f; for i in x; do let i; done
read x<f; printf -v y x; let y
read x<f; b=1; a=b; let $a$a
x=$(cat f); echo ${@:x}
x=$(cat f); echo ${*:x}
x=$(cat f); echo ${a[@]:x}
x=$(cat f); echo ${a:0:x}
x=$(cat f); echo ${!x@Q}
f() { echo ${!1}; }; f "$(cat f)"
set -- $(cat f); for i; do let i; done
for j in 1; do ls; done; f() { for i; do let i; done; }; f $(cat f)
select i in $(cat f); do let i; done
read -a l < f; let l
f() { let x=$1; }; f "$(cat f)"
f() { local y=$1; let y; }; f "$(cat f)"
while getopts a: o; do let OPTARG; done
let ANYTHING
echo $((HOME))
n=1; v=n; read $v < f; let n
n=; v=n; : ${!v:=$(cat f)}; let n
a=(1); : ${a[0]:=$(cat f)}; let a
a=(1); a[b[0]]=$(cat f); let a
x=$(cat f); a=([x]=1)
declare -i X=1; read X < f
declare -i X=1; for X in $(cat f); do ls; done
o=-i; declare $o X; read X < f
x=1; x=$(cat f; true | wc -l); let x
x=$(cat f || wc -l); let x
x=$(cat f \| wc -l); let x
alias wc='cat f'; x=$(wc -l); let x
command -p -- builtin let HOSTILE
x=$(cat f); [ $x ]
x=$(cat f); test -n $x
x=$(cat f); [ "$x" "$x" ]
x=$(cat f); printf "$x" y
x=$(cat f); jobs $x
x=$(cat f); compgen -W "$x"
x=$(cat f); declare "a[$x]=1"
read X < f; declare 'a=([X]=1)'
cat f; let _
x=$(cat f); cat <<E $((1+((2))+x))
read x < f; ! ((x))
read x < f; time ((x))
read x < f; while ! ((x > 3)); do ls; done
cat f | { read x; ! ! ((x)); }
set -- -v "$(cat f)"; test "$@"
f() { [ "$@" ]; }; f -v "$(cat f)"
a=(-v "$(cat f)"); [ "${a[@]}" ]
a=([0]=-v [1]="$(cat f)"); [ "${a[@]:0}" ]
"""
SETS = r"""
((PATH=1)); ls
! ((PATH=1)); ls
echo $((PATH=1)); ls
echo $[PATH=1]; ls
echo $((P""ATH=1)); ls
((x ? (PATH=1) : 0)) || ls
a[PATH=1]=2; ls
a=([PATH=1]=2); ls
echo ${a[PATH=1]}; ls
echo ${a:PATH=1}; ls
printf -v 'a[PATH=1]' 2; ls
[[ PATH=1 -eq 1 ]]; ls
for ((PATH=1;;)); do ls; break; done
set -a; : ${BASH_ENV:=f}; bash -c ls
set -a; x=${BASH_ENV=f}; bash -c ls
set -a; [[ ${GIT_EXTERNAL_DIFF:=./f} ]]; git diff
set -a; for i in ${BASH_ENV:=f}; do bash -c ls; done
"""
"""Variables that change which programs run, set by no assignment."""
HOPS = "read v0 < f; " + "; ".join(f"v{at + 1}=$v{at}" for at in range(60)) + "; let v60"
COUNTS = r"""
n=$(wc -l < f); echo $((n+1))
n=$(cat f | wc -l); echo $((n+1))
start=$(date +%s); echo $(( $(date +%s) - start ))
i=1; echo $((i+1))
for i in 1 2 3; do echo $((i*2)); done
for i in $(seq 1 5); do echo $((i*2)); done
i=0; for x in *.py; do i=$((i+1)); done; echo $i
while read -r l; do n=$((n+1)); done < f; echo $n
for ((i=0;i<3;i++)); do x=$(cat f); echo $x; done
mapfile -t lines < f; for ((i=0;i<${#lines[@]};i++)); do echo "${lines[$i]}"; done
read x < f; [[ $x == abc ]]
x=$(cat f); [ "$x" -gt 3 ]
x=$(cat f); echo ${x:0:3} ${x:-none} ${#x}
n=0; for x in *; do ((n++)); done; echo $n
for x in *; do ((n+=1)); done; echo $n
for i in {1..5}; do echo $((i+0x1f)); done
n=$(ls *.py 2>/dev/null | grep "x y" | wc -l); [[ $n -gt 3 ]] && echo more
a=1; b=$a; c=${b}; echo $((a+b*c))
a=(1 2 3); for i in "${a[@]}"; do s=$((s+i)); done; echo ${a[1]} ${a[s-1]}
a=(x y z); for ((i=0;i<${#a[@]};i++)); do echo "${a[i]}"; done
[[ $? -eq 0 && -f foo.txt ]] && ls
[ $# -eq 0 ]
x=$(cat f); [ -f "$x" ]; [[ $EUID -ne 0 ]] && echo $RANDOM
declare -A m; m[foo]=1; echo ${m[foo]}
declare -A m=([a]=1 [b]=2); echo ${!m[@]}
declare -i n=0; n+=1; echo $n
start=$SECONDS; ls; echo $((SECONDS-start))
let i=0; let i++; let "i += 2"
for v in A B; do echo ${!v}; [ -v $v ]; done
printf -v now '%(%s)T' -1; echo $((now+1))
ls & pid=$!; wait $pid
x=3; [ $x -gt 2 ]
read x < f; printf '%s\n' "$x"
for i in $(seq 1 3); do j=$(( (i+1)*(2+(i-1)) )); echo ${@:j:1}; done
n=1; while ! ((n > 3)); do n=$((n+1)); done
time ((n=1))
a=(1 2); [ "${#a[@]}" -gt 1 ]; [ -n "$*" ]; [ "${a[*]}" = x ]
((SECONDS=0)); : ${NAME:=x}
"""
PASSES = """
make
bash f
python f
ls *
echo $HOME
cat <(ls)
ls > f2
f() { ls; }; f
"""
ASKED = """
eval "$(cat f)"
cat f | sh
read X < f; $X
echo "unbalanced
truncate -s 0 f
git push --force
"""


@pytest.fixture
def furnished(world: World) -> World:
    for name in ("f", "g"):
        (world.workspace / name).write_text("x\n")
    return world


def passing(world: World, command: str) -> set[str]:
    """Which of these let it run without a person: the rule ``bash``, a job that lists ``bash``."""
    where = Where(str(world.workspace), str(world.person))
    reading = world.reader.read_now(command)
    facts = Patterns._facts(reading, command)
    rules = TrustRules(patterns=[read_rule("bash", "allow")], cwd=where.cwd, home=where.home)
    found = {"rule"} if answer(reading.category, rules.match(facts)).what == "passes" else set()
    job = JobPermission(JobPolicy(("bash",)), lambda: True, where)
    return found | ({"job"} if not job.refusal(facts) else set())


@pytest.mark.spec("R-BLK-5", "R-PRM-11", "R-CRON-4")
@pytest.mark.parametrize("command", [*FROM_OUTSIDE.strip().splitlines(), HOPS])
def test_text_from_outside_that_bash_computes_with_is_a_command_that_nobody_read(
    furnished: World, command: str
) -> None:
    assert furnished.reader.read_now(command).category is Category.ADMIN
    assert passing(furnished, command) == set()


MET = (
    "E=$((E+1)); echo $E",
    "((E++)); echo $E",
    "let E",
    "echo $((E))",
    "while read -r l; do E=$((E+1)); done < f",
    "for ((E=0;E<3;E++)); do ls; done",
    "declare -i E=0; E+=1",
    "x=E; let x",
    "echo ${y:E:1}",
    "[[ $E -gt 1 ]]",
    "bash -c 'E=$((E+1))'",
    "E=5; echo $((E))",
    "LANG=$((LANG+1))",
    "TMPDIR=$((TMPDIR+1))",
    'test -v "$E"',
    "x=$E; let x",
    "y=([E]=1)",
    "npm_config_cache=$((npm_config_cache+1))",
)
"""What computes with a variable that it finds in its environment."""


@pytest.fixture
def met(furnished: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Commands find a text that bash would run, and a number."""
    monkeypatch.setenv("E", "a[$(touch PWN)]")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("N", "7")
    furnished.change(environment_allowlist=(*furnished.settings.environment_allowlist, "E", "N"))
    return furnished


@pytest.mark.spec("R-BLK-5", "R-ENV-1", "R-PRM-11")
@pytest.mark.parametrize("command", MET)
def test_text_that_a_command_finds_in_its_environment_is_not_computed_with(met: World, command: str) -> None:
    assert met.reader.read_now(command).category is Category.ADMIN
    assert passing(met, command) == set()


@pytest.mark.parametrize("command", ["N=$((N+1)); echo $N", "n=$((n+1)); echo $n $E", "echo $E $LANG", "let N++"])
def test_a_number_that_it_finds_there_counts_as_one_and_text_may_be_shown(met: World, command: str) -> None:
    assert met.reader.read_now(command).category is Category.WRITE


@pytest.mark.parametrize("command", MET[:5] + ("x=E; let x", "[[ $E -gt 1 ]]", "bash -c 'E=$((E+1))'", "y=([E]=1)"))
def test_a_real_bash_runs_what_stands_there(tmp_path: Path, command: str) -> None:
    (tmp_path / "f").write_text("x\n")
    environment = {"E": "a[$(echo ran >> ran)]", "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, timeout=WAIT_S)
    assert (tmp_path / "ran").exists()


@pytest.mark.spec("R-BLK-5", "R-ENV-7")
@pytest.mark.parametrize("command", SETS.strip().splitlines())
def test_what_programs_run_is_not_changed_by_a_sum_or_in_passing(furnished: World, command: str) -> None:
    assert furnished.reader.read_now(command).category is Category.ADMIN
    assert passing(furnished, command) == set()


@pytest.mark.parametrize("command", COUNTS.strip().splitlines())
def test_counting_is_no_admin_call(furnished: World, command: str) -> None:
    assert furnished.reader.read_now(command).category is Category.WRITE


@pytest.mark.spec("R-PRM-11")
@pytest.mark.parametrize("command", [*PASSES.strip().splitlines(), *COUNTS.strip().splitlines()])
def test_bash_without_a_pattern_means_any_command_that_can_be_read(furnished: World, command: str) -> None:
    assert passing(furnished, command) == {"rule", "job"}


@pytest.mark.spec("R-BLK-5", "R-PRM-11", "R-CRON-4")
@pytest.mark.parametrize("command", ASKED.strip().splitlines())
def test_what_is_admin_or_cannot_be_read_is_asked_under_it(furnished: World, command: str) -> None:
    assert passing(furnished, command) == set()


@pytest.mark.spec("R-BLK-1")
@pytest.mark.parametrize("command", ["sudo ls", "true && rm -rf /"])
def test_what_is_blocked_is_refused_under_it(furnished: World, command: str) -> None:
    assert furnished.reader.read_now(command).blocked is not None
