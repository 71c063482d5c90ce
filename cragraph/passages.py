"""Passages from a caller's chunks: strings, mappings, LangChain documents, LlamaIndex nodes and the like."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from cragraph.errors import InputError, encodable
from cragraph.language.orders import order_warning, without_orders
from cragraph.types import Passage

_OWN: Final = frozenset(Passage.__annotations__)

LONGEST_QUESTION: Final = 20_000
"""Characters of a question at most: reading this many takes a second."""


def as_question(text: str) -> str:
    """A question without surrounding blanks. Raises InputError if it is too long."""
    if len(text) > LONGEST_QUESTION:
        raise InputError(
            f"The question has {len(text):,} characters; wanted at most {LONGEST_QUESTION:,}: ask in a sentence, "
            "and give long texts as `passages`."
        )
    return encodable(text.strip())


def as_message(message: Any) -> tuple[str, str]:
    """The role and text of a message: a mapping, a pair, a text (of the person), or a LangChain message.

    The role is `person`, `assistant`, or empty for any other, such as a system message.
    """
    role: Any
    text: Any
    if isinstance(message, str):
        role, text = "user", message
    elif isinstance(message, Mapping):
        role, text = message.get("role") or message.get("type"), message.get("content")
    elif isinstance(message, tuple | list) and len(message) == 2:
        role, text = message
    else:
        role, text = getattr(message, "type", ""), getattr(message, "content", "")
        text = getattr(message, "additional_kwargs", {}).get("answer") or text  # our own message, without its sources
    if isinstance(text, list):
        text = " ".join(str(part.get("text", "")) if isinstance(part, Mapping) else str(part) for part in text)
    speakers = {"user": "person", "human": "person", "assistant": "assistant", "ai": "assistant"}
    return speakers.get(str(role).lower(), ""), encodable(str(text or "").strip())


def content_id(*parts: str) -> str:
    """A 16-digit hexadecimal id of some text: the same text always has the same id."""
    return sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def as_passages(values: Iterable[Any]) -> list[Passage]:
    """Read a caller's chunks as passages, in order; blank ones are kept so that positions match."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InputError(
            f"passages came as one {type(values).__name__}; wanted a list of strings or of objects with `text`: "
            "put it in a list."
        )
    return [as_passage(value, index) for index, value in enumerate(values)]


def as_passage(value: Any, index: int = 0) -> Passage:
    """Read one chunk as a passage; missing fields come from its text and position."""
    text, metadata = _text_and_metadata(value, index)
    known = {key: metadata[key] for key in _OWN & metadata.keys()}
    extra = {key: item for key, item in metadata.items() if key not in _OWN}
    source = str(known.get("source") or known.get("filename") or "")
    doc_id = str(known.get("doc_id") or content_id(source or text))
    return Passage(
        text=text,
        chunk_id=str(known.get("chunk_id") or content_id(doc_id, text)),
        doc_id=doc_id,
        chunk_index=_whole(known, "chunk_index", index) if "chunk_index" in known else index,
        start_index=_whole(known, "start_index", index),
        source=source,
        filename=str(known.get("filename") or source.rsplit("/", 1)[-1]),
        page=known.get("page"),
        metadata=extra,
        retrieval_score=_score(known, "retrieval_score", index),
        rerank_score=_score(known, "rerank_score", index),
    )


def as_evidence(passages: Sequence[Passage], tell: Callable[[str], None]) -> list[Passage]:
    """The passages with orders to an assistant blanked; `tell` gets a note, and the rest of such a passage is
    doubted."""
    read: list[Passage] = []
    for passage in passages:
        if told := order_warning(passage["text"]):
            tell(f"{passage['filename'] or 'A passage'}: {told}.")
            doubts = [*passage["metadata"].get("doubts", ()), f"{told}."]
            passage = passage.copy()
            passage["text"] = without_orders(passage["text"])
            passage["metadata"] = passage["metadata"] | {"doubts": list(dict.fromkeys(doubts))}
        read.append(passage)
    return read


def doubts_of(passage: Passage, start: int, end: int) -> list[str]:
    """Reasons, in sentences, why the reading of a place of a passage may be wrong; empty without doubts."""
    doubts, places = passage["metadata"].get("doubts"), passage["metadata"].get("doubted") or []
    whole = {*range(len(doubts or ()))} - {number for number, _, _ in places}
    meant = whole | {number for number, first, last in places if first < end and last > start}
    return [str(doubts[number]) for number in sorted(meant)] if isinstance(doubts, list) else []


