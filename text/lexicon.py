"""Word lists: stopwords, irregular forms, opposites, abbreviations, and words that open a sentence."""

import re
from typing import Final


def listed(words: str) -> tuple[str, ...]:
    """The words of a list that is written as text, which reads better than a column of quoted strings."""
    return tuple(words.split())


STOPWORDS: Final = frozenset(
    listed(
        """
    a about above after again against all also am among an and any are as at be because been before being below
    between both but by can could did do does doing down during each either few for from further had has have having
    he her here hers him his how i if in into is it its itself just many may me might more most much must my no nor
    not now of off on once only or other our out over own per please same shall she should so some such than that the
    their them then there these they this those through to too under until up upon us very was we were what when where
    which while who whom whose why will with within would you your

    aber als auch auf aus bei das dem den der des ein eine einem einen einer eines es für haben hatte ihr im ist mit
    nach nicht oder sich sie sind über um und unter viel viele vom von wann waren warum welche welchem welchen
    welcher welches wem wen werden wer weshalb wie wieso wird wir wo wurde wurden zu zum zur
        """
    )
)
"""English and German words that say nothing of what a text is about; none means something in the other language."""

ASKING: Final = frozenset(
    listed(
        """
    according called describe did does explain far give kind list long many mean much name often old please say says
    stated tell type
        """
    )
)
"""What a question is wrapped in: words that an answer need not repeat."""

IRREGULAR: Final = {
    "was": "be", "were": "be", "is": "be", "are": "be", "been": "be", "has": "have", "had": "have", "won": "win",
    "began": "begin", "begun": "begin", "born": "birth", "died": "death", "dead": "death", "wrote": "write",
    "written": "write", "made": "make", "led": "lead", "grew": "grow", "grown": "grow", "growth": "grow",
    "rose": "rise", "risen": "rise", "fell": "fall", "fallen": "fall", "shrank": "shrink", "shrunk": "shrink",
    "men": "man", "women": "woman", "children": "child", "people": "person", "built": "build", "sold": "sell",
    "bought": "buy", "held": "hold", "found": "find", "said": "say", "told": "tell", "came": "come", "went": "go",
    "took": "take", "taken": "take", "gave": "give", "given": "give", "became": "become", "lost": "lose",
    "left": "leave", "sang": "sing", "sung": "sing", "known": "know", "knew": "know", "ran": "run", "saw": "see",
    "seen": "see", "paid": "pay", "spent": "spend", "bore": "bear", "chose": "choose", "chosen": "choose",
    "beaten": "beat", "reduction": "reduce", "highest": "high", "lowest": "low",
}  # fmt: skip
"""Forms that no stemmer brings together, with the word that they are a form of."""

OPPOSITES: Final = listed(
    """
    increase/decrease/decline/reduce/drop/fall/shrink rise/fall/drop/decline grow/shrink/decline/fall
    gain/lose/loss up/down higher/lower high/low more/less/fewer most/least above/below over/under
    before/after earlier/later early/late first/last always/never all/none/some everyone/nobody
    maximum/minimum largest/smallest big/small large/small great/small long/short old/young/new best/worst
    good/bad better/worse strong/weak positive/negative profit/loss win/lose success/failure succeed/fail
    accept/reject approve/reject/deny allow/forbid/prohibit/ban enable/disable include/exclude open/close
    begin/end start/end/stop/finish buy/sell import/export enter/leave/exit arrive/leave/depart true/false
    correct/incorrect possible/impossible legal/illegal alive/dead born/died male/female man/woman
    husband/wife father/mother brother/sister son/daughter king/queen boy/girl north/south east/west
    northern/southern eastern/western left/right inside/outside internal/external public/private
    majority/minority expensive/cheap rich/poor fast/slow hot/cold warm/cold wet/dry heavy/light hard/soft
    easy/difficult safe/dangerous love/hate like/dislike support/oppose agree/disagree confirm/deny
    guilty/innocent present/absent same/different married/divorced/unmarried asleep/awake empty/full
    sitting/standing indoors/outdoors odd/even many/few beneficial/harmful effective/ineffective
    significant/insignificant common/rare frequent/rare temporary/permanent raise/lower
    expand/contract/shrink strengthen/weaken improve/worsen/deteriorate accelerate/slow
    promote/inhibit/demote activate/inhibit/suppress upregulate/downregulate prevent/cause/promote
    stable/unstable safe/unsafe known/unknown
    """
)
"""Words with their opposites, the first of a group against each of the others."""

