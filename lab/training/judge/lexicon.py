"""Words that mean the same and words that mean the opposite, in all their regular forms.

A claim with one word put for another that means the same still holds; with one that means the opposite it does not.
Both look alike to a model that counts words, so training needs many of both, of the same shape.
"""

import re
from collections.abc import Sequence

VOWELS = "aeiou"
_DOUBLING = re.compile(
    "stop|ban|drop|permit|admit|commit|transmit|submit|omit|plan|trap|rob|grab|rub|strip|wrap|prefer|refer|occur|expel|"
    "compel|repel|emit|regret|control|patrol|cancel"
)

_SAME_VERBS = """
show demonstrate indicate reveal|demonstrate show|increase boost raise|boost increase|reduce lower decrease lessen
diminish reduce lessen|help aid assist|aid help|enable allow permit|permit allow|require need|employ use utilize
utilize use employ|improve enhance|enhance improve boost|investigate examine explore|explore investigate
propose introduce suggest|introduce present propose|develop create design|achieve attain reach|attain achieve
obtain gain acquire|prevent avert stop|avert prevent|trigger cause induce|induce cause trigger|provoke cause trigger
affect influence impact|influence affect|verify confirm validate|confirm verify corroborate|validate verify
evaluate assess|assess evaluate|predict forecast|forecast predict|explain clarify|clarify explain
describe depict portray|portray depict|identify detect recognize|detect identify discover|generate produce create
produce generate create|remove eliminate|eliminate remove|purchase acquire|start begin launch|launch start initiate
commence start|finish conclude complete|conclude end finish|terminate end|continue persist|claim assert|assert claim
deny refute|refute disprove|decline refuse|refuse decline|collect gather|gather collect|assault attack
attack assault|demolish destroy|destroy demolish ruin|damage harm impair|impair harm damage|protect shield safeguard
aggravate worsen exacerbate|exacerbate worsen aggravate|alleviate ease relieve|mitigate alleviate lessen
relieve ease alleviate|transmit pass|surpass exceed|exceed surpass|modify alter change|alter modify change
maintain preserve retain|preserve maintain|combine merge unite|merge combine|separate divide|discuss debate
provide supply offer|supply provide|assume suppose presume|contain include|comprise include contain
perform conduct execute|occur happen|happen occur|emerge appear|appear emerge|construct erect|finance fund
fund finance|reside live|endorse support back|oppose resist|criticize condemn denounce|condemn denounce criticize
praise commend laud|commend praise|attempt try|accomplish achieve complete|allocate assign|announce declare proclaim
declare announce|abolish scrap|capture seize|seize capture|demand request|disclose reveal expose|extend prolong lengthen
hinder hamper impede|hamper hinder|inhibit suppress block|suppress inhibit|stimulate promote|promote stimulate foster
accelerate quicken|delay postpone|postpone delay|illustrate show demonstrate|highlight emphasize stress
emphasize stress highlight|outperform surpass exceed|solve resolve|analyze examine study|mention note|recruit enlist
donate contribute|rescue save|injure wound hurt|murder kill|perish die|tackle address handle|leverage exploit use
exploit leverage use|facilitate ease enable|construct build|monitor observe track|observe notice|adopt embrace
reject refuse|approve authorize|authorize approve|select choose pick|pick select|locate place|relocate move
visit tour|participate compete|instruct direct|guide direct|imply suggest|suggest imply indicate|warn caution
recommend advise|advise recommend|deteriorate worsen|decline decrease drop|drop decrease fall|climb rise|rely depend
depend rely|enrich improve|ensure guarantee|guarantee ensure|strengthen reinforce|weaken undermine|omit skip
predate precede|contract catch|treat cure|regard consider|view regard|term call|name call|portray represent
star appear|feature include|host present|record tape|publish release|release publish|sign ink|join enter|quit leave
resign quit|retire withdraw|accuse charge|charge accuse|detain arrest hold|arrest detain|convict sentence
investigate probe|confess admit|admit acknowledge|acknowledge admit|vow pledge promise|pledge promise vow
promise pledge|dismiss fire|fire dismiss|train coach|coach train|defeat beat|trail lag|rank place|total number
span cover|exhibit display show|display show exhibit|absorb soak|emit discharge release|minimize reduce
maximize increase|optimize improve|simulate model|approximate estimate|estimate approximate gauge|infer deduce
deduce infer|quantify measure|measure quantify|characterize describe|elucidate explain|restrict limit|limit restrict
constrain limit restrict|augment enlarge increase|enlarge expand|expand enlarge widen|shrink contract|encode represent
integrate combine|incorporate include integrate|employ apply|apply use|devise design invent|invent devise
"""
"""Verbs that inflect regularly: the first may be replaced by each of the others."""

