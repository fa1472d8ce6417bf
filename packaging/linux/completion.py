"""Completion of `assent` in bash, zsh and fish. Nothing of Assent runs while a person presses Tab."""

from collections.abc import Iterable, Iterator

from linux.command_line import Command, Option

FOLDERS, FILES = {"DIR"}, {"FILE", "AGENT-OR-SKILL"}
"""What a value is by its name; for all others nothing is offered."""

BASH = """\
# Completion of assent in bash.
_assent() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= at
    COMPREPLY=()
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
            @TAKING@) ((at++)) ;;
            -*) ;;
            *) command=${COMP_WORDS[at]}; break ;;
        esac
    done
    case $before in
        @FOLDER_OPTIONS@) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
        @OTHER_OPTIONS@) return ;;
    esac
    case $command in
@CASES@
    esac
}
complete -F _assent assent
"""


def bash(commands: tuple[Command, ...]) -> str:
    """The function for bash 4 and newer."""
    options = [option for command in commands for option in command.options if option.value]
    folders = sorted({name for option in options if option.value in FOLDERS for name in option.names})
    others = sorted({name for option in options if option.value not in FOLDERS for name in option.names})
    cases = "\n".join(_bash_case(command, commands) for command in commands)
    return (
        BASH.replace("@TAKING@", "|".join(sorted({*folders, *others})))
        .replace("@FOLDER_OPTIONS@", "|".join(folders))
        .replace("@OTHER_OPTIONS@", "|".join(others))
        .replace("@CASES@", cases)
    )


def _bash_case(command: Command, commands: tuple[Command, ...]) -> str:
    words = [name for option in command.options for name in option.names]
    if not command.word:
        words += [other.word for other in commands if other.word]
    offered = f'mapfile -t COMPREPLY < <(compgen -W "{" ".join(words)}" -- "$word")'
    if _takes_file(command):
        files = 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word")'
        offered = f"if [[ $word == -* ]]; then {offered}; else {files}; fi"
    return f"        {command.word or chr(39) * 2}) {offered} ;;"


def _takes_file(command: Command) -> bool:
    return any(argument.value in FILES for argument in command.arguments)


def zsh(commands: tuple[Command, ...]) -> str:
    """The function for zsh, in a file `_assent`."""
    own, *others = commands
    lines = ["#compdef assent", "", "_assent() {", "    local line state", "    _arguments -C \\"]
    lines += [f"        {one} \\" for one in _zsh_options(own.options)]
    lines += ["        '1: :->command' \\", "        '*:: :->rest'", "    case $state in", "        command)"]
    lines += ["            local -a words", "            words=("]
    lines += [f"                {_zsh_word(command)}" for command in others]
    lines += ["            )", "            _describe -t commands command words ;;", "        rest)"]
    lines += ["            case $line[1] in"]
    for command in others:
        pieces = [*_zsh_options(command.options), *_zsh_arguments(command.arguments)]
        lines += [f"                {command.word})", "                    _arguments \\"]
        lines += [f"                        {piece} \\" for piece in pieces[:-1]]
        lines += [f"                        {pieces[-1]} ;;"]
    lines += ["            esac ;;", "    esac", "}", "", '_assent "$@"', ""]
    return "\n".join(lines)


def _zsh_word(command: Command) -> str:
    return _quoted(f"{command.word}:{_sentence(command.about)}")


def _zsh_options(options: Iterable[Option]) -> Iterator[str]:
    for option in options:
        about = _escaped(_sentence(option.about))
        value = f":{option.value}:{_zsh_action(option.value)}" if option.value else ""
        once = "" if option.repeats else f"({' '.join(option.names)})"
        for name in option.names:
            yield _quoted(f"{'*' if option.repeats else once}{name}[{about}]{value}")


def _zsh_arguments(arguments: Iterable[Option]) -> Iterator[str]:
    for number, argument in enumerate(arguments, 1):
        yield _quoted(f"{number}:{'' if not argument.optional else ':'}{argument.value}:{_zsh_action(argument.value)}")


def _zsh_action(value: str) -> str:
    return "_files -/" if value in FOLDERS else "_files" if value in FILES else ""


def fish(commands: tuple[Command, ...]) -> str:
    """The file for fish."""
    lines = ["# Completion of assent in fish.", "complete -c assent -f"]
    lines += [
        f"complete -c assent -n __fish_use_subcommand -a {command.word} -d {_fish(_sentence(command.about))}"
        for command in commands[1:]
    ]
    for command in commands:
        seen = f"'__fish_seen_subcommand_from {command.word}'" if command.word else "__fish_use_subcommand"
        lines += [f"complete -c assent -n {seen} {_fish_option(option)}" for option in command.options]
        if _takes_file(command):
            lines.append(f"complete -c assent -n {seen} -F")
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
    files = " -a '(__fish_complete_directories)'" if option.value in FOLDERS else ""
    return f"{names}{' -x' if option.value else ''}{files} -d {_fish(_sentence(option.about))}"


def _sentence(about: str) -> str:
    """What is said beside a word: the first sentence, on one line."""
    return " ".join(about.split()).removesuffix(".")


def _escaped(text: str) -> str:
    """For what stands in the brackets of `_arguments`."""
    return text.replace("\\", "\\\\").replace("]", "\\]").replace("[", "\\[").replace(":", "\\:")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