def about(passage: Passage) -> dict[str, Any]:
    """A passage and its metadata as one mapping; the passage's own fields go before the document's."""
    return {**passage["metadata"], **passage}


def place_of(about: Mapping[str, Any]) -> str:
    """A place in words: `Annual report (report.pdf), page 3 › Revenue`; empty if unknown.

    `about` is the mapping of a passage and its metadata, or the metadata of a citation.
    """
    file, title = str(about.get("filename") or about.get("source") or ""), str(about.get("title") or "")
    stem = file.rsplit("/", 1)[-1].rsplit(".", 1)[0].replace("_", " ")
    place = f"{title} ({file})" if file and title not in ("", file, stem) else file
    place += f", page {about['page']}" if place and about.get("page") else ""
    headings = [part for part in str(about.get("heading") or "").split(" > ") if part and part != title]
    return " › ".join([place, *headings]) if place else ""


def sides_of(conflict: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The two sides of a conflict for display: label, place and sentence of each."""
    names = ("the newer", "the older") if conflict["newer_first"] else ("one", "the other")
    return [
        (name, place_of(side) or side["chunk_id"], side["quote"])
        for name, side in zip(names, conflict["sides"], strict=True)
    ]


def heading_at(passage: Passage, offset: int) -> str:
    """The path of the heading above a place in a passage's text; empty without one."""
    about = passage["metadata"]
    inside = about.get("headings")
    pairs = [each for each in inside if _is_heading(each)] if isinstance(inside, list) else []
    within = (path for start, path in reversed(pairs) if start <= offset)
    return next(within, str(about.get("heading") or ""))


def _is_heading(value: Any) -> bool:
    """Whether a value is an offset and a path, as a caller's metadata may have another field of that name."""
    match value:
        case [int(), str()]:
            return True
    return False


def _text_and_metadata(value: Any, index: int) -> tuple[str, dict[str, Any]]:
    if isinstance(value, str):
        return encodable(value), {}
    if isinstance(value, Mapping):
        text = value.get("text", value.get("page_content"))
        outer = {key: item for key, item in value.items() if key not in ("text", "page_content", "metadata")}
        # Fields of the passage win over the metadata unless they are None, such as the page of a stored passage.
        metadata = _mapping(value.get("metadata"), index)
        metadata |= {key: item for key, item in outer.items() if item is not None or key not in metadata}
    else:
        node = getattr(value, "node", value)
        text = getattr(node, "page_content", getattr(node, "text", None))
        if text is None and callable(getattr(node, "get_content", None)):
            text = node.get_content()
        metadata = _mapping(getattr(node, "metadata", None), index)
        if isinstance(score := getattr(value, "score", None), float):
            metadata.setdefault("retrieval_score", score)
    if not isinstance(text, str):
        raise InputError(
            f"passage {index} is a {type(value).__name__} without `text`; wanted a string or an object with `text` "
            "and, if you like, metadata."
        )
    return encodable(text), _encodable(metadata)


def _mapping(metadata: Any, index: int) -> dict[str, Any]:
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InputError(
            f"the metadata of passage {index} is a {type(metadata).__name__}; wanted an object of names and values, "
            'such as {"year": 2023}.'
        )
    return dict(metadata or {})


def _whole(known: Mapping[str, Any], name: str, index: int) -> int:
    try:
        return int(known[name] or 0) if name in known else 0
    except (TypeError, ValueError, OverflowError):
        came = f"{known[name]!r:.80}"
        raise InputError(f"{name} of passage {index} came as {came}; wanted a whole number.") from None


def _score(known: Mapping[str, Any], name: str, index: int) -> float | None:
    """A score clamped to 0..1: stores give cosines below 0, and search engines sums above 1."""
    if (came := known.get(name)) is None:
        return None
    try:
        score = float(came)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if math.isnan(score):
        raise InputError(f"{name} of passage {index} came as {came!r:.80}; wanted a number of 0..1, or none.")
    return min(max(score, 0.0), 1.0)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list) else value


def contextual_text(passage: Passage) -> str:
    """Title, heading path and table heading of a passage on lines above its text, without repetitions.

    A chunk from the middle of a section often names neither its company nor its year; its headings do.
    """
    metadata, text = passage["metadata"], passage["text"]
    path = [str(metadata.get("title") or ""), *str(metadata.get("heading") or "").split(" > ")]
    opening = text[:400].casefold()
    kept: list[str] = []
    for part in path:
        folded = part.casefold()
        if part and folded not in opening and folded not in (other.casefold() for other in kept):
            kept.append(part)
    lines = [" > ".join(kept), str(metadata.get("table_header") or ""), text]
    return "\n".join(line for line in lines if line)