_SAME_WORDS = """
method approach technique|approach method|technique method approach|outcome result|finding result discovery
decline drop decrease|reduction decrease decline|error mistake|mistake error|goal aim objective|aim goal
objective goal|task job|film movie|movie film|author writer|physician doctor|doctor physician|illness disease sickness
disease illness|drug medication medicine|medication drug medicine|child kid|automobile car|car automobile|vehicle car
house home|residence home|city town|country nation|nation country|street road|attorney lawyer|lawyer attorney
instructor teacher|educator teacher|pupil student|chief head leader|fight battle|war conflict|conflict war
prize award|award prize|song track|fan supporter|customer client|client customer|buyer purchaser|cost price expense
danger hazard threat|hazard danger risk|advantage benefit|benefit advantage|drawback disadvantage shortcoming
disadvantage drawback|difficulty problem|problem issue difficulty|answer reply response|response answer reply
likelihood probability chance|probability likelihood|amount quantity|quantity amount|velocity speed|speed pace
area region zone|region area|boundary border|border boundary|regulation rule|legislation law|agreement deal accord
pact agreement|accord agreement|meeting gathering|guest visitor|employee worker|worker employee|staff personnel
boss manager|evidence proof|proof evidence|hypothesis theory|experiment trial|specimen sample|type kind sort
category class type|picture image photo|photograph photo picture|noise sound|ocean sea|forest woods|rock stone
ship vessel|vessel ship|airplane plane aircraft|aircraft plane|firearm gun weapon|burglar thief|prison jail|jail prison
victim casualty|infant baby|baby infant|lady woman|guy man|spouse partner|sibling brother|infection contagion
mortality death|fatality death|surgery operation|hospital clinic|therapy treatment|treatment therapy|vaccine jab
jab vaccine|virus pathogen|pandemic outbreak|outbreak epidemic|epidemic outbreak|inhabitant resident
resident inhabitant|population inhabitants|gender sex|salary wage pay|wage salary|firm company business
company firm corporation|corporation company firm|shop store|store shop|garbage trash|apartment flat|fall autumn
autumn fall|football soccer|soccer football|match game|game match|squad team|team squad|coach trainer
contest competition
competition contest|championship title|trophy cup|celebrity star|actress performer|actor performer|singer vocalist
vocalist singer|musician artist|band group|novel book|book volume|newspaper paper|journalist reporter
reporter journalist|episode instalment|series show|director filmmaker|professor academic|scientist researcher
researcher scientist|scholar academic|university college|founder creator|creator inventor|inventor creator
leader head|monarch sovereign|ruler leader|soldier trooper|army military|weapon arm|bomb explosive|cop policeman
policeman officer|criminal offender|offender criminal|crime offence|murder killing|killing murder|funds money
money cash|cash money|food meals|meal dinner|beverage drink|drink beverage|garment clothes|clothing clothes apparel
big large|large big|huge enormous massive|enormous huge vast|massive huge|little small|tiny small|quick fast rapid
rapid fast quick|swift quick|difficult hard challenging|challenging difficult|easy simple|straightforward simple easy
important crucial|crucial vital essential|essential vital crucial|vital crucial essential|novel new|elderly old
famous renowned well-known|renowned famous|celebrated famous|wealthy rich|rich wealthy|poor impoverished
smart intelligent clever|intelligent smart|clever smart|sick ill|ill sick|angry furious|happy glad pleased
sad unhappy|unhappy sad|strange odd unusual|unusual uncommon|common widespread|prevalent widespread common
widespread common|rare uncommon scarce|uncommon rare|correct right|accurate precise|precise exact|wrong incorrect
incorrect wrong|false untrue|main primary principal|primary main|principal main chief|entire whole|whole entire
various diverse|diverse varied|sufficient enough adequate|adequate sufficient|necessary required|severe serious
serious severe grave|fatal deadly lethal|deadly fatal lethal|lethal deadly|beautiful pretty attractive|annual yearly
yearly annual|global worldwide|feasible possible|probable likely|likely probable|obvious clear evident|evident clear
apparent evident|empty vacant|silent quiet|noisy loud|hazardous dangerous risky|dangerous hazardous unsafe
inexpensive cheap|cheap inexpensive|costly expensive|expensive costly|initial first|final last|efficacious effective
robust sturdy|identical same|distinct different separate|additional extra further|extra additional
numerous many|several multiple|multiple several|countless many|contemporary modern|ancient old|brave courageous
courageous brave|calm peaceful|tired weary|wet damp|damp moist|cold chilly|hot scorching|broad wide|wide broad
slim thin|fat overweight|obese overweight|blind sightless|dead deceased|deceased dead|alive living|native indigenous
quickly rapidly swiftly|rapidly quickly|swiftly quickly|often frequently|frequently often|rarely seldom infrequently
seldom rarely|almost nearly|nearly almost|approximately about roughly|roughly about approximately
mainly mostly primarily
mostly mainly largely|primarily mainly chiefly|largely mostly|usually typically generally|typically usually
generally usually|significantly substantially considerably|substantially significantly
considerably significantly markedly
markedly considerably|completely entirely fully totally|entirely completely wholly|fully completely|totally completely
only solely merely|solely only exclusively|additionally also|moreover furthermore|currently presently now
presently currently|previously formerly earlier|formerly previously|eventually ultimately finally|ultimately eventually
suddenly abruptly|simultaneously concurrently|especially particularly|particularly especially notably
slightly marginally|easily readily|jointly together|annually yearly|afterwards later|subsequently later afterwards
later subsequently|initially originally|originally initially|partly partially|partially partly|worldwide globally
globally worldwide|extremely very|very extremely|greatly considerably|sharply steeply|steadily constantly
constantly continuously|permanently forever|immediately instantly|instantly immediately|perhaps possibly maybe
possibly perhaps|within inside|beneath under below|under below beneath|near close to|amid during|although though
though although|because since|whereas while|while whereas|via through|despite notwithstanding|regarding concerning about
concerning regarding|upon on|until till|got received|got obtained|said stated|said remarked|wrote penned|wrote authored
made created|made produced|found discovered|found detected|took grabbed|gave handed|held organized|led headed
went travelled|grew increased|grew expanded|rose increased|rose climbed|fell dropped|fell declined|won triumphed
began started|begun started|became turned|built constructed|bought purchased|taught instructed
fought battled|fled escaped|spoke talked|thought believed|told informed|felt sensed|kept retained|left departed
met encountered|paid spent|sent dispatched|sang performed|chose selected|chosen selected|shown demonstrated
shown displayed|known recognized|written authored|driven steered|stolen robbed|hidden concealed|beaten defeated
"""
"""Other words, each as it stands: the first may be replaced by each of the others."""

