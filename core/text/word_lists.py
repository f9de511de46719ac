"""Word lists: articles, abbreviations, connectives of names, function words and stop words."""


def words_of(text: str) -> frozenset[str]:
    """Returns the words of a list that is written as a text."""
    return frozenset(text.split())


ARTICLES = words_of("the a an")

WITH_SUBJECT = words_of("""
    Colloquium Commission Committee Conference Congress Convention Council Declaration Directive Forum Journal Panel
    Proceedings Protocol Regulation Seminar Subcommittee Summit Symposium Transactions Treaty Workshop
""")
"""Main nouns of names that a subject follows with `on`: `Transactions on Information Theory`."""

ABBREVIATIONS = words_of("st dr mr mrs ms mt ft jr sr lt gen col prof rev sgt capt gov sen rep hon no vol")

CONNECTIVES = words_of("""
    of de del della dei di da do dos das du des la le les el los las al ibn bin ben van von der den ter ten zu zum zur
    am auf the for af av på à
""")
"""Lower-case words that a name may contain between two capitalised words, at most three in a row.

"and" is not among them: it joins two names more often than it is part of one (measured: 1.8 points R@5 on MuSiQue).
"""

FUNCTION_WORDS = words_of("""
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
    within without would yes yet you your name give find describe explain consider considering regarding
    concerning born founded located based known released
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

SENTENCE_OPENERS = FUNCTION_WORDS | words_of("""
    notwithstanding furthermore accordingly additionally nothing none nobody everything everyone whenever otherwise
    dear btw fyi imo imho afaik iirc fwd
    maybe whoever unfortunately generally typically currently finally next thanks hello hi hey yeah yep yup nope nah ah
    oh ohh uh ugh eh hmm oops wow arg argh voila cheers regards ok okay welcome copyright hereinafter
    hereby did does let choose
    choosing read use using protect return contributing jede jeder jedes falls wenn bitte lesen siehe voir consultez
    veuillez
""")
"""Words that begin a sentence before a name more often than they begin a name."""

STOP_WORDS = words_of("""
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

SMALL_WORDS = STOP_WORDS | words_of("""
    does did may might must shall us upon per via please give tell find describe explain say says said many much any
    anyone anything someone somebody something everyone get gets got one also whats
    der die das den dem des ein eine einer eines einem einen kein keine er es sie ihr ihre ihm ihn ihnen sein seine man
    mein meine mir mich wir uns unser unsere ich du dich dir und oder aber als auch auf aus bei bis durch für gegen im
    in ins am an ans um zu zum zur von vom vor mit nach ohne über unter zwischen seit während wegen ist sind war waren
    wird werden wurde wurden hat haben hatte hatten kann können konnte darf dürfen durfte muss müssen soll sollen sollte
    will wollen würde würden sei wäre gibt geben gab nicht noch nur schon so sich wenn dass daß ob wie was wer wem wen
    wessen wo woher wohin wann warum weshalb viel viele vielen wieviel wieviele dieser diese dieses diesem diesen jeder
    jede jedes heißt etwas jemand da denn dann doch
    le la les l un une des du de d au aux il elle ils elles on nous vous je tu me te se s ce c cet cette ces ça cela et
    ou où mais ni car ne n pas plus que qu qui quoi quel quelle quels quelles dont quand comment pourquoi combien dans
    par pour sur sous avec sans chez vers entre depuis pendant en y est sont était étaient été être a ont avait avoir
    fait faire peut peuvent doit doivent faut son sa ses leur leurs mon ma mes notre nos votre vos si t aussi tout
    toute tous toutes lors il est
    el los las lo uno una unos unas del al y o ni pero que quien quién qué cuál cuándo dónde cómo cuánto cuántos por
    para según con sin sobre entre es son fue era ser está están hay ha han se su sus este esta estos estas
    gli i il uno del della dei delle dello dal dalla nel nella sul sulla di da e ed ma che chi quale quando dove come
    quanto per con sono era stato essere ha hanno si suo sua questo questa
    os as um uma dos das no na nos nas pelo pela ao e ou mas quem qual onde foi são está tem têm seu sua
    het een van der den ter ten te en of maar dat die deze dit wie wat waar wanneer welke hoe hoeveel zijn was waren
    wordt worden heeft hebben kan kunnen moet niet
    в и на с со по за из от до к о об а но не что кто где когда как это его её их был была было были есть для при у
""")
"""Words of a question that tell nothing about what it asks for: stop words, and small words of the languages that the
rules for names know, and of some others.
"""

KIND_QUESTION_WORDS = words_of("""
    what which
    welche welcher welches welchem welchen quel quelle quels quelles qual quale qué welke vilken vilket vilka
""")
"""Question words before the kind of thing that is asked for, as in "Which city". A sentence names the city alone."""

CALENDAR_WORDS = words_of("""
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
    januar jänner februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag
    sonnabend sonntag
    janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi
    vendredi samedi dimanche
""")
"""Months and days of the week in English, German and French, which are no names by themselves."""

GERMAN_ADDRESS = words_of("Sie Ihr Ihre Ihren Ihrem Ihrer Ihres Ihnen")
"""The pronouns of polite address, which have capitals within sentences."""

GERMAN_DETERMINERS = words_of("""
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner dieser diese dieses diesen
    diesem jeder jede jedes jeden jedem welcher welche welches mein meine dein deine sein seine seinen seinem seiner
    ihr ihre ihren ihrem ihrer unser unsere unseren im am zum zur beim vom ins ans alle aller allen viele vieler
    mehrere einige manche solche beide zwei drei vier fünf pro
""")

GERMAN_ADVERBS = words_of("""
    hier dort da dann so nun jetzt heute gestern morgen bald oft nie immer auch nur noch schon leider zuerst zuletzt
    zunächst danach davor dabei damit dadurch dafür dagegen daher darum deshalb deswegen darauf daraus darin darüber
    trotzdem dennoch allerdings jedoch außerdem zudem ebenso sonst später früher schließlich endlich ursprünglich es
    man wer was wann wo wie dies das alles nichts etwas niemand jemand er sie ihm ihr ihnen bis seit während wenn falls
    sobald obwohl weil damals insgesamt somit also anfangs inzwischen mittlerweile vielleicht standardmäßig
""")
"""Words that begin a sentence before its verb and are no names."""

GERMAN_ADVERB_ENDINGS = ("weise", "lich", "mäßig", "mals", "seits", "falls", "wärts", "dem")

GERMAN_BARE = words_of("in nach aus von bei bis durch gegen zwischen")
"""Prepositions behind which a name stands without an article, and a noun in the singular mostly does not."""

GERMAN_VERBS = words_of("wurde war ist hat hatte wird kann kam ging schrieb starb lebte blieb begann gilt liegt heißt")
"""Verbs in the singular. Behind the first word of a sentence they tell a name: a noun would have an article."""

GERMAN_NOUNS = words_of("""
    Form Hilfe Jahr Jahre Jahren Ende Anfang Zeit Teil Teile Beispiel Frage Fall Fälle Seite Grund Recht Art Arbeit Text
    Datei Dateien Daten Programm Programme System Systeme Platz Wasser Holz Geld Haus Hause Stadt Land Welt Leben Mann
    Frau Kind Kinder Menschen Tag Tage Woche Monat Stunde Minute Musik Noten Bild Wort Wörter Name Namen Zahl Zahlen
""")
"""Frequent nouns that stand without an article in set phrases."""

GERMAN_NOUN_ENDINGS = (
    "ung", "ungen", "heit", "heiten", "keit", "keiten", "schaft", "schaften", "tion", "tionen", "ität", "itäten",
    "ismus", "chen", "nis", "nisse", "ment", "mente", "ling", "linge", "tum",
)  # fmt: skip
"""Endings that mark a German noun."""

GERMAN_INSTITUTION_ENDINGS = (
    "institut", "universität", "schule", "gesellschaft", "stiftung", "verein", "verband", "partei", "bank",
    "ministerium", "amt", "gericht", "akademie", "gesetz", "verordnung", "richtlinie", "vertrag", "abkommen", "straße",
    "platz", "allee", "weg", "brücke", "turm", "haus", "kirche", "dom", "schloss", "museum", "theater", "preis",
    "orden", "verlag", "zeitung", "werk", "werke", "konzern", "gruppe", "projekt", "archiv", "handbuch", "referenz",
    "lizenz", "protokoll", "krieg", "see", "insel", "berg", "kanal", "stadion", "kreis", "republik", "union", "liga",
)  # fmt: skip
"""Endings of the main nouns of German names of institutions, laws, places and works (`Max-Planck-Institut`)."""

GERMAN_PLURAL_ENDINGS = ("en", "er", "e", "ern", "eln")
"""Endings of German nouns in the plural, which stand without an article."""

PRONOUNS = words_of("he him his himself she her hers herself it its itself they them their theirs themselves")
"""English pronouns of the third person."""

DETERMINERS = words_of("a an the its his her their this that these those")
"""English words before a noun."""

PREPOSITIONS = words_of("""
    about after against along among around as at before behind below beneath between beyond by during for from in inside
    into near on onto opposite outside over since through to toward towards under until upon via with within
""")
"""English prepositions that begin a phrase. "of" is not among them: its phrase belongs to the noun before it."""

CLAUSE_WORDS = words_of("and but or that which who whom whose where when while because although after before")
"""English words behind which another clause may begin, with a subject of its own."""

NOUN_DETERMINERS = DETERMINERS | words_of("""
    our your my any each every no such all both either neither another other certain some same applicable
""")
"""English words behind which a common noun stands, also with a capital: `such Agreement`."""

BARE_BEHIND = PREPOSITIONS | words_of("of than is was are were that if when")
"""English words behind which a name stands without an article, and a common noun in the singular seldom does."""

INSTITUTIONS = words_of("""
    act code convention constitution directive law protocol regulation regulations rules statute treaty
    agency alliance army association bank board brigade bureau cabinet church club college commission committee
    congress council court department embassy federation force forces foundation fund government group guild
    institute institution laboratories laboratory league library ministry museum nations navy office organisation
    organization parliament police press school senate society states team tribunal union university
    airport avenue basin bay beach boulevard bridge building canal cape castle cathedral cemetery center centre circle
    city coast county desert district drive east falls forest garden gardens gulf hall harbor harbour hill hills
    hospital hotel house island islands lake lane mountain mountains north ocean palace park peninsula place plaza port
    province republic river road route sea south square state station strait street territory theater theatre tower
    town valley village wall way west expressway highway parkway
    battle declaration duke earl king lord memorial monument prince queen saint siege statue
    bible cup day dictionary encyclopedia festival games handbook journal magazine news post prize review times tribune
    war wars
""")
"""Main nouns of the English names of laws, institutions, places, papers and events (`Supreme Court`)."""

COMPANIES = words_of("co company corp corporation inc incorporated limited llc llp ltd party plc service services")
"""Main nouns of the names of companies, parties and services, which have another word before them."""

AUXILIARIES = words_of("is are was were do does did don't can't i you we i'm i'll it's that's")
"""English auxiliary verbs, and pronouns of the first and second person, which a sentence has and a name seldom."""

ROLES = words_of("""
    chairman chairwoman chairperson president secretary treasurer officer officers director directors executive
    executives chief vice senior assistant deputy manager managers managing general counsel controller accounting
    operating financial principal board signatory authorized member members ceo cfo coo cto cao evp svp vp
""")
"""Words of which the titles of offices consist (`Vice President`), which many bodies have."""
