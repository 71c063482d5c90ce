"""Files of an office: workbooks, delimited rows, Word, presentations, mail, plain text."""

import datetime as dt

from openpyxl.styles import Font, PatternFill

from lab.benchmarks.files.case import Case, text_file
from lab.benchmarks.files.office_kit import data_file, formats, merged, workbook

_REGIONS = (
    ("Region", "Shop", "Sales"), ("North", "Alder", 120), (None, "Birch", 75), (None, "Cedar", 60),
    ("South", "Dune", 210), (None, "Elm", 40),
)  # fmt: skip
_YEARS = (
    ("Museum", 2022, None, 2023, None), (None, "Adults", "Children", "Adults", "Children"),
    ("Clock Museum", 310, 120, 345, 150), ("Glass Museum", 205, 64, 198, 71),
)  # fmt: skip
_BOATS = (("Boat", "Price", "Length"), ("Heron", 18500, 7.4), ("Tern", 9200, 5.1), ("Gull", 3300, 4.2))


def _struck(*cells: str) -> object:
    return lambda sheet: [setattr(sheet[cell], "font", Font(strike=True)) for cell in cells]


_WORKBOOKS = (
    Case(
        "merged cells in a workbook: downwards, a sum",
        workbook("shops.xlsx", _REGIONS, merged("A2:A4", "A5:A6")),
        "What are the total sales in the North region?",
        r"\b255\b",
    ),
    Case(
        "merged cells in a workbook: downwards, a row",
        workbook("shops.xlsx", _REGIONS, merged("A2:A4", "A5:A6")),
        "In which region is the shop Elm?",
        r"South",
        r"North",
    ),
    Case(
        "merged cells in a workbook: across, words",
        workbook(
            "rota.xlsx",
            (("Desk", "Monday", "Tuesday", "Friday"), ("Till", "Ines", None, "Paul"), ("Tours", "Omar", "Rosa", "Al")),
            merged("B2:C2"),
        ),
        "Who is at the desk Till on Tuesday?",
        r"Ines",
        r"Rosa|Omar",
    ),
    Case(
        "merged cells in a workbook: one figure over several rows",
        workbook(
            "grants.xlsx",
            (("Project", "Step", "Euros"), ("Well", "Survey", 900), ("Well", "Digging", None), ("Path", "Gravel", 400)),
            merged("C2:C3"),
        ),
        "How many euros are there in total?",
        r"1,?300",
        doubt=True,
    ),
    Case(
        "two heading rows: merged across",
        workbook("visitors.xlsx", _YEARS, merged("B1:C1", "D1:E1", "A1:A2"), title="Visitors"),
        "How many adults visited the Glass Museum in 2023?",
        r"\b198\b",
        r"2023 Adults: (?!198)",
    ),
    Case(
        "two heading rows: a sum of both groups",
        workbook("visitors.xlsx", _YEARS, merged("B1:C1", "D1:E1", "A1:A2"), title="Visitors"),
        "How many children visited the Clock Museum in 2022?",
        r"\b120\b",
        r"2022 Children: (?!120)",
    ),
    Case(
        "two heading rows: not merged",
        workbook("visitors.xlsx", _YEARS, title="Visitors"),
        "How many children visited the Glass Museum in 2023?",
        r"\b71\b",
        r"2023 Children: (?!71)",
    ),
    Case(
        "two heading rows: CSV",
        text_file(
            "rain.csv",
            "Place,May,,June,\n,Days,Litres,Days,Litres\nHill,11,62,9,48\nBay,8,40,14,77\n",
        ),
        "How many litres of rain fell at Hill in June?",
        r"\b48\b",
        r"\b62\b|\b77\b",
    ),
    Case(
        "formulas without a kept value: a total",
        workbook("budget.xlsx", (("Item", "Amount"), ("Paint", 120), ("Brushes", 35), ("Total", "=SUM(B2:B3)"))),
        "What amount does the row Total give?",
        r"\b155\b",
        doubt=True,
    ),
    Case(
        "formulas without a kept value: a row beside it",
        workbook("budget.xlsx", (("Item", "Amount"), ("Paint", 120), ("Brushes", 35), ("Total", "=SUM(B2:B3)"))),
        "What is the amount for Brushes?",
        r"\b35\b",
    ),
    Case(
        "formulas without a kept value: nothing else",
        workbook("sums.xlsx", (("=1+1",), ("=2+2",))),
        "What is in the second row?",
        r"4",
        doubt=True,
    ),
    Case(
        "formulas without a kept value: a column",
        workbook(
            "stock.xlsx",
            (("Tool", "Pieces", "Price", "Worth"), ("Saw", 4, 19, "=B2*C2"), ("Axe", 2, 31, "=B3*C3")),
        ),
        "What is the worth of the saws?",
        r"\b76\b",
        doubt=True,
    ),
    Case(
        "a workbook with a bad colour: in a fill",
        workbook(
            "bees.xlsx",
            (("Hive", "Honey in kg"), ("Alder", 23), ("Birch", 31)),
            lambda sheet: setattr(sheet["A1"], "fill", PatternFill("solid", fgColor="FFABCDEF")),
            replaced={b'rgb="FFABCDEF"': b'rgb="#ABCDEF"'},
        ),
        "How much honey in kg did the hive Birch give?",
        r"\b31\b",
        r"\b23\b",
    ),
    Case(
        "a workbook with a bad colour: in a font",
        workbook(
            "mills.xlsx",
            (("Mill", "Flour in sacks"), ("Upper", 44), ("Lower", 52)),
            lambda sheet: setattr(sheet["A2"], "font", Font(color="FF123456")),
            replaced={b'rgb="FF123456"': b'rgb="none"'},
        ),
        "How many sacks of flour did the Lower mill make?",
        r"\b52\b",
        r"\b44\b",
    ),
    Case(
        "a workbook with a bad colour: in the tab",
        workbook(
            "wells.xlsx",
            (("Well", "Depth in m"), ("East", 18), ("West", 25)),
            lambda sheet: setattr(sheet.sheet_properties, "tabColor", "FF00AA11"),
            replaced={b'rgb="FF00AA11"': b'rgb="rgb(0,170,17)"'},
        ),
        "How deep is the West well in m?",
        r"\b25\b",
        r"\b18\b",
    ),
    Case(
        "currency and unit in a format: one price",
        workbook("boats.xlsx", _BOATS, formats(B2='#,##0.00 "€"', B3="[$£-809]#,##0", B4='#,##0.00 "€"')),
        "What is the price of the Tern?",
        r"£ ?9,?200|9,?200(?:\.00)? (?:GBP|pounds|£)",
        r"€",
    ),
    Case(
        "currency and unit in a format: mixed currencies are not added",
        workbook("boats.xlsx", _BOATS, formats(B2='#,##0.00 "€"', B3="[$£-809]#,##0", B4='#,##0.00 "€"')),
        "What is the total price of all boats?",
        r"31,?000",
        doubt=True,
    ),
    Case(
        "currency and unit in a format: a unit",
        workbook("boats.xlsx", _BOATS, formats(C2='0.0" m"', C3='0.0" m"', C4='0.0" m"')),
        "How long is the Heron?",
        r"7\.4 ?m",
    ),
    Case(
        "currency and unit in a format: a duration",
        workbook(
            "trips.xlsx",
            (("Trip", "Hours"), ("Delta", dt.timedelta(hours=26, minutes=15)), ("Reef", dt.timedelta(hours=3))),
            formats(B2="[h]:mm", B3="[h]:mm"),
        ),
        "How many hours does the Delta trip take?",
        r"26:15|26\.25|26 hours",
        r"day",
    ),
    Case(
        "currency and unit in a format: leading zeros",
        workbook("codes.xlsx", (("Town", "Postcode"), ("Ahl", 1234), ("Bern", 30117)), formats(B2="00000", B3="00000")),
        "What is the postcode of Ahl?",
        r"\b01234\b",
    ),
    Case(
        "currency and unit in a format: thousands",
        workbook("turnover.xlsx", (("Branch", "Turnover"), ("Pier", 1_500_000), ("Mole", 820_000)),
                 formats(B2='0.0,," million €"', B3='0.00,," million €"')),
        "What is the turnover of the Pier branch?",
        r"1\.5 million|1,?500,?000",
    ),
    Case(
        "struck-through words: a cell",
        workbook("prices.xlsx", (("Ticket", "Old price", "New price"), ("Day", 14, 19), ("Week", 45, 52)),
                 _struck("B2", "B3")),
        "What is the price of the Day ticket?",
        r"\b19\b",
        r"\b14\b",
    ),
    Case(
        "Strict Open XML: a workbook",
        workbook("strict.xlsx", (("Lake", "Fish"), ("Grey", 14), ("Long", 29)), strict=True),
        "How many fish are in the lake Long?",
        r"\b29\b",
        r"\b14\b",
    ),
)  # fmt: skip