_OPPOSITE_VERBS = """
increase decrease|increase reduce|boost reduce|boost lower|raise lower|enhance impair|enhance weaken|improve worsen
improve impair|promote inhibit|promote hinder|stimulate suppress|stimulate inhibit|activate inhibit|activate deactivate
accelerate delay|prevent cause|prevent promote|prevent enable|drive prevent|allow prevent|enable disable|enable hinder
enable prevent|help hinder|facilitate hinder|facilitate impede|support oppose|support contradict|accept reject
confirm refute|confirm contradict|confirm deny|admit deny|approve reject|protect endanger|alleviate aggravate
mitigate exacerbate|ease worsen|expand contract|expand limit|extend shorten|strengthen weaken|simplify complicate
maximize minimize|include exclude|contain lack|add remove|attach detach|connect disconnect|combine separate
merge divide|unite divide|succeed fail|pass fail|open close|start stop|start finish|launch cancel|continue stop
continue cease|appear disappear|arrive depart|enter exit|ascend descend|advance retreat|attack defend
praise criticize|love hate|like dislike|admire despise|trust distrust|agree disagree|obey disobey|encourage discourage
employ dismiss|hire dismiss|recruit dismiss|appoint dismiss|import export|save waste|push pull|ignore consider
ignore address|neglect address|overestimate underestimate|exceed trail|outperform underperform|surpass trail
upregulate downregulate|encode decode|load unload|lock unlock|heat cool|fill empty|gather scatter|retain discard
retain lose|preserve destroy|create destroy|construct demolish|unveil conceal|reveal conceal|expose conceal
permit prohibit|legalize ban|demand supply|attract repel|absorb emit|inhale exhale|inflate deflate|precede follow
infect cure|survive perish|recover deteriorate|learn teach|release withhold|release detain|free imprison|arrest release
acquit convict|donate receive|lend borrow|honor insult|embrace reject|adopt abandon|adopt reject|pursue abandon
join quit|respect disrespect|qualify disqualify|assemble dismantle|invade defend|capture release|elevate reduce
relax tighten|loosen tighten|relax restrict|restrict broaden|narrow widen|deepen lessen|thrive decline|benefit suffer
gain lack|deny allow|resist support|defend criticize|welcome oppose|endorse oppose|back oppose|favor oppose
clarify obscure|solve cause|resolve cause|stabilize destabilize|centralize decentralize|privatize nationalize
validate invalidate|verify falsify|prove disprove|link separate|pause resume|suspend resume|prohibit encourage
"""
_OPPOSITE_WORDS = """
able unable|aware unaware|balanced unbalanced|balanced imbalanced|bounded unbounded|certain uncertain|clear unclear
conditional unconditional|constrained unconstrained|controlled uncontrolled|equal unequal|even uneven
expected unexpected|fair unfair|familiar unfamiliar|favorable unfavorable|fortunate unfortunate|healthy unhealthy
important unimportant|labeled unlabeled|lucky unlucky|married unmarried|official unofficial|paired unpaired
popular unpopular|predictable unpredictable|published unpublished|realistic unrealistic|restricted unrestricted
limited unlimited|satisfied dissatisfied|seen unseen|structured unstructured|suitable unsuitable|trained untrained
usual unusual|willing unwilling|adequate inadequate|appropriate inappropriate|capable incapable|definite indefinite
finite infinite|flexible rigid|formal informal|secure insecure|separable inseparable|soluble insoluble
tolerant intolerant
valid invalid|variant invariant|visible invisible|moral immoral|mature immature|perfect imperfect|practical impractical
probable improbable|proper improper|logical illogical|regular irregular|relevant irrelevant|reversible irreversible
responsible irresponsible|symmetric asymmetric|typical atypical|linear nonlinear|trivial nontrivial
deterministic stochastic|continuous discrete|static dynamic|sparse dense|homogeneous heterogeneous|explicit implicit
online offline|upstream downstream|coarse fine|abstract concrete|aerobic anaerobic|benign malignant|diurnal nocturnal
maternal paternal|oral intravenous|dominant recessive|systolic diastolic|gradual sudden|gradually suddenly
constant variable|flat steep|sharp blunt|heavy light|tight loose|smooth rough|clean dirty|pure impure|sweet bitter
loud quiet|busy idle|brave cowardly|generous selfish|polite rude|honest dishonest|loyal disloyal|armed unarmed
civilian military|conservative liberal|democratic autocratic|amateur professional|partial complete|partially completely
partly fully|slightly greatly|barely greatly|barely easily|exactly roughly|explicitly implicitly|directly indirectly
efficiently inefficiently|effectively ineffectively|successfully unsuccessfully|accurately inaccurately
correctly incorrectly|consistently inconsistently|safely dangerously|easily hardly|rapidly slowly|steadily erratically
temporarily permanently|voluntarily forcibly|publicly privately|openly secretly|locally globally|nationally locally
initially finally|previously subsequently|formerly currently|rarely frequently|seldom often|occasionally constantly
sometimes never|everywhere nowhere|everything nothing|everyone nobody|anything nothing|maximum minimum|maximal minimal
lower higher|reduced elevated|reduction increase|decrease increase|decline growth|decline rise|improvement deterioration
improvement decline|gain loss|advantage disadvantage|benefit harm|benefit drawback|strength weakness|success failure
acceptance rejection|approval rejection|support opposition|presence absence|similarity difference|agreement disagreement
agreement dispute|victory defeat|peace war|freedom slavery|wealth poverty|health illness|arrival departure|entrance exit
ally enemy|supporter opponent|supporters opponents|proponents opponents|majority minority|winner loser|buyer seller
lender borrower|landlord tenant|plaintiff defendant|prosecution defence|predator prey|parent child|parents children
uncle aunt|nephew niece|king queen|prince princess|bride groom|hero villain|beginner expert|novice expert|guest host
friend stranger|day night|dawn dusk|heaven hell|question answer|cause effect|input output|supply demand|surplus deficit
surplus shortage|asset liability|debit credit|income expense|exports imports|employers employees|optimism pessimism
stable volatile|resilient fragile|resilient vulnerable|immune vulnerable|resistant vulnerable|robust fragile
robust brittle|scalable unscalable|tractable intractable|interpretable opaque|transparent opaque|novel outdated
recent old|recent outdated|latest earliest|primary secondary|major minor|central peripheral|main minor|core marginal
crucial irrelevant|essential optional|vital unimportant|significant negligible|substantial negligible|huge tiny
enormous tiny|massive small|tiny huge|short tall|tall short|deep shallow|narrow wide|slim fat|thick thin|dense sparse
bright dim|dark bright|fresh stale|raw cooked|ripe unripe|fertile barren|humid dry|rainy sunny|hostile friendly
gentle harsh|lenient strict|strict lax|cautious reckless|careful careless|innocent guilty|sober drunk|awake asleep
pregnant infertile|single married|widowed married|sighted blind|literate illiterate|educated uneducated
skilled unskilled|experienced inexperienced|employed unemployed|retired active|elected appointed|hereditary elected
mandatory voluntary|compulsory optional|free paid|unpaid paid|taxed untaxed|insured uninsured|licensed unlicensed
authorized unauthorized|encrypted unencrypted|wired wireless|manual automatic|manually automatically|digital analog
virtual physical|remote local|theoretical empirical|theoretical practical|qualitative quantitative|objective subjective
rational irrational|conscious unconscious|sterile contaminated|toxic harmless|contagious noncontagious|curable incurable
preventable unavoidable|inevitable avoidable|reversible permanent|systemic localized|bacterial viral|airborne waterborne
inpatient outpatient|rural metropolitan|coastal inland|tropical arctic|eastern western|northern southern|inner outer
interior exterior|upper lower|vertical horizontal|parallel perpendicular|clockwise counterclockwise|forward backward
forwards backwards|left right|front rear|top bottom|inside outside|within beyond|above beneath|before afterwards
toward away|plus minus|more fewer|greatest least|best worst|easiest hardest|fastest slowest|richest poorest
oldest newest|strongest weakest|nearest farthest|longest shortest|first last|former latter|ever never|still no longer
with without|despite because|unlike like|unless if|until after|during before|since until
"""


