"""What the corpora of the tests hold: three languages, a PDF, facts, and documents that attack whoever shows them."""

from collections.abc import Mapping
from typing import Any

from tests.documents import make_pdf
from tests.e2e.page.reader import Known, Reader

__all__ = [
    "ATTACK",
    "BIRTHPLACE",
    "BORN",
    "BUILT",
    "DESIGNED",
    "FOLLOW_UP",
    "HOSTILE",
    "HOSTILE_NAME",
    "MILL",
    "MILL_QUOTE",
    "WHO",
    "documents",
    "files",
    "hostile_documents",
    "make_engine_pdf",
    "make_reader",
]

BIRTHPLACE = "Where was the designer of the Analytical Engine born?"
"""A question with a plan of two steps; its first answer stands on page 1 of `engine.pdf`."""
WHO = "Who designed the Analytical Engine?"
MILL = "Which part of the Analytical Engine computed?"
"""Settled at once, from page 2 of `engine.pdf`."""
FOLLOW_UP = "Who built a part of it?"
"""Asked after `MILL`, it means `BUILT`, and is settled at once, from page 3 of `engine.pdf`."""
BUILT = "Who built a part of the mill?"
ATTACK = "What does the hostile note say?"

HOSTILE = (
    '<img src="http://evil.invalid/a.png" onerror="owned=1"><script>owned=1</script>'
    "![picture](http://evil.invalid/b.png) [link](javascript:owned=1) "
    '<a href="javascript:owned=1">there</a> <iframe src="http://evil.invalid"></iframe> <style>*{display:none}</style>'
)
TITLED = {
    "key": "ada",
    "text": "Ada Lund wrote to Ines Corvo of Marrowby. Dr. Ada Lund had met her at Halden Works.",
    "entities": ["Ada Lund", "Dr. Ada Lund", "Ines Corvo", "Marrowby", "Halden Works"],
}
"""A document with two names of one entity."""
HOSTILE_NAME = "<b onclick=owned=1>Mallory</b>"

DESIGNED = "The Analytical Engine was designed by Charles Babbage"
BORN = "Charles Babbage was born in London"
MILL_QUOTE = "The mill computed"

_BABBAGE = f"""# Charles Babbage

{BORN} in 1791. He was a mathematician and an inventor.

## Work

Charles Babbage worked with Ada Lovelace. He designed the Difference Engine before the Analytical Engine.

## Later life

Charles Babbage died in Marylebone in 1871, before any of his engines was complete.
"""
_ADA = """# Ada Lovelace

Ada Lovelace wrote the first program. She translated a paper of Luigi Menabrea about the Analytical Engine.

Ada Lovelace was taught by Augustus De Morgan, who was born in Madurai.
"""
_CHINESE = """# 北京大学

北京大学位于北京。北京大学创建于1898年，初名京师大学堂。

## 校园

校园又称燕园，坐落在海淀区。未名湖是校园里最大的湖。
"""
_ARABIC = """الخوارزمي عالم رياضيات وفلك وجغرافيا. وُلد الخوارزمي في خوارزم، وعمل في بيت الحكمة في بغداد.

ألّف الخوارزمي كتاب المختصر في حساب الجبر والمقابلة، ومنه جاء اسم علم الجبر.
"""


def make_engine_pdf() -> bytes:
    return make_pdf(
        [
            ("h1", "The Analytical Engine"),
            ("p", f"{DESIGNED} in 1837. It was the first design of a general computer."),
            ("p", "The engine was to be driven by steam, and programmed with punched cards."),
            ("page", ""),
            ("h2", "Parts"),
            ("p", f"{MILL_QUOTE}, and the store held a thousand numbers of forty digits each."),
            ("page", ""),
            ("h2", "After 1871"),
            ("p", "Henry Babbage built a part of the mill in 1910. It is shown in the Science Museum in London."),
        ],
        title="The Analytical Engine",
    )


def files() -> dict[str, bytes]:
    """Files by their names."""
    return {
        "engine.pdf": make_engine_pdf(),
        "people/babbage.md": _BABBAGE.encode(),
        "people/ada.md": _ADA.encode(),
        "zh/北京大学.md": _CHINESE.encode(),
        "ar/الخوارزمي.txt": _ARABIC.encode(),
    }


def documents() -> list[Mapping[str, Any]]:
    """Documents with facts, from which the graph has its edges."""
    return [
        {
            "key": "facts/engine",
            "title": "Facts of the engine",
            "text": "Charles Babbage designed the Analytical Engine. Ada Lovelace worked with Charles Babbage.",
            "metadata": {"year": 1843, "language": "en"},
            "triples": [
                ["Charles Babbage", "designed", "Analytical Engine"],
                ["Ada Lovelace", "worked with", "Charles Babbage"],
            ],
        },
        {
            "key": "facts/teachers",
            "title": "Teachers",
            "text": "Augustus De Morgan taught Ada Lovelace. Augustus De Morgan was born in Madurai.",
            "metadata": {"year": 1840, "language": "en"},
            "triples": [
                ["Augustus De Morgan", "taught", "Ada Lovelace"],
                ["Augustus De Morgan", "was born in", "Madurai"],
            ],
        },
        {
            "key": "facts/places",
            "title": "بغداد",
            "text": "عمل الخوارزمي في بغداد.",
            "metadata": {"year": 830, "language": "ar"},
            "triples": [["الخوارزمي", "عمل في", "بغداد"], ["北京大学", "位于", "北京"]],
        },
    ]


def hostile_documents() -> list[Mapping[str, Any]]:
    """Attacks in each place of a document that a page may show."""
    return [
        {
            "key": f"hostile/{HOSTILE_NAME}.html",
            "title": f"Note {HOSTILE_NAME}",
            "text": f"The hostile note says this. {HOSTILE}\n\nMallory knows Charles Babbage.",
            "metadata": {"note": HOSTILE, HOSTILE_NAME: "key", "url": "javascript:owned=1"},
            "triples": [[HOSTILE_NAME, f"knows {HOSTILE_NAME}", "Charles Babbage"]],
        },
        {
            "key": "hostile/markdown.md",
            "media_type": "text/markdown",
            "text": f"# Hostile {HOSTILE_NAME}\n\n{HOSTILE}\n\n## {HOSTILE_NAME}\n\nMallory wrote this, too.\n",
        },
    ]


def make_reader() -> Reader:
    """Knows the questions above."""
    return Reader(
        plans={BIRTHPLACE: [("Q1.1", WHO), ("Q2.1", "Where was <A1.1> born?")]},
        restated={FOLLOW_UP: BUILT},
        known={
            BUILT: Known(answer="Henry Babbage", quote="Henry Babbage built a part of the mill"),
            WHO: Known(answer="Charles Babbage", quote=DESIGNED),
            "Where was Charles Babbage born?": Known(answer="London", quote=BORN),
            BIRTHPLACE: Known(answer="London", quote=BORN),
            MILL: Known(answer="the mill", quote=MILL_QUOTE),
            ATTACK: Known(answer=HOSTILE, quote="The hostile note says this."),
        },
    )
