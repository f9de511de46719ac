"""Lines that are headings by their words: "Chapter IV", "Teil 2: …", "第三章", "Preface". Used by `chapters.py`."""

import re
from itertools import pairwise

_NUMBER = r"(?:\d{1,4}(?:\.\d{1,3}){0,3}|[IVXLCDM]{1,8}|[ivxlcdm]{1,8}|(?:the\s+)?[^\W\d_]{1,12})"
_WORDS = {
    1: "part|book|volume|teil|buch|band|partie|livre|tome|parte|libro|часть|книга|том",
    2: "chapter|letter|canto|act|appendix|kapitel|brief|akt|anhang|chapitre|acte|annexe|cap[ií]tulo|capitolo|acto|atto|"
    "hoofdstuk|rozdział|kapitola|bölüm|глава|приложение",
    3: "section|scene|abschnitt|szene|scène|sección|escena|sezione|scena|раздел|сцена",
}
_NAMED = re.compile(
    r"(?:(?:the|der|die|das|le|la|el)\s+)?(?:preface|foreword|prologue|introduction|epilogue|afterword|conclusion|"
    r"contents|table of contents|bibliography|references|glossary|index|acknowledge?ments|abstract|summary|"
    r"vorwort|einleitung|prolog|epilog|nachwort|schluss|inhalt|inhaltsverzeichnis|literaturverzeichnis|zusammenfassung|"
    r"préface|avant-propos|prologue|épilogue|table des matières|prefacio|prólogo|introducción|epílogo|índice|"
    r"предисловие|введение|пролог|эпилог|заключение|содержание|оглавление|послесловие|序|序言|序章|前言|引言|后记|後記|"
    r"あとがき|はじめに|目次|目录|目錄|終章|终章|附录|附錄)[.:]?",
    re.IGNORECASE,
)
_NUMBERED_WORDS = {
    level: re.compile(
        rf"(?:{words})\s+(?P<number>{_NUMBER})(?:\s*[.:]?|\s*[.:—–-]+\s*(?P<title>\S.*)|\s+(?P<bare>\S.*))",
        re.IGNORECASE,
    )
    for level, words in _WORDS.items()
}
_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})", re.IGNORECASE)
_ORDINALS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "  # noqa: SIM905
    "eighteen nineteen twenty first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth last "
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf un deux trois quatre cinq six sept huit neuf dix "
    "premier première deuxième second seconde troisième uno dos tres cuatro cinco seis siete ocho nueve diez primera "
    "primero primo prima segunda segundo secondo tercera tercero terzo один два три четыре пять шесть семь восемь "
    "девять десять первая вторая третья четвертая четвёртая пятая шестая седьмая восьмая девятая десятая первый второй "
    "третий a b c d e f".split()
)
CJK_HEADING = re.compile(
    r"(?P<unit>第\s?[〇零一二三四五六七八九十百千两兩\d０-９]{1,7}\s?[部卷編编篇章回节節話话幕])"
    r"(?:[\s　:：、.．—-]+(?P<title>\S.*))?"
    r"|제\s?\d+\s?[부편장절](?:[\s:.]+\S.*)?"
)
CJK_BEGINNINGS = ("第", "제")
"""The characters with which `CJK_HEADING` begins. To compare them costs less than the pattern, line for line."""
_CJK_LEVELS = {"部": 1, "卷": 1, "編": 1, "编": 1, "篇": 1, "节": 3, "節": 3}
_SENTENCE_END = re.compile(r"[.!?;,:。！？；，、…]['\"”’»)\]]*\Z")
_INNER_END = re.compile(r"[.!?;]\s|[。！？；]")


def word_level(line: str) -> tuple[int, bool] | None:
    """Returns the rank of a heading by its word, and whether it has no title of its own; None for other lines."""
    if line.startswith(CJK_BEGINNINGS) and (cjk := CJK_HEADING.fullmatch(line)):
        unit = (cjk["unit"] or "章")[-1]
        return None if is_sentence(line) or len(line) > 40 else (_CJK_LEVELS.get(unit, 2), False)
    if _NAMED.fullmatch(line):
        return 2, False
    for level, pattern in _NUMBERED_WORDS.items():
        found = pattern.fullmatch(line)
        if found is None or not _is_number(found["number"]) or line[0].islower():
            continue
        title = found["title"] or found["bare"] or ""
        if found["bare"] and (found["bare"][0].islower() or is_sentence(found["bare"])):
            return None  # a sentence: Chapter IV describes the whale
        return None if title and _INNER_END.search(title) else (level, not title)
    return None


def is_name(line: str) -> bool:
    """Whether the line is the name of a part that has no number: Preface, Contents."""
    return _NAMED.fullmatch(line) is not None


def chapter_number(line: str) -> int:
    """Returns the number of a chapter from its heading, in digits or Roman numerals (Kapitel 9. …), else 0."""
    found = _NUMBERED_WORDS[2].fullmatch(line)
    number = found["number"] if found else ""
    number = number.partition(".")[0]
    return int(number) if number.isdecimal() else roman_value(number)


def _is_number(number: str) -> bool:
    plain = number.lower().removeprefix("the ").strip()
    return plain.replace(".", "").isdigit() or plain in _ORDINALS or _ROMAN.fullmatch(plain) is not None


def is_sentence(line: str) -> bool:
    """Whether a sentence seems to end within the line or at its end."""
    return bool(_SENTENCE_END.search(line) or _INNER_END.search(line))


def ends_sentence(line: str) -> bool:
    return _SENTENCE_END.search(line) is not None


def roman_value(roman: str) -> int:
    if not roman or not _ROMAN.fullmatch(roman):
        return 0
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}[letter] for letter in roman.upper()]
    return sum(-a if a < b else a for a, b in pairwise([*values, 0]))
