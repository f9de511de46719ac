"""Forms of a word that stems keep apart, such as `fail` and `failure`, and words for numbers.

Open it when a survey leaves out a document that says the same word in another form.
"""

from functools import cache

from core.text.terms import split_words

_FORMS = """
fail fails failed failing failure failures
indemnify indemnifies indemnified indemnification indemnity
approve approves approved approval
refuse refused refusal
renew renewed renewal renewable
propose proposed proposal
dispose disposed disposal
expire expires expired expiry expiration
break breaks broke broken breakage
buy buys bought
sell sells sold sale sales
pay pays paid payment payments payable
bezahlt bezahlte bezahlten bezahlter bezahltes
unbezahlt unbezahlte unbezahlten unbezahlter unbezahltes
offen offene offenen offener offenes
payé payée payés payées
impayé impayée impayés impayées
lose loses lost loss losses
leave leaves left
choose chose chosen choice
begin begins began begun
rise rises rose risen
hold holds held
keep keeps kept
leak leaks leaked leakage
deliver delivers delivered delivery deliveries
depart departs departed departure
expose exposed exposure
seize seized seizure
injure injured injury injuries
criterion criteria
die dies died death deaths
grow grew grown growth
lend lends lent loan loans
build builds built
send sends sent
shut shuts shutdown
modify modifies modified modification modifications
notify notifies notified notification notifications
certify certified certification
verify verified verification
terminate terminates terminated termination
arbitrate arbitration arbitrator arbitral
confidential confidentiality
Germany German
France French
Italy Italian
Spain Spanish
Switzerland Swiss
Austria Austrian
Netherlands Dutch
Japan Japanese
China Chinese
England English
kündigen kündigt gekündigt Kündigung
zahlen zahlt bezahlt Zahlung
liefern liefert geliefert Lieferung
ausfallen ausgefallen Ausfall
haften haftet Haftung
"""
"""Words of one line are forms of one word."""
_NUMBERS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty
"""
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}


def find_forms(stem: str) -> frozenset[str]:
    """Returns the stems of all forms of the word with this stem, itself included."""
    return _read_forms().get(stem, frozenset([stem]))


def find_number(word: str) -> str:
    """Returns the digits of a number that is written as a word or in digits, '' for another word."""
    word = word.casefold()
    return word if word.isdecimal() and word.isascii() else _read_numbers().get(word, "")


@cache
def _read_numbers() -> dict[str, str]:
    return {word: str(value) for value, word in enumerate(_NUMBERS.split())} | {
        word: str(value) for word, value in _TENS.items()
    }


@cache
def _read_forms() -> dict[str, frozenset[str]]:
    forms: dict[str, frozenset[str]] = {}
    for line in _FORMS.strip().splitlines():
        stems = frozenset(word.stem for word in split_words(line))
        forms |= dict.fromkeys(stems, stems)
    for word, digits in _read_numbers().items():
        stems = frozenset(found.stem for found in split_words(f"{word} {digits}"))
        forms |= dict.fromkeys(stems, stems)
    return forms
