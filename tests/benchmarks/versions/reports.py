"""The quarterly reports of a harbour that does not exist, in German: the same sentences with other figures."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template

__all__ = ["write_reports"]

_TEXT = Template(Path(__file__).with_name("report.txt").read_text(encoding="utf-8"))
_FIGURES: Mapping[tuple[int, int], Mapping[str, str]] = {
    (2022, 3): {"revenue": "41,2", "result": "3,9", "containers": "118.400", "staff": "612", "draught": "11,20"},
    (2022, 4): {"revenue": "39,7", "result": "2,8", "containers": "109.950", "staff": "615", "draught": "11,20"},
    (2023, 1): {"revenue": "37,5", "result": "2,1", "containers": "101.300", "staff": "608", "draught": "11,20"},
    (2023, 2): {"revenue": "43,8", "result": "4,6", "containers": "121.750", "staff": "604", "draught": "11,80"},
    (2023, 3): {"revenue": "46,1", "result": "5,2", "containers": "127.020", "staff": "619", "draught": "11,80"},
    (2023, 4): {"revenue": "44,3", "result": "4,4", "containers": "122.600", "staff": "627", "draught": "11,80"},
}
_CHIEFS = ((2022, "Henrike Aalsen"), (2023, "Jorid Feddersen"))
_BERTHS = {2022: "1,40", 2023: "1,65"}
_CRANES = {
    2022: "Die Brücke 3 wird mit Diesel betrieben; ihr Verbrauch lag bei 18 Litern je Stunde.",
    2023: "Die Brücke 3 ist abgebaut. Alle Brücken werden mit Strom betrieben.",
}


def write_reports(folder: Path) -> None:
    """Writes `Hafenbericht Q3 2022.txt` to `Hafenbericht Q4 2023.txt`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in _make_reports():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def _make_reports() -> Iterator[tuple[str, str]]:
    chiefs = dict(_CHIEFS)
    for (year, quarter), figures in _FIGURES.items():
        values = {**figures, "chief": chiefs[year], "berth": _BERTHS[year], "crane": _CRANES[year]}
        yield f"Hafenbericht Q{quarter} {year}", _TEXT.substitute(values)
