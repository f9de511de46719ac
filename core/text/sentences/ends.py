"""Whether a mark ends a sentence: rules about the word before it and the word after it. Used by `splitter.py`.

First come words that a full stop follows without ending a sentence, in the languages of law, science and mail around
us.
"""

import re


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


BEFORE_NAME = _split(
    "adj avv brig capt cass circ cmdr col comm cons cpl def dipl dott dr dra dres drs dña ed ev ex fam fr frl gen "
    "geom gest gov hh hl hon hr hrn ing insp kfm lat lic lt mag maj mech med messrs mgr mind mlle mm mme mmes mons "
    "mr mrs ms mt mx obs pers ph phil pres prin prof profa proff profs prov rag rel rep rer rev sen sgt sig sigg "
    "sigra spec sr sra sras sres srta st sta supt trad trib var vet vors"
)
"""Titles and forms of address. A name follows."""

BEFORE_NUMBER = _split(
    "abb abs abschn alin all anh anl anm ap apdo app apr aprile apt arr art arts artt aufl aug ausg av az ba bd "
    "bde beil bem bl buchst c cap capo caps ch chap chaps cl cls cols conv cost d dec decr des dez dic disp doc "
    "déc eq eqs erw es esp exh exp f fasc feb febr fig figs fn fol fussn févr gl h hft jan janv jg juil jul jun "
    "kap kol lect lett lfd lgs lib lit mär märz n nn no nos nov nr nrn nro num nums núm núms oct okt op ord ott p "
    "pag pagg par para paras pg pgs pkt pos pp prot pt pts pág págs párr r randnr rd rdn rdnr ref refs reg res "
    "resol rn rs rz s sched sec secc secs sect sent sentt sep sept sess sez sp stat subd subsec suppl t tab tabl "
    "tabs taf tel tit tom ts u urt v ver vers vol vols z zif ziff"
)
"""What counts articles, pages, volumes and days. A number follows, or a letter."""

BEFORE_TEXT = _split(
    "abgek abk abzgl allg amm amm.va ann approx aprox apx arab bes betr bsp bspw bzgl bzw c.d ca cca cf cfr conf "
    "confr cp cpr d.h dtsch e.g eds einschl ej engl entspr env etw eventl evt evtl excl exkl frz gegr gem ggf ggfs "
    "griech hg hgg hrsg i.a i.d.f i.d.r i.e i.r i.s.d i.s.v i.v i.v.m ibid ibíd incl inkl insb insbes ital jew "
    "kath m.a.w m.e m.w.n n.b notamm näml o.g o.ä p.ej p.es p.ex par.ex per prec resp s.a s.o s.u s.v.w sc scil "
    "sog spéc städt subj svw syn transl u.u usu v.a v.s v.si vd verf vgl vglb viz vorm vs z.b z.t zit zw zzgl zzt "
    "éd éds ü.a überarb übers"
)
"""What introduces an example, a comparison, an estimate or an addition. The sentence goes on in any case."""

MAY_END = _split(
    "adm ag al alii ave blvd bros bv chr civ co com consom corp cos cía dept dgl ecc eg esq est etc eur ff gmbh "
    "gén inc inst int jh jhd jhdt jhs jr just llc ltd ltda md mia mill mio monét mrd n.chr nv nw pen phd plc proc "
    "pty pén s.a.s s.l s.p.a s.r.l s.s sa se seg segg sek sgg spa sqq srl ss ssq std ste str trav tsd u.a u.s.w "
    "u.ä univ urb usf usw uswf uu v.chr vda"
)
"""What stands at the end of a sentence as often as within it. The next word decides."""

_AMOUNTS = _split("mia mill mio mrd tsd")
_CURRENCIES = _split("chf dm dollar eur euro franken gbp pfund rub sek stück us usd yen")
"""What is counted in thousands, millions or billions, as in "156,8 Mio. EUR"."""

_LABELS = _split(
    "abb abbildung abschnitt allegato anexo anhang annex annexe appendix art article articles articolo articulo "
    "artikel artt artículo beispiel capitolo capítulo chapitre chapter clause ejemplo esempio example exemple fig "
    "figura figure kapitel n no nr paragraph part parte partie paso passo regel rule schritt sec sect section step "
    "tab tabella tabelle tabla table tableau teil titel title titolo titre título § §§ étape"
)
"""What a number follows at the beginning of a heading, as in "Section 5. Definitions"."""

_MONTHS = _split(
    "abril agosto août apr april aprile aug august augustus avril dec december dez dezember dicembre diciembre "
    "décembre enero feb febbraio feber febrero februar februari february février gennaio giugno jan januar januari "
    "january janvier juillet juin jul juli julio july jun june juni junio jänner luglio maart maggio mai march "
    "mars marzo may mayo mei märz nov november novembre noviembre oct october octobre octubre okt oktober ottobre "
    "sep sept september septembre septiembre setiembre settembre"
)

