"""The word lists of the rules, English and French."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OF = _words("of de du des d' d’ del")
PLACING = _words("in at near from to within à en dans au aux")

PERSONS = _words("he she him her il elle")
OWNERS = _words("its their his her")
RELATIVES = _words("who which that whom qui que")

QUESTIONS = _words("who which that whom what how whereby where when why whose whether")
CONNECTIVES = _words("however thus therefore also then so but and not")
"""Adverbs before a verb that are no part of what its clause says."""
SAYING = _words("""
    said say says saying told tells adds added notes noted reported reports argued argues claimed claims announced
    explained believe believes believed insists insisted thinks think thought stated states wrote writes asked asks
    replied
""")
"""Verbs whose object may be a sentence before them."""

DEFINITE = _words("the this that le la l' l’ ce cet cette")
ARTICLES = DEFINITE | _words("a an un une les des")
LIGHT = ARTICLES | _words("""
    these those its their his her our your my such any each every all no some both own ces son sa ses leur leurs
""")
"""Words that an end does not begin with."""

UNNAMED = _words("""
    which that who whom what one ones some any all many most more few several other others another each both none i we
    you me us myself himself herself itself themselves there here such much something someone anything anyone everything
    everyone nothing those these this thing things case cases example part way ways latter former number lot ability
    manner extent time times whole order addition regard respect connection event accordance favor favour first second
    third
""")
"""Words that name nothing by themselves."""

TOPIC_NOUNS = _words("""
    film album song single book novel band group company team club city town village river show series game journal
    magazine newspaper station school university college church island species genus district county airline ship
    building museum airport bridge lake mountain park hospital hotel episode play opera railway road street stadium
    tournament championship season festival award organization organisation firm corporation agency party province
    region municipality commune aircraft engine battle war treaty act agreement programme program software
    livre roman société ville rivière revue école pièce chanson groupe entreprise
""")
"""Nouns with which "the" may point to what a passage is about."""

MODALS = _words("may might could can would should shall must will 'll wo ca cannot")
TENSES = _words("a ont avait avaient aura auront est sont était étaient fut furent")
"""French auxiliaries: a participle counts only after one of them, as in "a vendu", "est né"."""

HEDGES = _words("""
    longer hardly rarely seldom barely scarcely almost nearly allegedly reportedly supposedly probably possibly perhaps
    likely maybe
""")
"""Adverbs without which a relation says something else; "longer" as in "no longer"."""

CONDITIONS = _words("if unless whether lest provided si")
UNSURE = _words("""
    deny denies denied denying doubt doubts doubted claim claims claimed allege alleges alleged suggest suggests
    suggested believe believes believed think thinks thought hope hopes hoped want wants wanted propose proposes
    proposed argue argues argued expect expects expected predict predicts predicted fear fears feared reject rejects
    rejected consider considers considered suspect suspects suspected speculate speculated assume assumes assumed
    pretend pretends pretended imagine imagines imagined wish wishes wished
    nie nient niait nié prétend prétendent prétendait croit croient croyait pense pensent pensait suppose supposent
    espère espèrent doute doutent
""")
"""Verbs that do not assert what their "that" clause says."""

OF_OBJECT = _words("""
    ask tell told allow cause force prompt help enable require order persuade convince invite encourage permit urge
    advise lead led get got compel instruct oblige appoint hire
""")
"""Verbs whose object does what their infinitive says: "allowed Orell to sell"."""

LEADING = _words("have has having let lets letting make makes making help helps helping")
"""Verbs with a bare infinitive: "have them appear"."""

OF_DONE = _words("by after before in upon on through while when since with en après")
"""Prepositions whose participle tells what was done, other than "without", "instead of" and "accused of"."""

NO_RELATIONS = _words("""
    according including than such along because instead despite unlike due like except without
""")
"""Words that are parsed as prepositions, and relate nothing, or deny it."""

NEGATIVES = _words("neither no nor none aucun aucune")
"""Words of a subject that deny its clause."""

BOUNDING = NEGATIVES | {"only"}
"""Words of a noun of whose parts nothing is said: "no shares of", "only a part of"."""

FIRSTS = _words("first second third last only most premier première seul seule")

GOVERNED = {
    form: prepositions
    for stem, prepositions in (("consist", ("of",)), ("account", ("for",)), ("depend", ("on", "upon")))
    for form in (stem, f"{stem}s", f"{stem}ed", f"{stem}ing")
}
"""Verbs that say nothing without a certain preposition."""
