"""The pictures of the terminal in `docs/images`: commands over the example corpus, with a scripted model.

`make pictures` writes them; `tests/e2e/test_pictures.py` compares them with what the commands show now.
"""

import html
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.benchmarks.oracle import read_gold
from tests.docs.pages import DOCS, ROOT
from tests.docs.running.terminal import run_on_terminal
from tests.twins.chat_server import Call, ChatServer, Reply
from tests.twins.oracle import GoldHop, Oracle

__all__ = ["PICTURES", "Picture", "draw", "read_words", "take_pictures"]

_COLUMNS = 100
_CORPUS = "musique"
_COOL = "What kind of building is the Edsa Shangri-La, in the birthplace of the maker of The Oddventures of Mr. Cool?"
_COOL_OF_SET = (
    "What is the Edsa Shangri-La an instance of in the birthplace of the person who made The Oddventures of Mr. Cool?"
)
_COOL_STEPS = (
    ("Who made The Oddventures of Mr. Cool?", "Francis Magalona"),
    ("Where was #1 born?", "Manila"),
    ("What kind of building is the Edsa Shangri-La, #2?", "a 5-star luxury hotel"),
)
_SIEGE = "What body of water is near the location where the Siege of Cassel took place?"
_TIMES = re.compile(r"\d[\d,.]*(?= (?:s\b|a second))")
_WORDS = re.compile(r"<text [^>]*>(.*?)</text>", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A command, which runs in `examples/`, and how it is shown above the picture."""

    name: str
    arguments: tuple[str, ...]
    shown: str

    @property
    def file(self) -> Path:
        return DOCS / "images" / f"{self.name}.svg"


PICTURES = (
    Picture(
        name="terminal-ingest",
        arguments=("ingest", "musique-small", "--corpus", _CORPUS, "--extractor", "pattern+given"),
        shown=f"hopweave ingest musique-small --corpus {_CORPUS} --extractor pattern+given",
    ),
    Picture(
        name="terminal-search",
        arguments=("search", _SIEGE, "--corpus", _CORPUS, "-k", "2", "--explain"),
        shown=f'hopweave search "{_SIEGE}" -c {_CORPUS} -k 2 --explain',
    ),
    Picture(
        name="terminal-ask",
        arguments=("ask", _COOL, "--corpus", _CORPUS, "--reasoner", "par"),
        shown=f'hopweave ask "{_COOL}" -c {_CORPUS} --reasoner par',
    ),
)


def take_pictures() -> Iterator[tuple[Picture, str]]:
    """Yields each picture with its SVG, in the order in which the commands need each other."""
    with tempfile.TemporaryDirectory() as folder, ChatServer(respond=_Citing()) as chat:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("HOPWEAVE_")},
            "HF_HUB_OFFLINE": "1",
            "NO_PROXY": "127.0.0.1",
            "HOPWEAVE_DATA_DIR": folder,
            "HOPWEAVE_LLM__BASE_URL": chat.url,
            "HOPWEAVE_LLM__API_KEY": "scripted",
            "HOPWEAVE_LLM__MODEL": "scripted",
            "HOPWEAVE_LLM__SEND_METADATA": "true",
        }
        for picture in PICTURES:
            command = (str(Path(sys.executable).with_name("hopweave")), *picture.arguments)
            screen = run_on_terminal(command, ROOT / "examples", environment, _COLUMNS)
            yield picture, draw(picture, screen)


def draw(picture: Picture, screen: str) -> str:
    """Returns the screen below its command as SVG, without times, and without a font from elsewhere."""
    console = Console(file=StringIO(), record=True, width=_COLUMNS, force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "bold green"), picture.shown), soft_wrap=False)
    console.print(Text.from_ansi(_TIMES.sub("…", screen)), soft_wrap=False)
    return console.export_svg(title="hopweave", code_format=_FORMAT, unique_id=picture.name) + "\n"


def read_words(svg: str) -> list[str]:
    """Returns what a picture says, line by line, with every digit as 0: figures differ between machines."""
    lines = [html.unescape(text).replace("\xa0", " ") for text in _WORDS.findall(svg)]
    return [re.sub(r"\d+", "0", " ".join(line.split())) for line in lines if line.strip()]


def _gold() -> dict[str, tuple[GoldHop, ...]]:
    """The questions of the example corpus, and one of them in plainer words."""
    gold = {one.question: one.hops for one in read_gold(ROOT / "examples" / "musique-small" / "questions.jsonl")}
    gold[_COOL] = tuple(
        GoldHop(question=question, answer=answer, supporting=hop.supporting)
        for (question, answer), hop in zip(_COOL_STEPS, gold[_COOL_OF_SET], strict=True)
    )
    return gold


class _Citing:
    """The oracle cites the first passage in its last call; a picture shows the one that states the answer."""

    def __init__(self) -> None:
        self._gold = _gold()
        self._oracle = Oracle(self._gold)

    def __call__(self, call: Call) -> Reply:
        reply = self._oracle(call)
        keys = call.labels.get("passages", "").split()
        last = self._gold[call.labels["asked"]][-1]
        if call.role != "conclude" or last.supporting not in keys:
            return reply
        answer = f"{last.answer} [{1 + keys.index(last.supporting)}]"
        return Reply.json({"answer": answer, "support": "stated", "unstated": ""})


_FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" class="rich-terminal" viewBox="0 0 {width} {height}" role="img" \
aria-label="A terminal">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-family: system-ui, Arial, sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>\
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""rich's own form without its fonts, which it would fetch from another host."""


if __name__ == "__main__":
    for one, svg in take_pictures():
        changed = not one.file.exists() or read_words(one.file.read_text("utf-8")) != read_words(svg)
        if changed:
            one.file.write_text(svg, "utf-8")
        print(f"{one.file.relative_to(ROOT)} {'is written' if changed else 'is up to date'}")