_BEFORE_ORDINAL = _split(
    "ab am an auf beim bis das dem den der des die diesem dieser dieses im in jedem jeden jeder jedes nach oder "
    "seit und vom vor zum zur"
)
"""Words before a German ordinal, as in "des 41. Nachdrucks"."""

_AFTER_ORDINAL = _split(
    "abschnitt abteilung aufl auflage ausgabe band bd buch etage generation halbjahr instanz jahr jahrestag "
    "jahrgang jahrhundert jahrhunderts jahrtausend jh jhdt jhs kammer kapitel klasse lebensjahr legislaturperiode "
    "lesung monat nachtrag novelle obergeschoss platz quartal quartals rang runde satz schritt semester senat "
    "sitzung sonntag stelle stock strafsenat strophe tag teil weltkrieg woche zivilsenat"
)
"""Words after an ordinal, as in "2. Jh." or "3. Quartal"."""

_STARTERS = _split(
    "a ab abbiamo aber accordingly additionally además afin after agli ai ainsi al alcune alcuni algunas algunos "
    "all alla alle allerdings allo alors als also although altra altre altri am an anche ancora and andere ante "
    "antes any après as así at attraverso au auch aucun aucune auf aunque aus aussi autre aux außerdem avant avec "
    "bajo because before bei beim bereits bij bis bisogna bitte both but by c cada car ce ceci cela celle celui "
    "cependant ces cet cette chacun chaque che chi ci ciascuna ciascuno come comme como comunque con conforme "
    "consistent contra cosa così cuando d da dabei dado dafür dagli daher dai dal dall dalla dalle damit danach "
    "dann dans daraus darin darum das dass dat davon dazu de dei del dell della delle dello dem den denn depuis "
    "der deren des desde deshalb después dessen deze die dies diese diesem diesen dieser dieses dit donc donde "
    "door dopo dort dove du dunque durante durch during e each een ein eine einem einen einer eines either el ella "
    "elle elles ello ellos en enfin ensuite entonces entre er erst es esa ese eso essa esse essi esso esta estas "
    "este esto estos está et etwa every falls finally fino first for fra from fue further furthermore für gegen "
    "gli ha hanno hasta hay he hence here het hier hierbei hierfür hierzu hij how however i ich if ihr ihre ihrem "
    "ihren ihrer il ils im in infatti inoltre invece is ist it its j ja je jede jeder jedes jedoch kein keine l la "
    "las le les leur lo loro lorsque los luego ma maar mais man many mediante mentre met mientras mit more "
    "moreover most más n naar nach nachdem ne negli nei neither nel nell nella nelle nello nessun nessuna ni nicht "
    "niet no noi non nor nos note nothing notre nous nun nur ob oder of ogni ohne oltre om on once one only ook op "
    "or ora other otherwise otra otro ou our outre par para parce pendant per perché pero pertanto più please "
    "plusieurs poi poiché por porque pour pourtant prima pues puis puisque qu qualora quand quando quanto que quel "
    "quell quella quelle quelli quello quest questa queste questi questo qui quien quindi s sa sans se secondo see "
    "según seit selon senza ser ses she should si sia sie siehe sin since sind sino sinon so sobald sobre sofern "
    "sollte sollten some somit son sono sotto sous soweit sowohl su such sul sull sulla sulle sur sus tale tali "
    "también tandis tanto te tenga that the their then there therefore these they this those though through thus "
    "to tous tout toute toutefois toutes tra tras trotz trotzdem tu tutta tuttavia tutte tutti tutto uit um un una "
    "unas und under une unless uno unos unter until upon usted van vers veuillez viele voi voici vom von voor vor "
    "votre vous wann warum was we weil weitere welche wenn wer werden what when where whether which while who wie "
    "wij wir wird with within without wo während y ya you your zij zu zudem zum zunächst zur zwar zwischen à è "
    "über"
)
"""Function words. With a capital, they begin a sentence rather than go on after an abbreviation."""

_PARTICLES = _split(
    "a al an ca d da dal de dei del della den der des di do dos du l la le les mc o st te ten ter und v van vom "
    "von zu zum zur"
)
"""Function words that are parts of names too, as in "J. de Boer" or "A. La Rocca"."""

_FRAGMENT = 4
"""A piece of no more letters and digits is no sentence of its own, such as "Shri." before a name."""

