"""Nouns that say of which type an entity is, and given names.

`KINDS` has what a fact calls something ("is a city"), `NAME_NOUNS` the main nouns of names (`Clyde River`).
"""

from enum import StrEnum

from core.text.word_lists import words_of

LONGEST = 200
"""Characters of a name, or of what a fact says. A longer text has no type, which bounds the time of patterns."""


class EntityType(StrEnum):
    """What an entity is. `other` is a known kind without a type of its own, such as a battle or a language."""

    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    WORK = "work"
    DATE = "date"
    AMOUNT = "amount"
    LAW = "law"
    PRODUCT = "product"
    OTHER = "other"


def _nouns(lists: dict[EntityType, str]) -> dict[str, EntityType]:
    return {noun: type for type, nouns in lists.items() for noun in nouns.split()}


KINDS = _nouns({
    EntityType.PERSON: """
        man woman boy girl person actor actress singer songwriter musician composer pianist guitarist rapper novelist
        writer author poet playwright journalist critic painter sculptor artist photographer architect engineer
        scientist physicist chemist biologist mathematician astronomer botanist physician surgeon historian philosopher
        theologian economist psychologist lawyer judge politician statesman diplomat president senator governor mayor
        minister chancellor king queen prince princess duke emperor pope bishop archbishop priest monk saint general
        admiral soldier officer footballer player cricketer swimmer athlete boxer coach director producer screenwriter
        filmmaker businessman businesswoman entrepreneur inventor explorer teacher professor scholar son daughter
        brother sister father mother wife husband comedian dancer model activist nobleman drummer bassist goalkeeper
        defender midfielder forward quarterback wrestler cyclist chairman ceo founder
        schauspieler schauspielerin sänger sängerin schriftsteller schriftstellerin dichter komponist maler politiker
        politikerin physiker chemiker mathematiker arzt jurist historiker philosoph könig königin kaiser fußballspieler
        acteur actrice chanteur chanteuse écrivain écrivaine romancier poète compositeur peintre physicien chimiste
        mathématicien médecin avocat historien philosophe roi reine homme femme footballeur
    """,
    EntityType.ORGANISATION: """
        company corporation firm subsidiary manufacturer retailer publisher airline bank insurer startup organisation
        organization association institution institute university college school academy agency ministry department
        committee commission council party band orchestra choir club team league union federation foundation charity
        museum newspaper broadcaster network church brewery army navy parliament government conglomerate bureau
        unternehmen firma gesellschaft verein partei universität hochschule behörde verband bank
        entreprise société université école association parti organisation banque
    """,
    EntityType.PLACE: """
        city town village hamlet municipality commune suburb neighborhood neighbourhood borough county district province
        state country nation republic region territory island islands archipelago peninsula continent river tributary
        lake reservoir sea ocean bay gulf strait mountain mountains hill volcano valley desert forest park beach cape
        capital port settlement township locality parish street road highway square bridge building tower castle palace
        stadium airport station cathedral cemetery neighbourhood census-designated
        stadt dorf gemeinde ort land fluss see berg insel hauptstadt bundesland landkreis
        ville commune pays fleuve rivière lac montagne île département région village capitale quartier
    """,
    EntityType.WORK: """
        film movie documentary novel book song single album ep poem play opera symphony musical painting sculpture
        series sitcom episode magazine journal comic manga anime story essay treatise ballad sonata concerto soundtrack
        roman buch lied oper gemälde drama zeitschrift livre chanson tableau poème
    """,
    EntityType.LAW: """
        law act statute regulation directive treaty constitution gesetz richtlinie verordnung loi règlement
    """,
    EntityType.PRODUCT: """
        software program application app library framework processor smartphone phone computer console car automobile
        aircraft airliner helicopter locomotive rifle missile satellite drug medication drink beer whisky cigarette
        vehicle motorcycle submarine browser database toolkit compiler
    """,
    EntityType.OTHER: """
        battle war festival election tournament championship competition award prize language dialect species genus
        disease disorder syndrome religion genre sport protein gene mineral element compound theorem planet asteroid
        star galaxy sprache krankheit gattung art langue maladie espèce
    """,
})  # fmt: skip

NAME_NOUNS = _nouns({
    EntityType.ORGANISATION: """
        university institute college academy ministry department committee commission council bank association
        foundation federation union agency bureau orchestra league society club records productions group
        holdings partners industries technologies pharmaceuticals airlines airways motors laboratories universität
        hochschule ministerium stiftung verein université ministère institut banque universidad università universiteit
        corporation authority board court parliament senate congress army navy police church school trust
    """,
    EntityType.PLACE: """
        river lake street avenue boulevard mountain mountains island islands county province airport bridge bay
        peninsula ocean sea desert valley hills creek canyon strait gulf castle palace cathedral stadium highway station
        district township harbour harbor reservoir glacier straße strasse platz fluss
    """,
    EntityType.WORK: "symphony sonata concerto",
    EntityType.LAW: "gdpr",
})  # fmt: skip

