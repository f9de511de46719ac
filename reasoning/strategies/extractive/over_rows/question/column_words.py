"""Words that people say for a column of a table: `earns` for `Gross salary`, `heaviest` for `Weight (kg)`; and what a
column is compared with, a number or another column.

A group has the names of such columns, then the words that ask for their greatest and least values, in English, German
and French. Its words stand for a column only if no word of the table is the word itself.
"""

import re
from dataclasses import dataclass
from functools import cache

from core.text.terms import split_words
from reasoning.strategies.survey.plan import Comparison, read_number


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MANAGERS = (
    "manager supervisor boss superior Vorgesetzter Vorgesetzte Vorgesetzten Führungskraft supérieur responsable chef"
)
_GROUPS = f"""
price cost costs fee charge fare rate spend spent paid Preis Preise Kosten kostet kosten Gebühr Tarif bezahlt prix \
    coût coûts coûte coûtent tarif frais
salary wage wages pay earn earns earned earning earnings Gehalt Gehälter Lohn Verdienst Vergütung verdient verdienen \
    salaire salaires paie rémunération gagne gagnent
weight mass weigh weighs weighed Gewicht Masse wiegt wiegen poids masse pèse pèsent
length long Länge lang longueur duration time took take lasts last lasted Dauer Zeit dauert dauern durée dure durent
age old Alter alt âge
height tall Höhe hoch hauteur
temperature Temperatur température
speed velocity Geschwindigkeit Tempo vitesse
power output Leistung puissance
amount sum Betrag Summe Gesamtbetrag montant somme
invoiced billed Betrag amount montant facturé facturée
donated donation gave Betrag amount montant gespendet Spende Spenden donné don
customer client buyer Kunde Kundin Käufer Auftraggeber client acheteur
supplier vendor seller Lieferant Anbieter Verkäufer fournisseur vendeur
{_MANAGERS}
employee staff worker colleague Mitarbeiter Mitarbeiterin Mitarbeitende Angestellter Beschäftigte Arbeitnehmer employé \
    salarié collaborateur
quantity stock inventory Menge Bestand Lagerbestand Stückzahl quantité stock
department division Abteilung Bereich département service
place location site branch office city town Ort Standort Lagerort Stadt Filiale ville lieu site
country nation Land Staat pays
product article item goods Produkt Artikel Ware Position produit article
part item component Teil Bauteil pièce
category group type kind class Kategorie Gruppe Art Typ Klasse catégorie groupe type genre
vehicle Fahrzeug véhicule
mileage kilometres kilometers Kilometerstand Laufleistung kilométrage
hire hired joined join employed Eintritt Einstellung Eintrittsdatum eingestellt eingetreten embauche embauché entrée
built construction Baujahr year construit
serviced service Wartung gewartet
released release published publication issued Veröffentlichung veröffentlicht erschienen Ausgabe sortie publié
born birth birthday Geburtstag Geburtsdatum geboren naissance né
died death killed Tod gestorben décès mort
delivered delivery Lieferung Lieferdatum geliefert livraison livré
due deadline Frist fällig Fälligkeit échéance
date day Datum Tag date jour
revenue sales turnover Umsatz Umsätze Nettoumsatz revenus ventes
profit gain Gewinn bénéfice
expense expenses spending Ausgaben Aufwand dépense dépenses
invoice bill Rechnung facture
order Bestellung Auftrag commande
teacher trainer instructor lecturer teaches teach Lehrer Lehrerin Lehrkraft Dozent unterrichtet enseignant professeur
subject course Fach Kurs matière cours
room Raum Saal Zimmer salle
manufacturer maker brand make Hersteller Marke fabricant marque
population inhabitants people Einwohner Bevölkerung habitants population
sex gender Geschlecht sexe
status state condition Status Zustand statut état
distance Entfernung Strecke distance
consumption usage used Verbrauch verbraucht consommation
production output produced Produktion Erzeugung erzeugt produit production
registrations registered Anmeldungen angemeldet inscrits inscriptions
"""
_PERSONS = """
employee person people staff worker colleague name inspector teacher trainer instructor customer client author driver
student member owner supplier donor player Mitarbeiter Mitarbeiterin Mitarbeitende Person Personen Leute Name Kunde
Lehrkraft Lehrer Fahrer Schüler Mitglied Spender employé salarié collaborateur personne personnes nom client enseignant
"""
_HIRED = """
hire hired hires hiring join joined joins joining employ employed eingestellt eingetreten angefangen embauché embauchés
"""
_STARTS = "start started starting begin began beginning since entry Start Startdatum Beginn seit début"
_WEAK = _words("first last letzte letzten letzter letztes erste ersten erster erstes premier première")
_NAMES = {
    "price": ("price cost fee charge fare Preis Kosten Gebühr Tarif prix coût tarif", False),
    "weight": ("weight mass Gewicht Masse poids masse", False),
    "length": ("length duration time Länge Dauer Zeit longueur durée", False),
    "size": ("length Länge longueur", False),
    "height": ("height Höhe Größe hauteur taille", False),
    "speed": ("speed velocity Geschwindigkeit Tempo vitesse", False),
    "heat": ("temperature Temperatur température", False),
    "noise": ("noise sound Lärm Schallpegel Schalldruck Schallleistung Lautstärke Geräusch bruit", False),
    "width": ("width breadth Breite largeur", False),
    "depth": ("depth Tiefe profondeur", False),
    "thickness": ("thickness Dicke Stärke épaisseur", False),
    "strength": ("strength Festigkeit résistance", False),
    "power": ("power output Leistung puissance", False),
    "distance": ("distance Entfernung distance", False),
    "people": ("population inhabitants Einwohner Bevölkerung habitants", False),
    "age": ("age Alter âge", True),
    "date": ("", True),
}
"""Names of the columns that an adjective orders, and whether dates tell it as well."""
_SUPERLATIVE = re.compile(
    r"\b(?:(?P<price_most>most expensive|dearest|teuerste\w?|am teuersten|plus chère?s?)"
    r"|(?P<price_least>cheapest|least expensive|billigste\w?|günstigste\w?|moins chère?s?)"
    r"|(?P<weight_most>heaviest|schwerste\w?|plus lourde?s?)|(?P<weight_least>lightest|leichteste\w?|plus légère?s?)"
    r"|(?P<length_most>longest|längste\w?|plus long(?:ue)?s?)|(?P<length_least>shortest|kürzeste\w?|plus courte?s?)"
    r"|(?P<height_most>tallest)|(?P<speed_most>fastest|quickest|schnellste\w?|plus rapides?)"
    r"|(?P<speed_least>slowest|langsamste\w?|plus lente?s?)"
    r"|(?P<heat_most>hottest|warmest|heißeste\w?|wärmste\w?|plus chaude?s?)"
    r"|(?P<heat_least>coldest|coolest|kälteste\w?|plus froide?s?)"
    r"|(?P<noise_most>loudest|noisiest|lauteste\w?|plus bruyante?s?)"
    r"|(?P<noise_least>quietest|leiseste\w?|plus silencieu(?:x|ses?)|moins bruyante?s?)"
    r"|(?P<width_most>widest|broadest|breiteste\w?|plus larges?)"
    r"|(?P<width_least>narrowest|schmalste\w?|plus étroite?s?)"
    r"|(?P<depth_most>deepest|tiefste\w?|plus profonde?s?)|(?P<depth_least>shallowest)"
    r"|(?P<thickness_most>thickest|dickste\w?|plus épaiss?e?s?)|(?P<thickness_least>thinnest|dünnste\w?)"
    r"|(?P<strength_most>strongest)|(?P<strength_least>weakest)"
    r"|(?P<power_most>most powerful|leistungsstärkste\w?|plus puissante?s?)|(?P<power_least>least powerful)"
    r"|(?P<distance_most>farthest|furthest|most distant)|(?P<distance_least>nearest|closest)"
    r"|(?P<people_most>most populous|bevölkerungsreichste\w?|plus peuplée?s?)|(?P<people_least>least populous)"
    r"|(?P<age_most>youngest|jüngste\w?|plus jeunes?)|(?P<age_least>oldest|älteste\w?|plus âgée?s?|plus vieux)"
    r"|(?P<date_most>latest|newest|most recent|last|neu(?:e)?ste\w?|letzte\w?|dernière?s?|plus récente?s?)"
    r"|(?P<date_least>earliest|first|früheste\w?|erste\w?|première?s?|plus anciennes?))(?!\w)",
    re.IGNORECASE,
)
"""Who is young has the least age, but was born last."""
_COMPARATIVES = {
    "older": "age", "younger": "age", "älter": "age", "jünger": "age",
    "heavier": "weight", "lighter": "weight", "schwerer": "weight", "leichter": "weight",
    "longer": "length", "shorter": "length", "länger": "length", "kürzer": "length",
    "more expensive": "price", "less expensive": "price", "cheaper": "price", "dearer": "price",
    "teurer": "price", "billiger": "price", "günstiger": "price",
    "louder": "noise", "noisier": "noise", "quieter": "noise", "lauter": "noise", "leiser": "noise",
    "wider": "width", "narrower": "width", "breiter": "width", "schmaler": "width",
    "deeper": "depth", "tiefer": "depth", "thicker": "thickness", "thinner": "thickness", "dicker": "thickness",
    "taller": "height", "faster": "speed", "slower": "speed", "schneller": "speed", "langsamer": "speed",
    "hotter": "heat", "warmer": "heat", "colder": "heat", "wärmer": "heat", "kälter": "heat",
}  # fmt: skip
"""What a comparison such as "older than 50" compares."""


