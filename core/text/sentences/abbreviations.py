"""Words that a full stop follows without ending a sentence, in the languages of law, science and mail around us.

Open this to teach the splitter of sentences an abbreviation. All are in lower case.
"""

__all__ = [
    "AFTER_ORDINAL",
    "BEFORE_NAME",
    "BEFORE_NUMBER",
    "BEFORE_ORDINAL",
    "BEFORE_TEXT",
    "LABELS",
    "MAY_END",
    "MONTHS",
    "PARTICLES",
    "STARTERS",
]


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

LABELS = _split(
    "abb abbildung abschnitt allegato anexo anhang annex annexe appendix art article articles articolo articulo "
    "artikel artt artículo beispiel capitolo capítulo chapitre chapter clause ejemplo esempio example exemple fig "
    "figura figure kapitel n no nr paragraph part parte partie paso passo regel rule schritt sec sect section step "
    "tab tabella tabelle tabla table tableau teil titel title titolo titre título § §§ étape"
)
"""What a number follows at the beginning of a heading, as in "Section 5. Definitions"."""

MONTHS = _split(
    "abril agosto août apr april aprile aug august augustus avril dec december dez dezember dicembre diciembre "
    "décembre enero feb febbraio feber febrero februar februari february février gennaio giugno jan januar januari "
    "january janvier juillet juin jul juli julio july jun june juni junio jänner luglio maart maggio mai march "
    "mars marzo may mayo mei märz nov november novembre noviembre oct october octobre octubre okt oktober ottobre "
    "sep sept september septembre septiembre setiembre settembre"
)

BEFORE_ORDINAL = _split(
    "ab am an auf beim bis das dem den der des die diesem dieser dieses im in jedem jeden jeder jedes nach oder "
    "seit und vom vor zum zur"
)
"""Words before a German ordinal, as in "des 41. Nachdrucks"."""

AFTER_ORDINAL = _split(
    "abschnitt abteilung aufl auflage ausgabe band bd buch etage generation halbjahr instanz jahr jahrestag "
    "jahrgang jahrhundert jahrhunderts jahrtausend jh jhdt jhs kammer kapitel klasse lebensjahr legislaturperiode "
    "lesung monat nachtrag novelle obergeschoss platz quartal quartals rang runde satz schritt semester senat "
    "sitzung sonntag stelle stock strafsenat strophe tag teil weltkrieg woche zivilsenat"
)
"""Words after an ordinal, as in "2. Jh." or "3. Quartal"."""

STARTERS = _split(
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

PARTICLES = _split(
    "a al an ca d da dal de dei del della den der des di do dos du l la le les mc o st te ten ter und v van vom "
    "von zu zum zur"
)
"""Function words that are parts of names too, as in "J. de Boer" or "A. La Rocca"."""
