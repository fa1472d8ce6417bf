"""Random chains by which a file's text reaches a place where bash computes, for ``command_soak.Sandbox`` to run.

``x.txt`` holds ``a[$(touch PWN)]``. Between reading it and computing stand hops: by value, by name, by list, by a
function.
"""

from __future__ import annotations

import random

from tests.unit.safety.shell.command_soak import Sandbox
from tests.unit.safety.world import World

SOURCES = (
    "{0}=$(cat x.txt)",
    "{0}=$(<x.txt)",
    "read {0} < x.txt",
    'read -r {0} <<< "$(cat x.txt)"',
    "mapfile -t {0} < x.txt",
    "read -a {0} < x.txt",
    "{0}=`cat x.txt`",
    'printf -v {0} %s "$(cat x.txt)"',
    "for {0} in $(cat x.txt); do :; done",
    "declare {0}=$(cat x.txt)",
    'export {0}="$(cat x.txt)"',
    'set -- "$(cat x.txt)"; {0}=$1',
    "{0}=$(cat x.txt; true | wc -l)",
    "{0}=$(cat x.txt || wc -l)",
    ": ${{{0}:=$(cat x.txt)}}",
    "{0}=(1 $(cat x.txt)); {0}=${{{0}[1]}}",
    "{0}=1; {0}=$(cat x.txt)",
    "IFS= read -r {0} < x.txt",
    "{0}=$(cat x.txt | grep 'a | wc -l')",
    "{0}=1; v={0}; read $v < x.txt",
    'set -- "$(cat x.txt)"; for {0}; do :; done',
    "{0}=$(wc -l < x.txt; cat x.txt)",
    "{0}=7",
    "{0}=$(wc -l < x.txt)",
    "{0}=$(cat x.txt | wc -l)",
    "{0}=$((3+4))",
    "{0}=$E",
    "{0}=E",
    "{0}=$((E+1))",
    "{0}=$N",
    "{0}=$((N))",
    "{0}=${{E:-1}}",
    "export {0}=E",
    "E=$((E+1)); {0}=$E",
    "{0}=; {0}+=$E",
    "v=E; {0}=${{!v}}",
    "{0}=$(printenv E)",
    "{0}=$(cat x.txt)x",
    "coproc cat x.txt; read {0} <&${{COPROC[0]}}",
    "{0}=$(tr a a < x.txt)",
    "while read {0}; do break; done < x.txt",
    "{0}=$(<x.txt cat)",
    "{{ read {0}; }} < x.txt",
    "{0}=${{E}}",
)
HOPS = (
    "{1}=${0}",
    "{1}=${{{0}}}",
    "{1}={0}",
    '{1}="${0}"',
    "printf -v {1} %s ${0}",
    "printf -v {1} {0}",
    "read {1} <<< ${0}",
    "read {1} <<< {0}",
    "for {1} in ${0}; do :; done",
    "for {1} in {0}; do :; done",
    "{1}=(${0}); {1}=${{{1}[0]}}",
    "{1}=({0})",
    "{1}[0]=${0}",
    "{1}=; {1}+=${0}",
    "declare {1}=${0}",
    "typeset {1}={0}",
    "export {1}=${0}",
    "declare -n {1}={0}",
    "f{1}() {{ {1}=$1; }}; f{1} ${0}",
    'f{1}() {{ local t=$1; {1}=$t; }}; f{1} "${0}"',
    "set -- ${0}; {1}=$1",
    "set -- ${0}; {1}=$@",
    "{1}=${{{0}:0}}",
    "{1}=${{{0}#z}}",
    "{1}=${{{0}:-1}}",
    "{1}=${{nothing:-${0}}}",
    "{1}=${{nothing:={0}}}",
    "{1}=${{{0}//z/}}",
    "v={0}; {1}=${{!v}}",
    "{1}=$(echo ${0})",
    "{1}=$(printf %s {0})",
    "case ${0} in *) {1}=${0};; esac",
    "if true; then {1}=${0}; else {1}=1; fi",
    "{1}=1; {1}=${0}",
    "mapfile -t {1} <<< ${0}",
    "read -a {1} <<< ${0}",
    "{1}=$(cat <<< ${0})",
    "v={1}; read $v <<< ${0}",
    "v={1}; printf -v $v %s ${0}",
    "v={1}; declare $v=${0}",
    "eval '{1}=${0}'",
    "{1}=$(wc -l <<< ${0})",
    "{1}=${{#{0}}}",
    '{1}="${0} "',
    "{1}={0}\\\n",
    "select {1} in ${0}; do break; done <<< 1",
    "set -- -q ${0}; getopts q: o; {1}=$OPTARG",
    "{1}=$'{0}'",
    "{1}=''{0}",
    "echo ${0} | {{ read {1}; let {1}; }}; {1}=1",
    "{{ {1}=${0}; }}",
    "local_() {{ {1}={0}; }}; local_",
)
SUMS = (
    "let {0}",
    'let "y={0}"',
    "let y=1 ${0}",
    "((y={0}+1))",
    "(( {0} > 1 ))",
    "(( ${0} ))",
    "echo $(({0}))",
    "echo $((${0}+1))",
    "echo $[{0}]",
    'echo "a $(({0})) b"',
    "[[ {0} -gt 1 ]]",
    "[[ ${0} -eq 1 ]]",
    '[[ "${0}" -lt 1 || 1 ]]',
    "[[ 1 -ne {0} ]]",
    "[[ -v ${0} ]]",
    "[ -v ${0} ]",
    'test -v "${0}"',
    "[ ${0} ]",
    "y=123; echo ${{y:{0}}}",
    "y=123; echo ${{y:0:{0}}}",
    "y=123; echo ${{y: {0}}}",
    "set -- 1 2; echo ${{@:{0}}}",
    "set -- 1 2; echo ${{*:1:{0}}}",
    "y=(1 2); echo ${{y[@]:{0}}}",
    "y=(1 2); echo ${{y[*]:0:{0}}}",
    "echo ${{y[{0}]}}",
    "echo ${{y[${0}]}}",
    "y[{0}]=1",
    "y=([{0}]=1)",
    "y=([${0}]=1 2)",
    "declare 'y=([{0}]=1)'",
    "declare -a y=([{0}]=1)",
    "declare -i y={0}",
    "declare -i y; y={0}",
    "declare -i y; y=${0}",
    "declare -i y; read y <<< ${0}",
    "declare -i y; for y in {0}; do :; done",
    "o=-i; declare $o y; y={0}",
    "typeset -i y; printf -v y {0}",
    "local_() {{ local -i y={0}; }}; local_",
    "declare -n y=${0}; echo $y",
    "echo ${{!{0}}}",
    "echo ${{!{0}@Q}}",
    "for ((i={0};i<1;i++)); do :; done",
    "for ((;{0}<0;)); do break; done",
    'unset "${0}"',
    "unset 'y[{0}]'",
    'read "${0}" <<< 1',
    'printf -v "${0}" 1',
    "printf -v 'y[{0}]' 1",
    "read 'y[{0}]' <<< 1",
    "wait -p 'y[{0}]' -n",
    'mapfile "${0}" < f',
    'getopts a "${0}" -a',
    'export "${0}=1"',
    'readonly "${0}"',
    'declare "y[${0}]=1"',
    "cat <<E\n  $(({0}))\nE",
    "cat <<E\n ${{HOME:{0}}}\nE",
    "cat <<E\n$((1+((2))+{0}))\nE",
    "cat <<< $(({0}))",
    "g() {{ let $1; }}; g ${0}",
    "g() {{ echo $(($1)); }}; g {0}",
    'g() {{ echo ${{!1}}; }}; g "${0}"',
    "export {0}; bash -c 'let {0}'",
    "eval 'let {0}'",
    "command -p -- builtin let {0}",
    "if let {0}; then :; fi",
    "while (({0})); do break; done",
    "( let {0} )",
    "echo $( ((y={0})) )",
    "y=1; ((y+={0}))",
    "trap 'let {0}' EXIT",
    "echo ${{y:-$(({0}))}}",
    "echo $(( $(({0})) ))",
    "y=$(({0})) true",
    ": > $(({0}))",
    "case $(({0})) in 1) ;; esac",
    'printf "-v${0}" 1',
    "printf -- %d $(({0}))",
    "echo $((1?{0}:2))",
    "((y++,{0}))",
    "x\\\n=1; let {0}",
)


