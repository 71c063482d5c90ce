"""Rows of tables with questions about their cells: written schemas filled with made values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from lab.training.judge.words import MONTHS, WEEKDAYS
from lab.training.reader.rows import Example

Cell = Callable[[Random], str]


def _words(text: str) -> list[str]:
    return text.split()


def _phrases(text: str) -> list[str]:
    return [" ".join(phrase.split()) for phrase in text.split("|")]


_FIRST = _words("""
    Anna Ben Carla David Elena Felix Grace Hugo Ines Jonas Kira Leon Maria Nadia Omar Paula Quentin Rosa Simon
    Tara Umar Vera Walter Xenia Yusuf Zoe
    """)
_LAST = _words("""
    Abbott Berger Castro Dufour Engel Fischer Garcia Hansen Ivanov Jansen Keller Lopez Meyer Novak Olsen Peters
    Quinn Rossi Schmidt Turner Ueda Vogel Weber Young Zeller
    """)
_PLACES = _words("""
    Aberdeen Bergen Cork Dresden Essen Faro Ghent Halifax Izmir Jena Kyoto Leeds Malmo Nantes Oslo Porto Quebec
    Riga Seville Turin Utrecht Vienna Warsaw York Zurich
    """)
_GOODS = _phrases("""
    apple jam | oak table | desk lamp | steel bolt | rain jacket | wool scarf | garden hose | paint roller |
    copper pipe | cedar plank | tea kettle | cork board | bread knife | bike pump | wall clock | camp stove |
    hand drill | ink cartridge | door hinge | soy candle | canvas bag | water filter | road map | picture frame
    | storage box | office chair | LED bulb | rubber boots | hex key set
    """)
_LINES = _phrases("""
    Net sales | Total revenue | Cost of sales | Gross profit | Operating income | Research and development | Net
    income | Interest expense | Income taxes | Total assets | Total liabilities | Cash and cash equivalents |
    Accounts receivable | Inventories | Long-term debt | Depreciation and amortization | Capital expenditures |
    Dividends paid | Goodwill | Selling, general and administrative | Deferred revenue | Share repurchases |
    Restructuring charges
    """)


def _name(rng: Random) -> str:
    return f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"


def _good(rng: Random) -> str:
    good = rng.choice(_GOODS)
    return (
        good if rng.random() < 0.6 else f"{good} {rng.choice(('small', 'large', 'XL', 'B2', 'pro', '40 cm', 'blue'))}"
    )


def _of(*choices: str) -> Cell:
    return lambda rng: rng.choice(choices)


def _int(low: int, high: int, suffix: str = "") -> Cell:
    return lambda rng: (
        f"{rng.randint(low, high):,}{suffix}" if rng.random() < 0.7 else f"{rng.randint(low, high)}{suffix}"
    )


def _money(rng: Random) -> str:
    value = rng.choice((rng.uniform(0.5, 20), rng.uniform(20, 900)))
    return rng.choice((f"{value:.2f}", f"${value:.2f}", f"{value:.2f} EUR", f"€{value:.2f}", f"{value:.0f}"))


def _amount(rng: Random) -> str:
    value = rng.randint(12, 99_999)
    return rng.choice((f"${value:,}", f"{value:,}", f"${value:,} million", f"({value:,})"))


def _date(rng: Random) -> str:
    month = rng.randint(1, 12)
    day, year = rng.randint(1, 28), rng.randint(2005, 2027)
    return rng.choice(
        (f"{year}-{month:02}-{day:02}", f"{day} {MONTHS[month - 1]} {year}", f"{MONTHS[month - 1]} {day}, {year}")
    )


def _hour(rng: Random) -> str:
    return f"{rng.randint(6, 22):02}:{rng.choice(('00', '15', '30', '45'))}"


def _code(rng: Random) -> str:
    return f"{rng.choice('ABCDKMPRSTX')}{rng.choice('ABCDEFGH') if rng.random() < 0.5 else ''}-{rng.randint(10, 9999)}"


@dataclass(frozen=True)
class Column:
    """A column: its headings, what fills it, and how people ask for it (`{}` is the row's label)."""

    headings: Sequence[str]
    cell: Cell
    asked: Sequence[str]


def _column(headings: str, cell: Cell, asked: str) -> Column:
    return Column(headings.split("|"), cell, asked.split("|"))


@dataclass(frozen=True)
class Schema:
    """A table: its titles, the column that names the row, and the others."""

    titles: Sequence[str]
    label: Column
    columns: Sequence[Column]


_STOCK = _column(
    "Stock|In stock|Units|Quantity|qty",
    _int(0, 900),
    "How many {} are in stock?|How many units of {} are there?|What is the stock of {}?|How many {} do we have left?",
)
_PRICE = _column(
    "Price|Unit price|Cost|price_eur",
    _money,
    "How much does {} cost?|What is the price of {}?|What does the {} cost?|What do we charge for {}?|price of {}",
)

SCHEMAS: Sequence[Schema] = (
    Schema(
        ("Price list", "Products", "Catalogue", ""),
        _column("Product|Item|Article|name", _good, ""),
        (
            _PRICE,
            _STOCK,
            _column(
                "Supplier|Vendor|Made by",
                lambda r: f"{r.choice(_LAST)} {r.choice(('Ltd', 'GmbH', 'Inc.', '& Sons'))}",
                "Who supplies {}?|Which company makes {}?|Who is the supplier of {}?|Where do we buy the {}?",
            ),
            _column(
                "Weight|weight_kg|Net weight",
                _int(1, 60, " kg"),
                "How heavy is {}?|What does {} weigh?|What is the weight of {}?",
            ),
            _column(
                "Colour|Color",
                _of("red", "green", "navy", "black", "white", "grey"),
                "What colour is {}?|Which color does {} come in?",
            ),
            _column(
                "Warranty|Guarantee",
                _of("1 year", "2 years", "5 years", "6 months"),
                "How long is the warranty on {}?|What guarantee does {} have?|For how long is {} covered?",
            ),
            _column("SKU|Article number|Code", _code, "What is the article number of {}?|What is the SKU of {}?"),
        ),
    ),
    Schema(
        ("Orders", "Order book", "Sales", ""),
        _column("Order|Order no|id|order_id", _code, ""),
        (
            _column(
                "Customer|Client|Buyer", _name, "Who placed order {}?|Who is the customer of order {}?|Who ordered {}?"
            ),
            _column(
                "Status|State",
                _of("shipped", "open", "cancelled", "paid", "returned", "delivered"),
                "What is the status of order {}?|Has {} been shipped?|Is order {} still open?",
            ),
            _column(
                "Total|Amount|Sum",
                _money,
                "What is the total of order {}?|How much was order {}?|What did order {} come to?",
            ),
            _column("Date|Ordered on|Placed", _date, "When was order {} placed?|On what date was {} ordered?"),
            _column("City|Ship to|Destination", _of(*_PLACES), "Where does order {} go?|To which city is {} shipped?"),
        ),
    ),
    Schema(
        ("Staff", "Employees", "Contacts", "Team", ""),
        _column("Name|Employee|Person|Contact", _name, ""),
        (
            _column(
                "Department|Team|Unit",
                _of("Sales", "Finance", "Legal", "Design", "Logistics", "Support", "Research"),
                "Which department does {} work in?|What team is {} in?|Where does {} work?",
            ),
            _column(
                "Role|Position|Job title|Title",
                _of("manager", "engineer", "accountant", "analyst", "driver", "director", "nurse"),
                "What is {}'s job?|What position does {} hold?|What does {} do?",
            ),
            _column(
                "Phone|Extension|Tel",
                _int(200, 9999),
                "What is {}'s phone number?|How can I call {}?|What is the extension of {}?",
            ),
            _column(
                "Started|Hired|Since|Joined",
                _date,
                "When did {} start?|Since when has {} been with us?|When was {} hired?",
            ),
            _column("Office|Room|Location", _of(*_PLACES), "Where is {} based?|In which office does {} sit?"),
            _column("Salary|Pay", _amount, "How much does {} earn?|What is the salary of {}?|What is {} paid?"),
        ),
    ),
    Schema(
        (
            "Consolidated Statements of Income",
            "Selected financial data",
            "Results of operations",
            "Segment results",
            "",
        ),
        _column("Item|(in millions)|Line item|", _of(*_LINES), ""),
        tuple(
            _column(
                f"{year}|FY{year}|Fiscal {year}|Year ended {year}",
                _amount,
                f"What was {{}} in {year}?|How much was {{}} in {year}?|{{}} {year}|What were {{}} for fiscal {year}?|"
                f"What did the company report as {{}} for FY{year}?",
            )
            for year in range(2015, 2026)
        ),
    ),
    Schema(
        ("Timetable", "Course list", "Schedule", "Programme", ""),
        _column(
            "Course|Class|Session|Event",
            _of(
                "Pottery",
                "Spanish II",
                "First aid",
                "Yoga",
                "Chess club",
                "Welding basics",
                "Choir",
                "Statistics",
                "Robotics",
                "Film evening",
                "Book club",
                "Swimming",
            ),
            "",
        ),
        (
            _column("Day|Weekday", _of(*WEEKDAYS), "On which day is {}?|What day does {} take place?|When is {}?"),
            _column("Time|Starts|Begin", _hour, "At what time does {} start?|What time is {}?|When does {} begin?"),
            _column("Teacher|Instructor|Led by", _name, "Who teaches {}?|Who leads {}?|Who is the instructor of {}?"),
            _column(
                "Room|Place|Venue",
                lambda r: f"{r.choice(('Hall', 'Room', 'Studio'))} {r.randint(1, 40)}",
                "Where does {} take place?|In which room is {}?",
            ),
            _column("Fee|Price", _money, "How much is {}?|What does {} cost?|What is the fee for {}?"),
            _column(
                "Places|Seats|Max. participants",
                _int(5, 60),
                "How many people can join {}?|How many places does {} have?",
            ),
        ),
    ),
    Schema(
        ("Cities", "Branches", "Stations", "Sites", ""),
        _column("City|Branch|Site|Station", _of(*_PLACES), ""),
        (
            _column(
                "Population|Inhabitants",
                _int(4000, 900_000),
                "How many people live in {}?|What is the population of {}?",
            ),
            _column(
                "Opened|Founded|Since",
                lambda r: str(r.randint(1850, 2024)),
                "When was {} opened?|In what year was {} founded?",
            ),
            _column("Manager|Head|Director", _name, "Who runs {}?|Who is the manager in {}?|Who is in charge of {}?"),
            _column("Staff|Employees", _int(3, 900), "How many employees does {} have?|How many people work in {}?"),
            _column(
                "Opening hours|Hours|Open",
                lambda r: f"{_hour(r)} to {_hour(r)}",
                "When is {} open?|What are the opening hours in {}?",
            ),
            _column(
                "Rainfall|Rain (mm)", _int(200, 2400, " mm"), "How much rain falls in {}?|What is the rainfall in {}?"
            ),
        ),
    ),
    Schema(
        ("Specifications", "Models", "Devices", "Technical data", ""),
        _column(
            "Model|Type|Device",
            lambda r: f"{r.choice(('Aero', 'Vento', 'Kira', 'Nova', 'Titan'))} {r.randint(1, 90)}0",
            "",
        ),
        (
            _column(
                "Power|Rating|Watts",
                _int(20, 3000, " W"),
                "How much power does the {} need?|What is the power of the {}?",
            ),
            _column(
                "Voltage|Supply",
                _of("12 V", "24 V", "110 V", "230 V", "400 V"),
                "What voltage does the {} run on?|Which supply does {} need?",
            ),
            _column("Noise|Sound level", _int(20, 90, " dB"), "How loud is the {}?|What is the noise level of the {}?"),
            _column("Range|Reach", _int(2, 800, " km"), "How far does the {} go?|What is the range of the {}?"),
            _column(
                "Capacity|Volume|Tank", _int(1, 900, " l"), "How much does the {} hold?|What is the capacity of the {}?"
            ),
            _column(
                "Year|Released|Launch",
                lambda r: str(r.randint(1990, 2026)),
                "When was the {} released?|When did the {} come out?",
            ),
        ),
    ),
    Schema(
        ("Results", "Standings", "League table", "Medal table", ""),
        _column(
            "Team|Club|Country|Player",
            lambda r: r.choice((f"{r.choice(_PLACES)} {r.choice(('United', 'Rovers', 'FC'))}", _name(r))),
            "",
        ),
        (
            _column("Points|Pts", _int(1, 99), "How many points does {} have?|What is the score of {}?"),
            _column("Wins|Won|W", _int(0, 30), "How many games did {} win?|How often has {} won?"),
            _column("Losses|Lost|L", _int(0, 30), "How many games did {} lose?|How many defeats has {}?"),
            _column("Goals|Scored", _int(0, 120), "How many goals did {} score?"),
            _column("Coach|Manager", _name, "Who coaches {}?|Who is the coach of {}?"),
            _column(
                "Ground|Stadium|Home",
                lambda r: f"{r.choice(_LAST)} {r.choice(('Park', 'Arena', 'Road'))}",
                "Where does {} play?|What is the home ground of {}?",
            ),
        ),
    ),
    Schema(
        ("Books", "Library", "Collection", "Films", ""),
        _column(
            "Title|Work|Book",
            lambda r: (
                f"The {r.choice(('Silent', 'Last', 'Green', 'Lost', 'Iron'))} {r.choice(('River', 'House', 'Winter', 'Garden', 'Letter'))}"
            ),
            "",
        ),
        (
            _column("Author|Writer|By", _name, "Who wrote {}?|Who is the author of {}?"),
            _column(
                "Year|Published|Released",
                lambda r: str(r.randint(1900, 2026)),
                "When was {} published?|What year did {} come out?",
            ),
            _column("Pages|Length", _int(60, 1200), "How many pages does {} have?|How long is {}?"),
            _column(
                "Publisher|Press", lambda r: f"{r.choice(_LAST)} Press", "Who published {}?|Which house published {}?"
            ),
            _column("Language", _of("English", "German", "Korean", "Spanish", "Finnish"), "In which language is {}?"),
            _column("Shelf|Location", _code, "Where is {} shelved?|On which shelf is {}?"),
        ),
    ),
    Schema(
        ("Medicines", "Dosage", "Formulary", ""),
        _column(
            "Drug|Medicine|Active substance",
            lambda r: (
                f"{r.choice(('Lora', 'Meti', 'Cefa', 'Pano', 'Vera', 'Tolu'))}{r.choice(('tadine', 'zole', 'pril', 'mycin', 'statin'))}"
            ),
            "",
        ),
        (
            _column(
                "Dose|Daily dose|Dosage",
                _int(1, 900, " mg"),
                "What is the dose of {}?|How much {} should be taken a day?",
            ),
            _column(
                "Indication|Used for",
                _of("asthma", "migraine", "high blood pressure", "infection", "allergy"),
                "What is {} used for?|What does {} treat?",
            ),
            _column(
                "Side effect|Common side effects",
                _of("nausea", "dry mouth", "dizziness", "rash", "headache"),
                "What are the side effects of {}?|What may {} cause?",
            ),
            _column(
                "Contraindication|Not with",
                _of("pregnancy", "liver disease", "alcohol", "age under 12"),
                "When must {} not be taken?|Who should not take {}?",
            ),
        ),
    ),
)


def table_example(rng: Random) -> Example:
    """A few rows of one table with a question about a cell; for two in five its row or its column is not there."""
    schema = rng.choice(SCHEMAS)
    count = rng.choice((1, 1, 2, 3, 5, 8))
    columns = rng.sample(list(schema.columns), min(len(schema.columns), rng.randint(2, 5)))
    asked_column = rng.choice(columns)
    labels: list[str] = []
    while len(labels) < count + 1:
        label = schema.label.cell(rng)
        if label not in labels:
            labels.append(label)
    absent = labels.pop()
    heads = [rng.choice(column.headings) for column in columns]
    head = rng.choice(schema.label.headings)
    rows = [[column.cell(rng) for column in columns] for _ in labels]
    row, place = rng.randrange(count), columns.index(asked_column)
    answerable = rng.random() < 0.6
    label = labels[row]
    if not answerable:
        other = [c for c in schema.columns if c not in columns]
        if other and rng.random() < 0.45:
            asked_column = rng.choice(other)
        else:
            label = absent
    if answerable and rng.random() < 0.12:
        question = rng.choice(
            (
                f"Which {head or 'one'} has {heads[place]} {rows[row][place]}?",
                f"{head or 'What'} with {heads[place]} {rows[row][place]}",
            )
        )
        if sum(r[place] == rows[row][place] for r in rows) > 1:
            question = rng.choice(asked_column.asked).format(label)
            asks_label = False
        else:
            asks_label = True
    else:
        question, asks_label = rng.choice(asked_column.asked).format(label), False
    style = rng.choice(("cells", "cells", "bars", "lines", "sentence"))
    text, spans, evidence = "", (), ()
    if style == "bars":
        text = " | ".join(["", head or "Item", *heads]).strip() + "\n"
    for number, (name, cells) in enumerate(zip(labels, rows, strict=True)):
        start = len(text)
        parts = [name if style == "bars" or not head or schema.titles[0].startswith("Consol") else f"{head}: {name}"]
        shown = cells if style == "bars" else [f"{h}: {c}" for h, c in zip(heads, cells, strict=True)]
        joint = {"cells": " | ", "bars": " | ", "lines": "\n", "sentence": "; "}[style]
        line = joint.join([*parts, *shown])
        text += line + ("\n\n" if style == "lines" else "\n")
        if answerable and number == row:
            evidence = ((start, start + len(line)),)
            if asks_label:
                at = start + line.index(name)
                spans = ((at, at + len(name)),)
            else:
                before = len(joint.join([*parts, *shown[:place]])) + len(joint)
                at = start + before + (0 if style == "bars" else len(heads[place]) + 2)
                spans = ((at, at + len(cells[place])),)
    heading = rng.choice(schema.titles)
    return Example(question, text.rstrip("\n"), answerable, spans, evidence, heading, "table")
