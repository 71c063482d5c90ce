"""Word lists for the edits and the paraphrases."""

import re
from collections.abc import Sequence

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|does|did|do)\b(?!n't| not| never)"
)

_PAIRS = """
increase decrease|increased decreased|increases decreases|increasing decreasing|rise fall|rose fell
rising falling|higher lower|high low|highest lowest|more less|more fewer|most least|larger smaller|large small
largest smallest|bigger smaller|big small|longer shorter|long short|older younger|old young|oldest youngest
first last|first second|before after|earlier later|early late|start end|started ended|starts ends|begins ends
began ended|beginning end|win lose|won lost|wins loses|winner loser|victory defeat|success failure
successful unsuccessful|succeeded failed|accept reject|accepted rejected|approve reject|approved rejected
allow forbid|allowed banned|allows prevents|support oppose|supports opposes|supported opposed|agree disagree
agreed refused|agrees disagrees|include exclude|included excluded|including excluding|gain loss|gained lost
profit loss|buy sell|bought sold|buying selling|open closed|opened closed|opens closes|north south
northern southern|east west|eastern western|left right|upper lower|above below|over under|inside outside
male female|man woman|men women|father mother|son daughter|brother sister|husband wife|boy girl|king queen
actor actress|he she|his her|positive negative|strong weak|stronger weaker|good bad|better worse|best worst
safe dangerous|possible impossible|likely unlikely|common rare|known unknown|public private|national local
domestic foreign|import export|imports exports|rich poor|hot cold|warm cool|warmer colder|light dark|black white
day night|morning evening|summer winter|spring autumn|love hate|loves hates|life death|born died|alive dead
always never|often rarely|usually rarely|all none|all some|both neither|many few|everyone nobody|some all
few many|majority minority|only also|same different|similar different|true false|correct incorrect
improve worsen|improved worsened|improves worsens|reduce raise|reduced raised|reduces raises|expand shrink
expanded shrank|create destroy|created destroyed|build demolish|built demolished|join leave|joined left
arrive depart|arrived departed|appointed dismissed|hired fired|remember forget|easy difficult|simple complex
cheap expensive|new old|modern ancient|fast slow|faster slower|quickly slowly|near far|within outside
with without|for against|according contrary|because although|due despite|may will|might must|can cannot
could would|should could|effective ineffective|significant insignificant|significantly slightly
associated unrelated|caused prevented|causes prevents|cause prevent|risk benefit|patients doctors
adults children|guilty innocent|legal illegal|present absent|up down|upwards downwards|teacher student
employer employee|attack defend|attacked defended|enter exit|entered left|single double|half twice
annual monthly|daily weekly|century decade|years months|weeks days|hours minutes|hero villain|friend enemy
ally rival|happy sad|praised criticised|praise criticism|optimistic pessimistic|internal external
direct indirect|maximum minimum|top bottom|front back|temporary permanent|voluntary mandatory|optional mandatory
resistant susceptible|infected uninfected|vaccinated unvaccinated|mild severe|acute chronic|early late
symptomatic asymptomatic|inhibits promotes|inhibit promote|inhibited promoted|activates suppresses
activated suppressed|activation suppression|elevated lowered|enhanced impaired|enhances impairs|stable unstable
sufficient insufficient|reliable unreliable|efficient inefficient|complete incomplete|accurate inaccurate
beneficial harmful|benefits harms|harmless dangerous|protective harmful|protects harms|dependent independent
supervised unsupervised|consistent inconsistent|related unrelated|linked unrelated|worsening improvement
confirmed denied|confirms denies|proven disproven|necessary unnecessary|sensitive insensitive|active inactive
upregulated downregulated|exceeds trails|outperforms underperforms|outperform underperform|faster slower
greater smaller|greater lesser|frequently seldom|mostly hardly|entirely partly|rapid slow|lowest highest
delayed accelerated|slows accelerates|slowed accelerated|worldwide locally|global local|indoor outdoor
alone together|unique common|novel established|superior inferior|broad narrow|deep shallow|thick thin|wet dry
senior junior|former current|previous next|urban rural|liquid solid|natural artificial
"""
_UNITS = """
million billion trillion thousand|percent million|km miles metres|kilometres miles metres
kilometers miles meters|feet metres inches|metres feet kilometres|meters feet kilometers|miles kilometres metres
kg pounds tonnes|pounds euros dollars|dollars euros pounds|euros dollars yen|hours minutes days
minutes hours seconds|seconds minutes|days weeks months|weeks months days|months years weeks
years months decades|decades years centuries|centuries decades|century decade|celsius fahrenheit
fahrenheit celsius|grams milligrams kilograms|billion million trillion|thousand million hundred|hundred thousand
quarter year|per cent million|tonnes pounds|acres hectares|hectares acres|mg kg|cm mm
"""


def _opposites() -> dict[str, Sequence[str]]:
    table: dict[str, list[str]] = {}
    for pair in re.split(r"[|\n]", _PAIRS.strip()):
        one, other = pair.split()
        table.setdefault(one, []).append(other)
        table.setdefault(other, []).append(one)
    return dict(table)


OPPOSITES = _opposites()
UNITS: dict[str, Sequence[str]] = {
    line.split()[0]: line.split()[1:] for line in re.split(r"[|\n]", _UNITS.strip().replace("per cent million", ""))
    if line.split()
}  # fmt: skip

_SAME = """
big large|begin start|began started|purchase buy|purchased bought|film movie|movie film|approximately about
about roughly|around about|numerous many|several multiple|assist help|assisted helped|obtain get|require need
requires needs|required needed|however but|also additionally|children kids|physician doctor|job position
show demonstrate|shows demonstrates|showed demonstrated|found discovered|said stated|says states|stated said
announced said|located situated|author writer|wrote authored|company firm|firm company|created made
made produced|famous well-known|because since|while whereas|although though|huge enormous|important significant
rapidly quickly|begun started|near close to|died passed away|killed left dead|married wed|released issued
issued released|received got|got received|leader head|lawyer attorney|university college|United States US
United States U.S.|United Kingdom UK|percent %|per cent %|usually generally|primarily mainly|mainly mostly
entire whole|attempt try|attempted tried|reveal show|revealed showed|conduct carry out|study research
researchers scientists|people individuals|city town|road street|led headed|fell dropped|rose climbed
increased grew|decreased declined|increase growth|decrease decline|due to because of|in order to to
"""


def _same() -> dict[str, Sequence[str]]:
    table: dict[str, list[str]] = {}
    for pair in re.split(r"[|\n]", _SAME.strip()):
        words = pair.split()
        cut = 2 if words[:2] in (["United", "States"], ["United", "Kingdom"], ["per", "cent"], ["due", "to"]) else 1
        cut = 3 if words[:3] == ["in", "order", "to"] else cut
        table.setdefault(" ".join(words[:cut]), []).append(" ".join(words[cut:]))
    return dict(table)


SAME = _same()
