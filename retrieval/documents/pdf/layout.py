"""Pages of lines as headings, paragraphs, items and tables in reading order."""

from collections.abc import Sequence

from cragraph.retrieval.documents.pdf.columns import in_reading_order
from cragraph.retrieval.documents.pdf.hyphens import Vocabulary
from cragraph.retrieval.documents.pdf.lines import Line, weighted_median
from cragraph.retrieval.documents.pdf.paragraphs import Piece, pieces_of
from cragraph.retrieval.documents.pdf.tables import tables_in
from cragraph.retrieval.documents.tables import Table
from cragraph.retrieval.documents.writer import Writer


class PageWriter:
    """Writes pages, keeping in mind how the last one ended: a paragraph may go on over the page break."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._open = False

    def write(self, pages: Sequence[Sequence[Line]], across: Sequence[Sequence[str]]) -> None:
        """Write pages; `across` holds the words that stand across the direction of each."""
        words = Vocabulary(line.text for lines in pages for line in lines)
        body = weighted_median((line.height, len(line.text)) for lines in pages for line in lines)
        for lines, aside in zip(pages, across, strict=True):
            self._writer.page()
            first = True
            for piece in page_pieces(lines, body, words):
                self._piece(piece, first)
                first = False
            if aside:
                self._writer.paragraph(" ".join(aside))

    def _piece(self, piece: Piece | Table, first: bool) -> None:
        was_open, self._open = self._open, False
        if isinstance(piece, Table):
            self._writer.table(piece, labelled=True)
        elif piece.kind == "heading":
            self._writer.heading(piece.text, piece.level)
        elif piece.kind == "item":
            self._writer.item(piece.text, "")
        elif piece.kind == "row":
            self._writer.line(piece.text)
        else:
            self._writer.paragraph(piece.text, joined=first and was_open and piece.text[0].islower())
            self._open = piece.text[-1] not in ".!?:"


def page_pieces(lines: Sequence[Line], body: float, words: Vocabulary) -> list[Piece | Table]:
    """The pieces of one page in reading order."""
    pieces: list[Piece | Table] = []
    for run in in_reading_order(lines):
        edges = (min(line.x0 for line in run), max(line.x1 for line in run))
        done = 0
        for span in tables_in(run):
            pieces.extend(pieces_of(run[done : span.start], edges, body, words))
            pieces.append(span.table)
            done = span.end
        pieces.extend(pieces_of(run[done:], edges, body, words))
    return pieces