_DELIMITED = (
    Case(
        "CSV variants: a line sep=;",
        text_file("sep.csv", "sep=;\nTown;Wells;Pumps\nArden;12;3\nBrill;7;2\n"),
        "How many pumps does Arden have?",
        r"\b3\b",
        r"\b12\b",
    ),
    Case(
        "CSV variants: lines above the table",
        text_file(
            "export.csv",
            "Report: water levels\nMade on: 2024-05-02\n\nLake,Level in cm,Inflow\nGrey Lake,312,14\nLong Lake,287,9\n",
        ),
        "What is the level of Long Lake in cm?",
        r"\b287\b",
        r"\b312\b",
    ),
    Case(
        "CSV variants: two columns of one name",
        text_file("twice.csv", "Shop,Sales,Returns,Sales\nEast,120,4,133\nWest,98,7,101\n"),
        "What are the sales of the shop West?",
        r"98 / 101",
    ),
    Case(
        "CSV variants: columns called 1, 2, 3",
        text_file("months.csv", "Station,1,2,3\nHillside,44,51,60\nValley,31,29,35\n"),
        "What does the station Valley have under 2?",
        r"\b29\b",
    ),
    Case(
        "CSV variants: tabs and lines above",
        text_file("lab.txt.csv", "Laboratory export\n\nProbe\tpH\tSalt\nA7\t6.9\t0.4\nB2\t7.3\t0.6\n"),
        "What is the pH of probe B2?",
        r"7\.3",
        r"6\.9",
    ),
    Case(
        "CSV variants: pandas split JSON",
        text_file("frame.json", '{"columns":["Mine","Ore"],"index":[0,1],"data":[["Upper",41],["Lower",67]]}'),
        "How much ore does the Lower mine have?",
        r"\b67\b",
        r"\b41\b",
    ),
    Case(
        "CSV variants: pandas columns JSON",
        text_file("frame.json", '{"Mine":{"0":"Upper","1":"Lower"},"Ore":{"0":41,"1":67}}'),
        "How much ore does the Upper mine have?",
        r"\b41\b",
        r"\b67\b",
    ),
    Case(
        "German thousands: beside smaller figures",
        text_file("umsatz.csv", "Filiale;Umsatz\nNord;1.250\nSüd;980\nWest;2.400\n"),
        "What is the total Umsatz?",
        r"4[.,]?630",
    ),
    Case(
        "German thousands: with decimals",
        data_file("kosten.csv", "Filiale;Kosten\nNord;1.250,50\nSüd;980,25\nWest;2.400,00\n".encode("cp1252")),
        "What is the total Kosten?",
        r"4[.,]?630[.,]75",
    ),
    Case(
        "German thousands: UTF-16 with tabs",
        data_file("orte.csv", "Ort\tEinwohner\tha\nKöln\t1.073.096\t405,0\nUlm\t128.928\t118,7\n".encode("utf-16")),
        "How many Einwohner does Köln have?",
        r"1[.,]?073[.,]?096",
    ),
    Case(
        "German thousands: nothing says so",
        text_file("last.csv", "Wagen;Last\nRot;1.250\nBlau;2.400\n"),
        "What is the total Last?",
        r"3[.,]?650",
        doubt=True,
    ),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_WORKBOOKS, *_DELIMITED)