ANTONYMS: Final = listed(
    """
    ability/inability able/unable abolish/establish,found,launch absence/presence absent/present
    absolute/relative,comparative abstract/concrete accept/refuse,reject,decline accept/reject accurate/inaccurate
    active/inactive actual/potential,possible acute/chronic adjusted/unadjusted agree,concur/disagree,differ
    alive/dead amateur/professional,pro ample/meager analytic/synthetic appear/disappear,vanish
    appearance/disappearance approval/disapproval approve,sanction/disapprove arrive/leave,depart artificial/natural
    asleep/awake attack,assail/defend attract/repel aunt/uncle available/unavailable avoid/face aware/unaware
    backward,back,rearward/forward beautiful/ugly begin/end,terminate,cease beginning,outset,start/end best/worst
    better/worse big,large/small,little birth/death blur/focus boil/freeze borrow/lend,loan boy/girl bright/dull
    broken/unbroken brother/sister busy/idle capable/incapable capitalism/socialism careful/careless
    certain,sure/uncertain certainty/uncertainty,doubt cheap,inexpensive/expensive clarity,clearness/obscurity
    clean/dirty,soiled close,shut,closed/open,opened,reopen comfortable/uncomfortable common/individual,single
    common/uncommon compact/loose complete/incomplete complex/simple complexity/simplicity complicate/simplify
    conscious/unconscious conservative/liberal,progressive constructive/destructive continue,keep/discontinue
    continuity/discontinuity cool/warm criticize/praise cry,weep/laugh danger/safety dangerous/safe dark/light
    daughter/son dead/live dead/living decrease,lessen/increase deep/shallow defeat/victory,triumph
    definite/indefinite delicate/rugged dependent/independent despair/hope different/same difficult,hard/easy
    direct/indirect discourage/encourage dislike/like dislike/liking disobey/obey distrust,suspect/trust
    divide,split/unite domestic/foreign dominant/subordinate downstairs/upstairs downward,down/upward,upwards dry/wet
    dull/lively early/late east/west eastern/western empirical/theoretical employee/employer empty/fill empty/full
    even/odd ever,always/never exclude,omit/include expected/unexpected export/import exterior/interior
    external/internal extraordinary/ordinary fail/succeed failure/success fall,descend/rise,climb false/true
    familiar/unfamiliar far/near fast/slow fat/thin,lean father/mother fewer/more finite/infinite foe/friend,ally
    follower/leader foolish/wise forbid,prohibit,veto/permit,allow,countenance forget/remember formal/informal
    former/latter fortunate/unfortunate fortunately/unfortunately full-time/part-time future/past gather/spread
    generally/specifically glad/sad gradual/steep gradual/sudden greater/lesser guilty/innocent happily/sadly
    happy/unhappy hate/love heavy/light heterogeneous/homogeneous high/low horizontal/vertical humble/proud
    husband/wife immoral/moral immortal/mortal immortality/mortality impatient/patient impersonal/personal
    impossible/possible inadequate,insufficient/adequate,sufficient inferior/superior inner/outer inorganic/organic
    inside,within/outside intelligence/stupidity intense/mild international/national invisible/visible inward/outward
    irregular/regular irrelevant/relevant joy/sorrow junior/senior king/queen known/unknown likely/unlikely
    liquid/solid lock/unlock long/short loosen/stiffen lose/win loudly,loud,aloud/softly,quietly
    lower,cut/raise,lift,elevate major/minor majority/minority maximum/minimum,minimal meaningful/meaningless
    mental/physical naive/sophisticated narrow/wide,broad narrow/widen necessary/unnecessary negative/positive new/old
    noisy/quiet nonspecific/specific north/south northern/southern objective/subjective obscurity/prominence
    often,frequently/rarely,seldom old/young,immature pain/pleasure partly,partially,part/wholly,entirely,completely
    past/present peace/war permanently/temporarily pleasant/unpleasant poor/rich popular/unpopular poverty/wealth
    primary/secondary private/public privately/publicly profound/superficial pull,draw/push qualitative/quantitative
    quickly,rapidly/slowly rough/smooth rural/urban satisfactory/unsatisfactory shout/whisper sit/stand
    sleep,slumber/wake smart/stupid sour/sweet stable/unstable strengthen,fortify/weaken strong/weak
    structured/unstructured successful/unsuccessful succumb/survive tender/tough thick/thin thicken/thin
    thoughtful/thoughtless unusual/usual useful/useless withstand/surrender
    """
)
"""Opposites of WordNet, with the words that mean the same on either side; they show what a claim contradicts."""


