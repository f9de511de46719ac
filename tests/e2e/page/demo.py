"""The corpus and the questions of the pictures: the example of `make demo`, and a PDF."""

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

from tests.documents import make_pdf
from tests.e2e.page.live import Live
from tests.e2e.page.reader import Known, Reader

__all__ = ["CLOCK", "CORPUS", "GUIDE", "QUESTION", "SEARCH_QUERY", "add_corpus", "make_reader"]

CORPUS = "encyclopedia"
QUESTION = (
    "Which is older: the astronomical clock of the city where Karel Purkyně died, "
    "or the engineering degrees of the university where Deane Waldo Malott studied?"
)
SEARCH_QUERY = urlencode({"q": "What body of water is near the location where the Siege of Cassel took place?"})
GUIDE = "guides/orloj.pdf"

_EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "musique-small"
CLOCK = "The astronomical dial dates back to 1410"
_DEGREES = "engineering degrees were awarded as early as 1873"
_DIED = "5 April 1868, Prague"
_STUDIED = "went on to study at the University of Kansas"
_STEPS = (
    ("Q1.1", "In which city did Karel Purkyně die?"),
    ("Q1.2", "At which university did Deane Waldo Malott study?"),
    ("Q2.1", "When was the astronomical clock of <A1.1> made?"),
    ("Q2.2", "When did <A1.2> begin to award engineering degrees?"),
)


def add_corpus(live: Live) -> None:
    live.run("ingest", str(_EXAMPLE), "--corpus", CORPUS, "--extractor", "pattern+given")
    live.ids |= live.add(CORPUS, files={GUIDE: _make_guide()})
    listed = live.get(f"/v1/corpora/{CORPUS}/documents", limit=200)
    live.ids |= {one["key"]: one["id"] for one in listed["data"]}


def make_reader() -> Reader:
    return Reader(
        plans={QUESTION: _STEPS},
        known={
            "In which city did Karel Purkyně die?": Known(answer="Prague", quote=_DIED),
            "At which university did Deane Waldo Malott study?": Known(answer="University of Kansas", quote=_STUDIED),
            "When was the astronomical clock of Prague made?": Known(answer="1410", quote=CLOCK),
            "When did University of Kansas begin to award engineering degrees?": Known(answer="1873", quote=_DEGREES),
            QUESTION: Known(
                answer="The astronomical clock of **Prague** is older. Its dial dates back to 1410 "
                f"[[{CLOCK}]]; the University of Kansas awarded engineering degrees as early as 1873 [[{_DEGREES}]].",
                quote=CLOCK,
            ),
        },
    )


_READING = (
    "The Orloj is mounted on the southern wall of the Old Town Hall. It shows the place of the sun and the moon in the "
    "sky, the hours of four systems, and the days of the year. At each full hour the figures of the apostles pass by "
    "two windows above the dial."
)
_MAKING = (
    f"{CLOCK}, when it was made by the clockmaker Mikulas of Kadan and Jan Sindel, who later was a professor of "
    "mathematics and astronomy. The calendar dial was added around 1490, when the facade was decorated with Gothic "
    "sculptures."
)
_REPAIR = (
    "The clock stopped working many times after 1552, and was repaired many times. The apostles were added after the "
    "repair of 1865 and 1866, and the calendar dial was painted anew by Josef Manes."
)


def _make_guide() -> bytes:
    """Two pages of a guide for visitors."""
    parts = [
        ("h1", "The Prague Orloj"),
        ("p", "A short guide for visitors of the Old Town Hall."),
        ("h2", "How to read it"),
        ("p", _READING),
        ("page", ""),
        ("h2", "Who made it"),
        ("p", _MAKING),
        ("p", _REPAIR),
    ]
    return make_pdf(parts, title="The Prague Orloj", creation_date=datetime(2024, 5, 2, tzinfo=UTC))
