"""The commands of the documentation: the `console` blocks of its pages, and the shell in which tests run them.

A comment directly above a block, which no reader of the page sees, says what is special about it:

- `<!-- not run: REASON -->`: no command of the block is run, and why, or which test runs it.
- `<!-- before: COMMAND -->`: a command that runs before the block. A variable that it sets takes the place of its name
  in the block, where that is written as a word in capitals, such as `JOB`.
- `<!-- fails: REASON -->`: the commands of the block are to fail.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.stacks import tell_stacks

__all__ = ["Block", "Failed", "Shell", "clean_environment", "read_blocks"]

_BLOCK = re.compile(r"(?P<marks>(?:^<!-- [^\n]* -->\n)*)^```console\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"^<!-- (not run|before|fails): (.+?) -->$", re.MULTILINE)
_PLACEHOLDERS = ("ID", "JOB", "KEY")
_SECONDS = 400
_RUN = """
shopt -s expand_aliases
[ -f "$SESSION/state" ] && . "$SESSION/state"
[ -f "$SESSION/folder" ] && cd "$(cat "$SESSION/folder")"
set -a -o pipefail
eval "$COMMAND"
code=$?
set +a
unset COMMAND
export -p > "$SESSION/state"
pwd > "$SESSION/folder"
exit $code
"""


_LASTING = re.compile(r"^hopweave serve\b|\s--watch\b")
_UNTIL_READY = """
( exec {command}
) > "$SESSION/lasting" 2>&1 &
process=$!
until grep -qE 'watching |running on http' "$SESSION/lasting"; do
  kill -0 $process 2> /dev/null || {{ cat "$SESSION/lasting"; false; return 1 2> /dev/null || exit 1; }}
  sleep 0.2
done
kill -TERM $process
wait $process
case $? in 0|130|143) cat "$SESSION/lasting";; *) cat "$SESSION/lasting"; false;; esac
"""
"""A command that lasts runs until it says that it is ready, and then has to end on SIGTERM."""


class Failed(AssertionError):
    """A command did not end as its page says."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """The commands of one block, in their order. `marks` are what its comments say, by their first words."""

    page: str
    line: int
    commands: tuple[str, ...]
    marks: tuple[tuple[str, str], ...]

    @property
    def reason(self) -> str:
        """Why it is not run; '' if it is."""
        return next((text for mark, text in self.marks if mark == "not run"), "")

    @property
    def before(self) -> list[str]:
        return [text for mark, text in self.marks if mark == "before"]

    @property
    def fails(self) -> bool:
        return any(mark == "fails" for mark, _ in self.marks)


def read_blocks(page: str, text: str) -> Iterator[Block]:
    """Yields the blocks of a page. A command begins with `$ `, and goes on where its line ends with a backslash."""
    for found in _BLOCK.finditer(text):
        commands: list[str] = []
        continued = False
        for line in found["code"].splitlines():
            if line.startswith("$ "):
                commands.append(line[2:])
            elif continued:
                commands[-1] += f"\n{line}"
            continued = (line.startswith("$ ") or continued) and line.endswith("\\")
        line_number = text.count("\n", 0, found.start("code"))
        marks = tuple((mark, reason) for mark, reason in _MARK.findall(found["marks"]))
        yield Block(page=page, line=line_number, commands=tuple(commands), marks=marks)


@dataclass(kw_only=True)
class Shell:
    """Runs one command after the other in bash; variables, and the folder, are kept.

    `instead` are texts of the pages, such as addresses, with what stands in their places here.
    """

    session: Path
    folder: Path
    environment: Mapping[str, str]
    instead: Mapping[str, str] = field(default_factory=dict)

    def run_block(self, block: Block) -> list[str]:
        """Returns what the commands print. Raises `Failed` for the first that does not end as the page says."""
        for command in block.before:
            self._run(block, command, fails=False)
        return [self._run(block, self._fill(command), fails=block.fails) for command in block.commands]

    def run_program(self, code: str) -> None:
        """Runs a program in Python. Raises `Failed` unless it ends well."""
        block = Block(page="a program", line=1, commands=(), marks=())
        self._run(block, f"python - <<'END_OF_PROGRAM'\n{code}\nEND_OF_PROGRAM", fails=False)

    def _run(self, block: Block, command: str, *, fails: bool) -> str:
        for text, other in self.instead.items():
            command = command.replace(text, other)
        if _LASTING.search(command):
            command = _UNTIL_READY.format(command=command)
        self.session.mkdir(exist_ok=True)
        variables = {**self.environment, "SESSION": str(self.session), "COMMAND": command}
        with subprocess.Popen(
            ["bash", "-c", _RUN],
            cwd=self.folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                output, errors = process.communicate(timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                doing = tell_stacks(os.getpid())
                process.kill()
                raise Failed(f"{block.page}, line {block.line}: hangs\n$ {command}\n{doing}") from None
        if (process.returncode != 0) != fails:
            told = f"{output[-2000:]}{errors[-2000:]}"
            raise Failed(f"{block.page}, line {block.line}: exit code {process.returncode}\n$ {command}\n{told}")
        return output

    def _fill(self, command: str) -> str:
        """Returns the command with the values of placeholders that a command before has set."""
        state = self.session / "state"
        told = state.read_text("utf-8") if state.exists() else ""
        for name in _PLACEHOLDERS:
            if value := re.search(rf'^declare -x {name}="([^"]*)"$', told, re.MULTILINE):
                command = re.sub(rf"(?<![\w$]){name}\b(?!=)", value[1], command)
        return command


def clean_environment() -> dict[str, str]:
    """The variables of this process but for Hopweave's own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("HOPWEAVE_")}