def forms(verb: str) -> tuple[str, str, str, str]:
    """A regular verb as it stands, with -s, with -ed and with -ing."""
    if verb.endswith("e"):
        return verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing" if not verb.endswith("ee") else f"{verb}ing"
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z")) else f"{verb}s"
    stem = verb + verb[-1] if _DOUBLING.fullmatch(verb) else verb
    return verb, third, f"{stem}ed", f"{stem}ing"


_IRREGULAR = {
    "begin": ("begin", "begins", "began", "beginning"), "leave": ("leave", "leaves", "left", "leaving"),
    "fall": ("fall", "falls", "fell", "falling"), "rise": ("rise", "rises", "rose", "rising"),
    "build": ("build", "builds", "built", "building"), "catch": ("catch", "catches", "caught", "catching"),
    "beat": ("beat", "beats", "beat", "beating"), "hurt": ("hurt", "hurts", "hurt", "hurting"),
    "choose": ("choose", "chooses", "chose", "choosing"), "die": ("die", "dies", "died", "dying"),
    "hold": ("hold", "holds", "held", "holding"), "withdraw": ("withdraw", "withdraws", "withdrew", "withdrawing"),
    "drive": ("drive", "drives", "drove", "driving"), "lose": ("lose", "loses", "lost", "losing"),
    "teach": ("teach", "teaches", "taught", "teaching"), "lend": ("lend", "lends", "lent", "lending"),
    "withhold": ("withhold", "withholds", "withheld", "withholding"),
    "shrink": ("shrink", "shrinks", "shrank", "shrinking"),
}  # fmt: skip