_WINDOW = 40
"""Characters before a full stop that are read for its last two words."""
_LONGEST_JOINED = 600
"""After so many characters, a small letter may begin a sentence; else a text without capitals would be one."""
_LONGEST_LABEL = 30
_LONGEST_MARK = 40
_PLAIN_WORD = 6
"""A word of this many letters is no abbreviation, so that even a small letter after its full stop begins a sentence."""

_OPENING = "([{\"'“„«‚‘‹¿¡`*_"
_BEFORE_WORD = "([{\"'“„«‚‘‹¿¡`*_§"
_BRACKETS = frozenset("([{")
_DASHES = "-–—"
_BEGINNINGS = _BRACKETS | set(_DASHES + "•")
"""What begins something new behind a full stop, even before a small letter."""
_POSSESSIVE = frozenset({"d", "ll", "m", "re", "s", "t", "ve"})
_NEXT = re.compile(rf"[{re.escape(_OPENING)}]{{0,9}}(?:[-–—•] )?[{re.escape(_OPENING)}]{{0,9}}")
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_ELISION = re.compile(r"['’].*")
_LETTERS = re.compile(rf"(?:[\W\d_]*+[^\W\d_]){{{_FRAGMENT + 1}}}")
_ROMAN = re.compile(r"[IVXLCDM]+\b")
_DOTTED_LETTER = re.compile(r"\W*\w\.")
_DOTTED = re.compile(r"\w{1,4}(?:\.\w{1,7})*\.\w{1,4}")
_ITEM = re.compile(r"[\s(\[]*(?:§+\s*)?(?:\d{1,3}(?:[.-]\w{1,4})*|[A-Za-z]|[ivxIVX]{1,5})[.)]")
_DATE = re.compile(r"\d{1,2}\.\s?\d{2,4}\b")
_LABEL = re.compile(r"[\s(]*(\w+|§+)\.?\s+[\dIVX]+(?:[.-]\w{1,4})*\Z")


def ends_sentence(text: str, start: int, mark: int, after: int, following: int) -> bool:
    """Whether the sentence that begins at `start` ends at `after`, behind a mark and what closes quotes and brackets.

    The mark begins at `mark`; `following` is the place of the next character that is no white space.
    """
    opening = _NEXT.match(text, following)
    at = opening.end() if opening else following
    first = text[at : at + 1]
    if not first:
        return True
    opened = text[following:at]
    if not first.isalnum() and not opened and first in ",;:.!?)]}»”…%=<":
        return first == "<" or (first == "%" and text[mark - 1 : mark].isalnum())
    if text[mark : mark + 2] != "." and text[mark : mark + 2].strip(".") != "" and text[mark] != ".":
        return not first.islower() or _is_lower(text, start, mark)
    if after - mark > 1 and text[mark + 1] == ".":  # dots
        return not first.islower()
    return _full_stop_ends(text, start, mark, after, at, opened)


def is_fragment(text: str, start: int, end: int) -> bool:
    """Whether a piece has no letter, or only a few letters of a script with words."""
    end = min(end, start + _LONGEST_MARK)
    if _LETTERS.match(text, start, end):
        return False
    piece = text[start:end]
    letters = [character for character in piece if character.isalpha()]
    if not letters:
        return True
    cased = all(character.islower() or character.isupper() for character in letters)
    return cased and sum(character.isalnum() for character in piece) <= _FRAGMENT


def is_item_number(text: str, start: int, end: int) -> bool:
    """Whether a range has the number of an item and nothing else."""
    return end - start <= _FRAGMENT * 2 and _ITEM.fullmatch(text, start, end) is not None


def _full_stop_ends(text: str, start: int, mark: int, after: int, at: int, opened: str) -> bool:
    before, word = _read_last_words(text, start, mark)
    first = text[at]
    if after - mark > 1:  # a quote or a bracket is closed behind the full stop
        return not first.islower() or bool(opened)
    if not word:
        return first.isupper()
    if not word[-1].isalnum():  # a closing quote or bracket; a degree sign stands for the end of "number"
        return word[-1] != "°" and (not first.islower() or bool(set(opened) & _BRACKETS))
    if _is_item(text, start, mark, before, word):
        return False
    following = _read_word(text, at)
    if len(following) == 1 and text[at + 1 : at + 2] == ".":
        following += "."  # an initial, or an abbreviation
    ends = _abbreviation_ends(before, word, following, opened)
    if ends is not None:
        return ends
    if word.isdigit():
        date = len(word) <= 2 and _DATE.match(text, at)  # 1. 2. 2025
        return not date and _number_ends(before, word, following, first, opened)
    if first.islower():
        plain = len(word) >= _PLAIN_WORD or not word[-1:].isalpha() or bool(set(opened) & _BEGINNINGS)
        return plain or _is_lower(text, start, mark) or mark - start > _LONGEST_JOINED
    return True


