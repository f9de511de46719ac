"""Labels that say the same in the statements of different companies: what one calls net sales is revenue to another.

A question says the words that its author knows, and the row has the words of the company. So a question that says one
term of a group asks for rows with the others, too (`find_said_labels`).
"""

import re
from collections.abc import Sequence
from functools import cache

from core.passage_context.row_labels import SUM_WORDS
from core.text.terms import split_words

__all__ = ["find_said_labels"]

_GROUPS = """
net sales; revenue; revenues; net revenue; operating revenues; (sales); (turnover)
gross margin; gross profit
net income; net earnings; net profit; profit for the period; profit for the year; net income (loss)
income before income taxes; profit before tax; pre-tax income; pre-tax profit; pre-tax result
operating income; operating profit; income from operations; profit from operations; earnings from operations
operating expenses; operating costs
cost of sales; cost of revenue; cost of revenues; cost of goods sold; cost of products sold
shareholders' equity; stockholders' equity; total equity
inventories; inventory; stock on hand
accounts receivable; trade receivables
accounts payable; trade payables
share repurchases; stock repurchases; repurchases of common stock; share buybacks; stock buybacks; treasury stock
capital expenditures; capital expenditure; capex; purchases of property and equipment
long-term debt; term debt; long-term borrowings; notes payable
provision for income taxes; income tax expense; income taxes
earnings per share; EPS
Umsatz; Umsätze; Umsatzerlöse; Nettoumsatz
Bruttogewinn; Bruttoergebnis; Rohertrag
Jahresüberschuss; Nettogewinn; Konzernergebnis
Betriebsergebnis; operatives Ergebnis; EBIT
Forschung und Entwicklung; Forschungs- und Entwicklungskosten
Vorräte; Lagerbestand; Lagerbestände
Forderungen; Forderungen aus Lieferungen und Leistungen
chiffre d'affaires; ventes; revenus; produits d'exploitation
résultat net; bénéfice net
résultat opérationnel; résultat d'exploitation
"""
"""A group a line, its terms between semicolons. What is in parentheses has other meanings, too: rows may be called so,
but a question that says it does not ask for the group.
"""
_SHORT_FORMS = (
    (re.compile(r"\bR ?& ?D\b"), "research and development"),
    (re.compile(r"\bSG ?& ?A\b"), "selling, general and administrative"),
    (re.compile(r"\bF ?& ?E\b"), "Forschung und Entwicklung"),
)
"""Single letters are no words of a label, so short forms are written out."""

_Stems = tuple[str, ...]


def find_said_labels(question: str) -> set[frozenset[str]]:
    """Returns the stems of the labels of each group of which the question says a term, and of short forms.

    Of terms that begin at one word the longest counts, and no word counts twice: `cost of sales` is not `sales`.
    """
    found: set[frozenset[str]] = set()
    for short_form, written_out in _SHORT_FORMS:
        if short_form.search(question):
            found.add(_label_of(written_out))
            question = short_form.sub(written_out, question)
    words = _split(question)
    place = 0
    while place < len(words):
        said = _find_longest(words, place)
        found |= _read_groups().get(said, frozenset())
        place += max(1, len(said))
    return found


def _split(text: str) -> _Stems:
    return tuple(word.stem for word in split_words(text))


def _label_of(term: str) -> frozenset[str]:
    return frozenset(_split(term)) - SUM_WORDS


def _find_longest(words: Sequence[str], place: int) -> _Stems:
    for size in range(_longest(), 0, -1):
        term = tuple(words[place : place + size])
        if len(term) == size and term in _read_groups():
            return term
    return ()


@cache
def _read_groups() -> dict[_Stems, frozenset[frozenset[str]]]:
    """Returns for each term, as stems in their order, the labels of all terms of its group."""
    groups: dict[_Stems, frozenset[frozenset[str]]] = {}
    for line in _GROUPS.strip().splitlines():
        terms = [term.strip() for term in line.split(";")]
        labels = frozenset(map(_label_of, terms))
        groups |= {_split(term): labels for term in terms if not term.startswith("(")}
    return groups


@cache
def _longest() -> int:
    return max(map(len, _read_groups()))
