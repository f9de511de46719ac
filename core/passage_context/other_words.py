"""Terms that say the same: what one company calls net sales is revenue to another, and the fourth quarter is Q4.

A question says the words that its author knows, and the row or sentence has the words of the company. So what has one
term of a group answers a question that says another (`find_other_words`, `find_said_labels`).
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache

from core.passage_context.row_labels import SUM_WORDS
from core.text.terms import split_words

__all__ = ["OtherWords", "find_near_words", "find_other_words", "find_said_labels"]

_STATEMENTS = """
net sales; revenue; revenues; net revenue; operating revenues; (sales); (turnover); \
    Umsatz; Umsätze; Umsatzerlöse; Nettoumsatz; chiffre d'affaires; (ventes); (revenus); produits d'exploitation
gross margin; gross profit; Bruttogewinn; Bruttoergebnis; Rohertrag; marge brute
net income; net earnings; net profit; profit for the period; profit for the year; net income (loss); \
    Jahresüberschuss; Nettogewinn; Konzernergebnis; résultat net; bénéfice net
income before income taxes; profit before tax; pre-tax income; pre-tax profit; pre-tax result; \
    Ergebnis vor Steuern; résultat avant impôt
operating income; operating profit; income from operations; profit from operations; earnings from operations; \
    Betriebsergebnis; operatives Ergebnis; EBIT; résultat opérationnel; résultat d'exploitation
