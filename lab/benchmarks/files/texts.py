"""Texts of a desk: lists and notes in the encodings of old programs, mails, letters, pages that were saved."""

from collections.abc import Callable
from pathlib import Path

from lab.benchmarks.files.case import Case


def encoded(name: str, encoding: str, text: str) -> Callable[[Path], Path]:
    """A writer of a file of this text in an encoding."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


ENCODED = (
    Case(
        "signs of a currency tell the encoding: £ beside ë and î, CSV",
        encoded(
            "debts.csv",
            "cp1252",
            "Tenant,Notes,Owed £\nRenée Moss,pays £ in cash,240.50\nZoë Hart,“late” – fee £5,61.00\n",
        ),
        "What does Zoë Hart owe, in pounds?",
        r"61\.00 GBP|£61",
        "Ł",
    ),
    Case(
        "signs of a currency tell the encoding: ½ and a quotation mark, text",
        encoded(
            "kiln.txt",
            "cp1252",
            "Siân’s “slow” kiln burns 3½ sacks a day. One sack costs £14.\n\nIt stands in Flà yard.\n",
        ),
        "How much does one sack cost?",
        "£14",
        "Ł",
    ),
    Case(
        "signs of a currency tell the encoding: £ of DOS, CSV",
        encoded("tolls.csv", "cp850", "Bridge,Toll\nUpper,£3.20\nLower,£1.80\n"),
        "What is the toll of the Upper bridge?",
        r"£3\.20",
        "œ|ś",
    ),
    Case(
        "signs of a currency tell the encoding: zł, CSV",
        encoded("tickets.csv", "cp1250", "Ticket,Price\nAdult,12 zł\nChild,5 zł\n"),
        "What is the price of the Adult ticket?",
        "12 zł",
        "z³",
    ),
    Case(
        "signs of a currency tell the encoding: é of a Macintosh, CSV",
        encoded("rents.csv", "mac_roman", "Shop,Rent\nCafé Renée,£310\nBakery,£275\n"),
        "What is the rent of Café Renée?",
        "£310",
        "CafŽ",
    ),
)

CASES = ENCODED