def _abbreviation_ends(before: str, word: str, following: str, opened: str) -> bool | None:
    """Returns whether the sentence ends after a word that may be an abbreviation; None if it is none."""
    folded = word.casefold()
    if folded not in MAY_END:
        folded = folded.rpartition("-")[2]  # Dipl.-Ing
    key = _ELISION.sub("", following.casefold())
    starts = following[:1].isupper() and key in _STARTERS
    number = following[:1].isdigit() or bool(_ROMAN.fullmatch(following)) or len(following.rstrip(".")) == 1
    if len(word) == 1 and word.isalpha():
        return _initial_ends(before, word, following, starts)
    doubled = len(word) == len(following) == 2 and (word + following).isupper()  # "EE. UU."
    if folded in BEFORE_TEXT or doubled or (folded in _AMOUNTS and key in _CURRENCIES):
        return False
    if folded in MAY_END:
        return following[:1].isupper() and (starts or "." not in word)
    if _DOTTED.fullmatch(word) and any(character.isalpha() for character in word):
        return starts
    if folded in BEFORE_NAME and not starts and (not following or following[:1].isalpha() or number):
        return False
    if folded in BEFORE_NUMBER and (number or not following[:1].isupper()):
        return False
    if _is_consonants(word) and not (starts or opened or before[-1:].isdigit()):
        return False
    return None


def _initial_ends(before: str, word: str, following: str, starts: bool) -> bool | None:
    if word.islower():
        if not word.isascii():
            return None
        if word in "fs" and before[:1].isdigit():  # "S. 12 f."
            return following[:1].isupper()
        return starts and word not in "csv" and not _DOTTED_LETTER.fullmatch(before)  # not "d. h. Die"
    if before in ("a.", "d."):  # "a. C.", as a year is counted in Spanish and Italian
        return starts
    return starts and _ELISION.sub("", following.casefold()) not in _PARTICLES


def _number_ends(before: str, word: str, following: str, first: str, opened: str) -> bool:
    if first.islower() or (opened[:1] in _DASHES and _is_label(before)):
        return False
    if len(word) > 2:
        return True
    folded = following.casefold()
    if folded in _MONTHS or folded in _AFTER_ORDINAL:
        return False
    if following.isdigit() and len(following) in (2, 4) and before.rstrip(".").isdigit() and before.endswith("."):
        return False
    return not (before.casefold() in _BEFORE_ORDINAL and first.isupper() and folded not in _STARTERS)


def _is_item(text: str, start: int, mark: int, before: str, word: str) -> bool:
    """Whether all before the full stop is the number of an item, or the label of a heading such as "Section 5"."""
    if before.rstrip(_BEFORE_WORD).endswith((":", ";")) and _ITEM.fullmatch(word + "."):
        return True
    if mark - start > _LONGEST_LABEL:
        return False
    if _ITEM.fullmatch(text, start, mark + 1):
        return True
    label = _LABEL.match(text[start:mark])
    return label is not None and _is_label(label[1])


def _is_label(word: str) -> bool:
    return word.strip('"“«(.').casefold() in _LABELS


def _read_last_words(text: str, start: int, mark: int) -> tuple[str, str]:
    """Returns the last two words before a full stop, the last word without opening marks; '' after white space."""
    part = text[max(start, mark - _WINDOW) : mark]
    if not part or part[-1].isspace():
        return "", ""
    words = part.rsplit(None, 2)
    word = words[-1].lstrip(_BEFORE_WORD) or words[-1]
    return (words[-2] if len(words) > 1 else ""), _cut_elision(word)


def _cut_elision(word: str) -> str:
    """Returns a word without the article before its apostrophe, as in "dell’art"."""
    apostrophe = max(word.rfind("'"), word.rfind("’"))
    rest = word[apostrophe + 1 :]
    return word if apostrophe < 0 or not rest or rest in _POSSESSIVE else rest


def _read_word(text: str, at: int) -> str:
    match = _WORD.match(text, at, at + _WINDOW)
    return match[0] if match else ""


def _is_lower(text: str, start: int, mark: int) -> bool:
    """Whether a sentence begins with a small letter, as in a text without capitals."""
    match = _WORD.search(text, start, min(mark, start + _WINDOW))
    return match is not None and match[0][0].islower()


def _is_consonants(word: str) -> bool:
    """Whether a word cannot be spoken, such as "Nrn", and is no acronym either."""
    return (
        2 <= len(word) <= 5
        and word.isalpha()
        and not word.isupper()
        and word.isascii()
        and not set(word.casefold()) & set("aeiouy")
    )
