"""What of a passage is embedded and indexed: its text under the headings it stands under."""

from cragraph.types import Passage


def contextual_text(passage: Passage) -> str:
    """Title, heading path and table heading of a passage on lines above its text, none of them twice.

    A chunk out of the middle of a section often names neither the company nor the year it is about; its headings do.
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