GIVEN_NAMES = words_of("""
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark
    donald steven stephen paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan jacob
    nicholas gary eric jonathan larry justin scott brandon benjamin samuel gregory frank alexander raymond patrick
    jack dennis jerry tyler aaron jose adam nathan henry douglas zachary peter kyle walter ethan jeremy harold keith
    christian roger noah gerald terry sean arthur jesse dylan bryan joe jordan billy bruce albert willie gabriel alan
    juan louis wayne ralph roy eugene randy vincent russell philip bobby johnny bradley ernest frederick martin
    leonard stanley simon mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty
    margaret sandra ashley kimberly emily donna michelle carol amanda dorothy melissa deborah stephanie rebecca sharon
    laura cynthia kathleen amy angela shirley anna brenda pamela emma nicole helen samantha katherine catherine
    christine debra rachel carolyn janet maria heather diane ruth julie joyce kelly lauren christina joan evelyn
    judith megan andrea cheryl hannah jacqueline martha gloria teresa ann anne sara jane julia alice frances jean ada
    lucy eleanor edith agnes hans heinrich wilhelm friedrich johann johannes karl ludwig otto franz ernst hermann
    josef jürgen klaus wolfgang gottfried günther helmut ulrich dieter gerhard werner ingrid ursula pierre jacques
    michel françois philippe rené andré gérard henri émile claude marcel antoine étienne guillaume giovanni giuseppe
    luigi carlo francesco antonio mario paolo pietro lorenzo carlos luis miguel pedro fernando alejandro francisco
    jorge manuel diego pablo rafael ivan vladimir sergei nikolai dmitri mikhail alexei boris mohammed muhammad ahmed
    ali hassan ibrahim mike chris nick steve dave jim tom tim ben dan ken greg jeff matt andy tony fred phil doug
    craig carl todd chad derek dustin marcus theodore leroy clarence ernie herbert howard norman marvin leslie
    clifford bernard gordon gilbert maurice neil allen alfred harvey cecil edgar edwin edmund wilbur hugh hubert ira
    irving jerome julius lionel lyle melvin mitchell morris murray myron nathaniel nigel oliver percy reginald rodney
    roland rudolph rupert sidney stuart terence trevor wendell alistair duncan graham hamish ian malcolm angus fergus
    liam owen rhys gareth gwen bridget siobhan lynda rosemary alison beverly bonnie carla claudia constance cora
    darlene della doris eileen elaine ella eloise elsie erica erin estelle ethel eva fiona geraldine gertrude gladys
    glenda gwendolyn harriet heidi henrietta ida irene isabel isabella jill joanna joanne josephine josie juanita
    juliet kate katie kristen lillian lois loretta lorraine lucille lydia mabel marcia margot marguerite marian
    marianne marilyn marjorie marlene matilda maureen mildred miriam molly monica muriel nadine naomi natalie nellie
    nigella nora norma olivia paula peggy phyllis rhonda rita roberta rosa rosalind roxanne sally sheila sophia sophie
    stella susanna sylvia tamara theresa tiffany tracy vanessa vera veronica vivian wanda wendy winifred yolanda
    yvonne zoe alberto alfredo andreas angelo armando arturo bruno cesar cristina dolores eduardo emilio enrique
    ernesto esteban felipe federico fidel gustavo guillermo héctor ignacio inés javier joaquín josé juana julio lucía
    marcos mariana mateo octavio pilar ramón raúl ricardo roberto rodrigo sergio tomás alain andrzej anton arnaud
    bernd björn christophe dimitri dietrich elena emil erik ewa frédéric gunnar gustav håkan ingmar jens jiří józef
    jozef kazimierz krzysztof lars lev magnus marek marie mathieu matthias mikael nils ola olaf oleg olga pavel piotr
    pyotr reinhard sébastien siegfried stanisław stefan sven svetlana tatiana thierry tomasz valentin vasily viktor
    wojciech wolfram xavier yuri yves abdul abdullah aisha amir arjun ashok fatima hamid indira kumar mahmoud mustafa
    omar osama rajesh rajiv ravi sanjay sunil suresh vijay yusuf akira haruki hiroshi kazuo kenji takashi yoko yukio
""")
"""Given names that are seldom the first word of anything but a person's name."""