TITLES: Final = frozenset(
    listed(
        """
    mr mrs ms mx dr prof gen sen rep gov capt cmdr lt col maj sgt st ste mt ft hon rev fr messrs mme mmes
    mlle mgr hr herr frau dipl ing bzw usw ggf inkl exkl evtl ca cca approx vs cf viz resp incl excl env dt
    engl frz geb gest gegr sog bspw allg eigtl vgl pres supt adm brig e.g i.e z.b d.h u.a v.a i.d.r
    p.ex c.-à-d
    """
    )
)
"""Abbreviations that another word always follows: a full stop after one never ends a sentence."""

NUMBERED: Final = frozenset(
    listed(
        """
    no nos fig figs sec secs art arts eq eqs vol vols ch chap chaps pp p par para paras tab ex nr abs bd s
    ziff item app ref refs vers ver v n jan feb mar apr jun jul aug sep sept oct nov dec mrz okt dez janv
    févr avr juil déc kap anm lfd
    """
    )
)
"""Abbreviations that continue when a number (or a single letter) follows."""

EITHER: Final = frozenset(
    listed(
        """
    inc ltd corp co llc plc bros jr sr al etc dept univ assn est gmbh cie esq ave blvd rd min max avg ext
    tel ed eds trans hrsg misc natl intl govt mfg acct mgmt oz lb lbs ft hrs hr mins secs sq yr yrs wk dba
    u.s u.k u.n e.u d.c ph.d m.d b.a m.a b.s m.s ll.b ll.m m.b.a r.n
    """
    )
)
"""Abbreviations that may stand at the end of a sentence: they end it only before an opener."""

CLOCK: Final = frozenset({"a.m", "p.m", "b.c", "a.d", "b.c.e", "c.e"})
"""Times and eras: they end a sentence before a capital, unless a day or a time zone follows."""

AFTER_CLOCK: Final = frozenset(
    listed(
        """
    et est edt ct cst cdt mt mst mdt pt pst pdt gmt utc cet eastern central mountain pacific monday tuesday
    wednesday thursday friday saturday sunday
    """
    )
)

OPENERS: Final = frozenset(
    listed(
        """
    The This That These Those It Its In On At As A An He She They We You I His Her Their Our My There
    However But And Or So If When While After Before Since For From With By According Although Though
    Because During Despite Each Both Many Most Some Such Then Thus Therefore Moreover Furthermore
    Additionally Also What Which Who Why How Is Are Was Were Here Meanwhile Instead Finally Overall Under
    Today Not Nor Once Until Unlike Like To Der Die Das Ein Eine Einen Er Sie Es Wir Ihr Im Am Dies Diese
    Dieser Dieses Danach Dann Auch Aber Wenn Nach Bei Seit Il Elle Ils Elles Ce Cette Ces En Dans Les Une Un
    Nous Vous On Mais
    """
    )
)
"""Words that so often open a sentence that they end even an abbreviation or an initial before them."""

LOWER_OPENERS: Final = frozenset(
    listed(
        """
    i he she they it its we you this that there the
    """
    )
)
"""Lower-case words that open a sentence in text whose writer does not capitalise."""

CONNECTORS: Final = frozenset(
    listed(
        """
    a an the of in on at to for from with by and or but as is are was were be been that which who whose this
    these those its their his her our your my not no than into per über der die das den dem des und oder von
    mit im am zu für ein eine einer eines einem einen le la les de du des et ou un une dans pour par sur mr
    mrs ms dr
    """
    )
)
"""Words that cannot end a line on purpose: a line that ends with one goes on in the next."""

AFTER_GERMAN_ORDINAL: Final = frozenset(
    listed(
        """
    januar februar märz april mai juni juli august september oktober november dezember jahrhundert
    jahrhunderts jh quartal halbjahr platz klasse stock etage auflage weltkrieg bundesliga kapitel jänner
    """
    )
)
BEFORE_GERMAN_ORDINAL: Final = frozenset(
    listed(
        """
    der die das den dem des am im vom zum zur ein eine einer beim ab bis seit jeder jede jedes
    """
    )
)

DOTTED: Final = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]?", re.UNICODE)
"""``U.S``, ``e.g``, ``z.B``, ``J.-C``: letters with full stops between them (the last one removed)."""
