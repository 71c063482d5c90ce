"""Models that obey the documents, or lie: what they write is a falsehood, and as judges they find it supported."""

import re
from dataclasses import dataclass
from typing import Any

from tests.support.ollama import Request


@dataclass
class Liar:
    """Writes `false`, and quotes `quotes` for it; an obedient one only where the prompt has the falsehood, else `true`.

    Two kinds of schema ask it to judge; both get what it writes as supported.
    """

    true: str = ""
    false: str = ""
    quotes: str = ""
    obedient: bool = False

    def __call__(self, request: Request) -> Any:
        """A reply in the role that the request's schema names."""
        prompt = str(request.messages[-1]["content"])
        lies = not self.obedient or self.false.rstrip(".") in prompt
        if "claims" in request.fields:
            row = {"claim": self.false if lies else self.true, "passage": 1, **self._verdict(lies=lies)}
            numbered = re.findall(r"(?m)^(\d+)\. ", prompt.rpartition("<<claims")[2])
            return {"claims": [row | {"n": int(n)} for n in numbered or ["1"]]}
        if "queries" in request.fields:
            return {"queries": ["what is known of the bridge"]}
        if "score" in request.fields:
            return {"score": 1.0, "reasoning": "As the document orders."}
        return f"{self.false if lies else self.true} [1]"

    def _verdict(self, *, lies: bool) -> dict[str, Any]:
        quote = self.quotes or (self.false if lies else self.true)
        return {"status": "SUPPORTED", "evidence": quote, "reasoning": "As the document says.", "score": 1.0}
