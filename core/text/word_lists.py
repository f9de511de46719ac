"""Word lists: articles, abbreviations, connectives of names, function words and stop words."""

__all__ = ["ABBREVIATIONS", "ARTICLES", "CONNECTIVES", "FUNCTION_WORDS", "STOP_WORDS"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = _words("the a an")

ABBREVIATIONS = _words("st dr mr mrs ms mt ft jr sr lt gen col prof rev sgt capt gov sen rep hon no vol")

CONNECTIVES = _words("""
    of de del della dei di da do dos das du des la le les el los las al ibn bin ben van von der den ter ten zu zum zur
    am auf the for af av på à
""")
"""Lower-case words that a name may contain between two capitalised ones, at most three in a row.

"and" is not among them: it joins two names more often than it is part of one (measured: 1.8 points R@5 on MuSiQue).
"""

FUNCTION_WORDS = _words("""
    a about above according across after again against all along also although am among amongst an and another any are
    around as at be because been before being below between both but by can could despite did do does doing down due
    during each either even ever every few first following for former formerly from further given had has have having
    he hence her here hers herself him himself his how however i if in including indeed initially instead into is it
    its itself just last later like list many may me meanwhile might moreover most much must my near neither never
    nevertheless no nor not now of off often on once one only or originally other our out over own per perhaps please
    prior rather recently same second see several shall she should similarly since so some sometimes soon still such
    tell than that the their them then there thereafter therefore these they third this those though three through
    throughout thus to today together too toward towards two under unless unlike until up upon us usually very via was
    we were what whatever when whence where whereas wherever whether which while who whoever whom whose why will with
    within without would yes yet you your name give find describe explain born founded located based known released
    written directed produced named called der die das dem den des ein eine einer eines einem einen er es sie und oder
    wer was wann warum welche welcher welches mit von zu im am nach bei für auf aus durch über unter vor wie wo le la
    les l un une des du il elle ils elles et ou où qui que quel quelle quels quelles dans par pour avec sur el los las
    lo uno una unos unas ella ellos ellas quién qué cuál cuándo dónde cómo con por para según il gli chi che quale
    dove quando come nel nella o os as um uma quem qual onde em no na het een de wie wat waar wanneer hoe welke en det
    den är vem vad när hur в во на и с со по за из от до к ко о об он она оно они это кто что где когда как какой
    какая какое какие ο η το οι τα στο στη στην στις ποιος ποια ποιο πού πότε και
""")
"""Words that are not names, even with the capital of a sentence's first word.

English first, then the other languages that were met: German, French, Spanish, Italian, Portuguese, Dutch,
Scandinavian, Russian, Greek.
"""

STOP_WORDS = _words("""
    a about above after again against all am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers herself
    him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or
    other our ours out over own same she should so some such than that the their theirs them themselves then there
    these they this those through to too under until up upon very was we were what when where whether which while who
    whom whose why will with would you your yours
    wer wo wann warum welche welcher welches quién qué cuál cuándo dónde cómo qui où quel quelle quels quelles quale
    quem qual onde wat waar wanneer welke vad när hur кто что где когда как какой какая какое какие ποιος ποια ποιο πού
    πότε
""")
"""English stop words, and question words of other languages, which are rare in passages.

The other small words of these languages are frequent, so their idf is low anyway.
"""