def _groups(text: str) -> list[list[str]]:
    return [group.split() for group in re.split(r"[|\n]", text.strip())]


def _conjugated(group: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(_IRREGULAR.get(verb) or forms(verb) for verb in group), strict=True))


def same_words() -> dict[str, Sequence[str]]:
    """For each word those that may stand for it."""
    table: dict[str, dict[str, None]] = {}
    groups = [tuple(g) for g in _groups(_SAME_WORDS)]
    for group in (*groups, *(g for verbs in _groups(_SAME_VERBS) for g in _conjugated(verbs))):
        table.setdefault(group[0], {}).update(dict.fromkeys(w for w in group[1:] if w != group[0]))
    return {word: tuple(others) for word, others in table.items() if others}


def opposite_words() -> dict[str, Sequence[str]]:
    """For each word those that deny it; a pair counts both ways."""
    table: dict[str, dict[str, None]] = {}
    pairs = [(g[0], " ".join(g[1:])) for g in _groups(_OPPOSITE_WORDS)]
    pairs += [(c[0], c[1]) for verbs in _groups(_OPPOSITE_VERBS) for c in _conjugated(verbs)]
    for one, other in pairs:
        if one != other:
            table.setdefault(one, {})[other] = None
            table.setdefault(other, {})[one] = None
    return {word: tuple(others) for word, others in table.items()}


SAME = same_words()
OPPOSITE = opposite_words()