def made_up(chance: random.Random) -> str:
    """A source, hops, a sum; sometimes with something harmless between."""
    names = [f"{chance.choice('klmnpq')}{at}" for at in range(20)]
    length = chance.choice((0, 1, 1, 2, 2, 3, 4, 15))
    parts = [chance.choice(SOURCES).format(names[0])]
    parts += [chance.choice(HOPS).format(names[at], names[at + 1]) for at in range(length)]
    parts.append(chance.choice(SUMS).format(names[length]))
    if chance.random() < 0.2:
        parts.insert(chance.randrange(len(parts)), f"{chance.choice(names[: length + 1])}=5")
    wraps = (
        "{}",
        "{}",
        "{}",
        "{}",
        "{{ {}\n}}",
        "w() {{ {}\n}}; w",
        "({})",
        "if true; then {}\nfi",
        "for z in 1; do {}\ndone",
    )
    before = ("\n" if chance.random() < 0.3 else "; ").join(parts[:-1])
    return chance.choice(wraps).format(f"{before}\n{parts[-1]}")


def ran_unasked(
    world: World, sandbox: Sandbox, seed: int, count: int, admin_ones: int = 100
) -> tuple[list[str], int, int]:
    """Of so many chains those that are no admin call and ran what stands in the file; how many were none; and of the
    admin ones, of which at most ``admin_ones`` are run, too, how many ran it."""
    chance, reader = random.Random(seed), world.reader
    ordinary, admin = list[str](), list[str]()
    for _ in range(count):
        command = made_up(chance)
        reading = reader.read_now(command)
        if reading.blocked is None:
            (admin if reading.category.value == "admin" else ordinary).append(command)
    ran = set[str]()
    tried = [*ordinary, *admin[:admin_ones]]
    for at in range(0, len(tried), 250):
        part = tried[at : at + 250]
        ran |= {one for one, (programs, _) in zip(part, sandbox.effects(part), strict=True) if programs}
    return [one for one in ordinary if one in ran], len(ordinary), len(ran & set(admin))