operating expenses; operating costs
cost of sales; cost of revenue; cost of revenues; cost of goods sold; cost of products sold
shareholders' equity; stockholders' equity; total equity; Eigenkapital; capitaux propres
inventories; inventory; stock on hand; Vorräte; Lagerbestand; Lagerbestände
accounts receivable; trade receivables; Forderungen; Forderungen aus Lieferungen und Leistungen; créances clients
accounts payable; trade payables
share repurchases; stock repurchases; repurchases of common stock; share buybacks; stock buybacks; treasury stock
capital expenditures; capital expenditure; capex; purchases of property and equipment
long-term debt; term debt; long-term borrowings; notes payable
provision for income taxes; income tax expense; income taxes
earnings per share; EPS; Ergebnis je Aktie; résultat par action
research and development; Forschung und Entwicklung; Forschungs- und Entwicklungskosten; recherche et développement
employees; headcount; Mitarbeiter; Beschäftigte; effectif; effectifs
"""
"""A group a line, its terms between semicolons. A question need not be in the language of the report. What is in
parentheses has other meanings, too: rows may be called so, but a question that says it does not ask for the group.
"""
_PERIODS_AND_OFFICES = """
first quarter; 1st quarter; Q1; erstes Quartal; ersten Quartal; premier trimestre; 1er trimestre
second quarter; 2nd quarter; Q2; zweites Quartal; zweiten Quartal; deuxième trimestre; 2e trimestre
third quarter; 3rd quarter; Q3; drittes Quartal; dritten Quartal; troisième trimestre; 3e trimestre
fourth quarter; 4th quarter; Q4; viertes Quartal; vierten Quartal; quatrième trimestre; 4e trimestre
January; Jan; Januar; janvier
February; Feb; Februar; février
March; (Mar); März; mars
April; Apr; avril
June; Jun; Juni; juin
July; Jul; Juli; juillet
August; Aug; août
September; Sep; Sept; septembre
October; Oct; Oktober; Okt; octobre
November; Nov; novembre
December; Dec; Dezember; Dez; décembre
chief executive officer; chief executive; CEO
chief financial officer; CFO
chief operating officer; COO
chief technology officer; CTO
chief information officer; CIO
human resources; HR
value added tax; VAT
"""
"""Groups in the same form that are no labels of a statement."""
_NEAR = """
terminate; end; cancel; (expire); (rescind); termination; cancellation
notice; notification; notify; inform; (tell); (written notice)
fee; charge; price; (cost)
salary; wage; wages; pay; paid; remuneration; compensation; earn; (stipend)
holiday; holidays; vacation; annual leave; (paid time off)
employee; staff; worker; personnel; team member
landlord; lessor; (owner)
tenant; lessee; renter
rent; lease payment; (rental)
buyer; purchaser
seller; vendor; supplier
assign; transfer; assignment
sublet; sublease; underlet
disclose; reveal; divulge; share; disclosure
confidential; secret; (proprietary)
liable; responsible; liability; responsibility
damages; compensation; indemnify; indemnity; (losses)
renew; extend; prolong; renewal; extension
late; overdue; delayed; delay; (past due); (default)
deposit; security deposit
term; duration; (period)
duty; duties; obligation; obligations; responsibilities
permit; allow; permitted; allowed; authorize; (entitled)
prohibit; forbid; prohibited; forbidden
repair; fix; mend; (maintain)
buy; purchase; acquire
begin; start; commence; commencement
illness; sickness; sick; ill
reimburse; refund; repay; pay back; reimbursement
penalty; fine; late fee; (surcharge)
dispute; disagreement; (controversy)
court; courts; jurisdiction; (tribunal)
insurance; insured; cover; coverage
delete; erase; remove; destroy; destruction; deletion
keep; retain; store; retention; stored; kept
warranty; guarantee
failure; breakdown; malfunction; fault; defect
maximum; limit; cap; exceed
quit; resign; resignation
dismiss; dismissal; fired
hire; recruit; employ; engage
expense; expenses; cost; costs
trip; travel; journey
hotel; accommodation; lodging
annually; yearly; every year; per year; annual; per annum
monthly; every month; per month
quarterly; every three months; every quarter
weekly; every week; per week
two weeks; 14 days; fourteen days; fortnight
third party; third parties; others; outsiders
car; vehicle; cars; vehicles
replace; exchange; substitute; replacement
choose; select; elect
check; inspect; examine; inspection; audit
breach; violate; violation; non-compliance; (failure to comply)
cure; fix; remedy; rectify; (correct)
lawsuit; lawsuits; litigation; legal action; legal proceedings
governing law; applicable law; law applies; anwendbares Recht; geltendes Recht; Recht gilt; droit applicable
feedback; suggestion; suggestions; (comments)
bill; invoice
bankrupt; bankruptcy; insolvency; insolvent
"""
"""Groups in the same form of what people say for what agreements, policies and manuals say. A term is near to another
in such texts, and seldom the same: it leads to a sentence, and does not hold an answer.
"""
_SHORT_FORMS = (
    (re.compile(r"\bR ?& ?D\b"), "research and development"),
    (re.compile(r"\bSG ?& ?A\b"), "selling, general and administrative"),
    (re.compile(r"\bF ?& ?E\b"), "Forschung und Entwicklung"),
)
"""Single letters are no words of a label, so short forms are written out."""

_Stems = tuple[str, ...]
_Groups = Mapping[_Stems, frozenset[frozenset[str]]]
_MOST_WORDS = 8
"""Words of a term, at most."""


@dataclass(frozen=True, slots=True)
class OtherWords:
    """A term that a text says, as stems in their order, and the stems of each other term that says the same."""

    said: _Stems
    others: frozenset[frozenset[str]]

    def is_in(self, stems: Set[str]) -> bool:
        """Whether a text with these stems has one of the other terms."""
        return any(other <= stems for other in self.others)


def find_other_words(text: str) -> list[OtherWords]:
    """Returns the terms of groups that a text says, in their order, with the other terms of their groups.

    Of terms that begin at one word the longest counts, and no word counts twice: `cost of sales` is not `sales`.
    """
    return _find(_split(text), _read_groups())


def _find(words: _Stems, groups: _Groups) -> list[OtherWords]:
    found = []
    place = 0
    while place < len(words):
        said = _find_longest(words, place, groups)
        if said:
            found.append(OtherWords(said, groups[said] - {frozenset(said)}))
        place += max(1, len(said))
    return found


def find_near_words(text: str) -> list[OtherWords]:
    """Returns the terms of a text in the same way that have others near to them, which mean about the same."""
    return _find(_split(text), _read_near())


def find_said_labels(question: str) -> set[frozenset[str]]:
    """Returns the stems of the labels of each group of which the question says a term, and of short forms."""
    found: set[frozenset[str]] = set()
    for short_form, written_out in _SHORT_FORMS:
        if short_form.search(question):
            found.add(_label_of(written_out))
            question = short_form.sub(written_out, question)
    for term in find_other_words(question):
        found |= _read_groups()[term.said]
    return found


def _split(text: str) -> _Stems:
    return tuple(word.stem for word in split_words(text))


def _label_of(term: str) -> frozenset[str]:
    return frozenset(_split(term)) - SUM_WORDS


def _find_longest(words: Sequence[str], place: int, groups: _Groups) -> _Stems:
    for size in range(_MOST_WORDS, 0, -1):
        term = tuple(words[place : place + size])
        if len(term) == size and term in groups:
            return term
    return ()


@cache
def _read_groups() -> dict[_Stems, frozenset[frozenset[str]]]:
    """Returns for each term, as stems in their order, the labels of all terms of its group."""
    return _read(_STATEMENTS + _PERIODS_AND_OFFICES)


@cache
def _read_near() -> dict[_Stems, frozenset[frozenset[str]]]:
    return _read(_NEAR)


def _read(lines: str) -> dict[_Stems, frozenset[frozenset[str]]]:
    groups: dict[_Stems, frozenset[frozenset[str]]] = {}
    for line in filter(str.strip, lines.splitlines()):
        terms = [term.strip() for term in line.split(";")]
        labels = frozenset(label for term in terms if (label := _label_of(term.strip("()"))))
        for term in terms:
            if not term.startswith("("):
                groups[_split(term)] = groups.get(_split(term), frozenset()) | labels
    return groups