_COMPARED = re.compile(
    r"\b(?:(?P<more>(?:more|greater|higher|larger|(?P<of_more>older|heavier|longer"
    r"|dearer|more expensive|louder|noisier|wider|deeper|thicker|taller|faster|hotter|warmer)) than"
    r"|over|above|exceeding"
    r"|mehr als|über|größer als|höher als|(?P<of_mehr>älter|schwerer|länger|teurer"
    r"|lauter|breiter|tiefer|dicker|schneller|wärmer) als|plus de|supérieure?s? à)"
    r"|(?P<less>(?:less|fewer|lower|smaller|(?P<of_less>younger|lighter|shorter"
    r"|cheaper|less expensive|quieter|narrower|thinner|slower|colder)) than|under|below"
    r"|weniger als|unter|kleiner als|(?P<of_weniger>jünger|leichter|kürzer"
    r"|billiger|günstiger|leiser|schmaler|langsamer|kälter) als"
    r"|moins de|inférieure?s? à)|(?P<least>at least|mindestens|au moins)|(?P<most>at most|höchstens|au plus))"
    r"\s(?:EUR |USD |GBP |CHF |[$€£]\s?)?(?P<number>\d[\d.,']{0,20}\d|\d)"
    r"(?:\s?(?:EUR|USD|GBP|CHF|[Ee]uros?|dollars?|pounds|[Ff]ranken|francs|[$€£%])(?!\w))?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"\b(?:between|zwischen|entre)\s(?:[$€£]\s?)?(?P<least>\d[\d.,']{0,20}\d|\d)(?:\s?[$€£%])?\s(?:and|und|et)\s"
    r"(?:[$€£]\s?)?(?P<most>\d[\d.,']{0,20}\d|\d)"
    r"(?:\s?(?:EUR|USD|GBP|CHF|[Ee]uros?|dollars?|pounds|[Ff]ranken|francs|[$€£%])(?!\w))?",
    re.IGNORECASE,
)
_SCALE = re.compile(
    r"\s(?P<scale>thousand|million|billion|tausend|millionen|milliarden|millions?|milliards?)\b", re.IGNORECASE
)
_SCALES = {"thousand": 3, "tausend": 3, "million": 6, "millionen": 6, "millions": 6, "billion": 9, "milliarden": 9,
           "milliard": 9, "milliards": 9}  # fmt: skip

_BESIDE = re.compile(
    r"\b(?:(?P<more>(?:more|higher|greater|larger) than|over|above|exceed(?:s|ed|ing)?|mehr als|höher als|größer als"
    r"|über|plus (?:de|que)|supérieure?s? à|au-dessus d[eu])"
    r"|(?:less|lower|fewer|smaller) than|under|below|weniger als|niedriger als|kleiner als|unter|moins (?:de|que)"
    r"|inférieure?s? à|(?:en |au-)dessous d[eu])"
    r"\s(?:(?:the|its|their|an?|de[mnrs]|das|die|ihre[mnrs]?|seine[mnrs]?|l[ea]s?|leur|son|sa)\s)?"
    r"(?P<bound>(?:min|max)imum\b)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Superlative:
    """An adjective that names what it orders. `names` are stems of names of columns, `may_be_date` tells that dates are
    ordered if no column has such a name; `is_most` that the greatest date, and the greatest value if not `is_turned`,
    is meant. `is_weak`: the word may also be a part of a name ("first aid").
    """

    names: frozenset[str]
    may_be_date: bool
    is_most: bool
    is_turned: bool
    is_weak: bool
    span: tuple[int, int]


def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in split_words(text))


def find_superlative(text: str) -> Superlative | None:
    """Returns the first such adjective of a question, None without any."""
    found = _SUPERLATIVE.search(text)
    if found is None or found.lastgroup is None:
        return None
    kind, _, end = found.lastgroup.partition("_")
    names, may_be_date = _NAMES[kind]
    return Superlative(
        names=_stems(names),
        may_be_date=may_be_date,
        is_most=end == "most",
        is_turned=kind == "age",
        is_weak=found.group().casefold() in _WEAK,
        span=found.span(),
    )


def find_names(kind: str) -> frozenset[str]:
    """Returns the stems of names of columns of a measure such as "weight"."""
    return _stems(_NAMES[kind][0])


def find_compared_names(comparative: str) -> frozenset[str]:
    """Returns the stems of names of the columns that a word such as "older" compares."""
    kind = _COMPARATIVES.get(comparative.casefold(), "")
    return _stems(_NAMES[kind][0]) if kind else frozenset()


@cache
def _groups() -> tuple[frozenset[str], ...]:
    return tuple(_stems(line) for line in _GROUPS.replace("\\\n", " ").strip().splitlines())


def has_same_name(stem: str, names: frozenset[str]) -> bool:
    """Returns whether a word of a question is of one group with a word of a column's name."""
    return any(stem in group and not group.isdisjoint(names) for group in _groups())


def names_manager(names: frozenset[str]) -> bool:
    """Returns whether the name of a column tells that its cells are managers of the persons of the rows."""
    return not _stems(_MANAGERS).isdisjoint(names)


@cache
def _work_stems() -> tuple[frozenset[str], frozenset[str]]:
    return _stems(_HIRED), _stems(_STARTS)


def is_start_of_work(stem: str, names: frozenset[str]) -> bool:
    """Returns whether a word such as "joined" is said of the column of dates from which persons work: `Start date`."""
    hired, starts = _work_stems()
    return stem in hired and not names.isdisjoint(starts)


@cache
def _person_stems() -> frozenset[str]:
    return _stems(_PERSONS)


def is_person(names: frozenset[str]) -> bool:
    """Returns whether a word, or the name of a column, tells that persons or parties are meant."""
    return not _person_stems().isdisjoint(names)


def blank(text: str, found: re.Match[str] | None) -> str:
    """Returns a text of the same length without what was found."""
    if found is None:
        return text
    return text[: found.start()] + " " * (found.end() - found.start()) + text[found.end() :]


@dataclass(frozen=True, kw_only=True, slots=True)
class Beside:
    """A comparison with another column, "below the minimum stock": its words and where they stand, and where a word for
    a bound stands behind them, which does not ask for the least or greatest.
    """

    words: str
    is_more: bool
    start: int
    end: int
    bound: tuple[int, int]


def find_beside(text: str) -> Beside | None:
    """Returns the first words of a question that may compare a column with another."""
    found = _BESIDE.search(text)
    if found is None:
        return None
    bound = found.span("bound") if found["bound"] else (found.end(), found.end())
    words = found.group()[: bound[0] - found.start()].strip()
    return Beside(
        words=words, is_more=found["more"] is not None, start=found.start(), end=found.start() + len(words), bound=bound
    )


def is_between(text: str) -> bool:
    return _BETWEEN.search(text) is not None


def has_comparison(text: str) -> bool:
    """Returns whether something is compared with a number."""
    return _COMPARED.search(text) is not None or is_between(text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """A comparison, its place, the names of columns that it tells, and the text without it."""

    rest: str
    comparison: Comparison | None = None
    span: tuple[int, int] = (0, 0)
    names: frozenset[str] = frozenset()
    factor: int = 1


def find_comparison(text: str) -> Compared:
    if found := _BETWEEN.search(text):
        comparison = Comparison(
            words=_between_words(found),
            number=f"{found['least']} and {found['most']}",
            least=read_number(found["least"]),
            most=read_number(found["most"]),
            is_strict=False,
        )
        return Compared(rest=blank(text, found), comparison=comparison, span=found.span())
    found = _COMPARED.search(text)
    if found is None:
        return Compared(rest=text)
    comparative = found["of_more"] or found["of_less"] or found["of_mehr"] or found["of_weniger"] or ""
    rest, factor, end = blank(text, found), 1, found.end()
    if scale := _SCALE.match(text, end):
        rest, factor, end = blank(rest, scale), 10 ** _SCALES[scale["scale"].casefold()], scale.end()
    return Compared(
        rest=rest,
        comparison=_read_comparison(found, factor),
        span=(found.start(), end),
        names=find_compared_names(comparative),
        factor=factor,
    )


def _between_words(found: re.Match[str]) -> str:
    return found.group().split()[0]


def _read_comparison(found: re.Match[str], factor: int) -> Comparison:
    value = read_number(found["number"])
    value = None if value is None else value * factor
    return Comparison(
        words=found.group()[: found.start("number") - found.start()].strip(),
        number=f"{value:,.0f}" if factor > 1 and value is not None else found["number"],
        least=value if found["more"] or found["least"] else None,
        most=value if found["less"] or found["most"] else None,
        is_strict=bool(found["more"] or found["less"]),
    )
