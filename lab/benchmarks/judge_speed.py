"""Time to judge an answer of five claims against five passages of 150 words, beside models of the size in use.

    python -m lab.benchmarks.judge_speed [--times 40] [--threads 2] [--torch]

With --torch it also runs, in the same process, a 150 M ModernBERT token classifier (claims and passages in one
input, as answer-level detectors read them) and a 110 M T5 encoder classifier (one claim with all passages an input),
with random weights: their time does not depend on what they learned. Needs the extra `training`.
"""

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

from cragraph.models.cache import CachedEmbeddings
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.grounding import GroundingModel
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim
from cragraph.verification.judges.embedded import EncoderJudge

SENTENCE = (
    "In the {n} quarter the company reported revenue of ${n}.2 million and opened {n} stores in the north of the "
    "country, while costs fell by {n} percent because fewer goods were returned by its customers. "
)
CLAIM = "In the {n} quarter revenue was ${n}.2 million and {n} stores were opened in the north."


def answer(number: int) -> tuple[list[Claim], list[str]]:
    """Five claims and five passages of about 150 words; each number gives other texts, so that nothing is cached."""
    passages = ["".join(SENTENCE.format(n=number * 100 + p * 10 + s) for s in range(5)) for p in range(5)]
    texts = [CLAIM.format(n=number * 100 + p * 10 + p) for p in range(5)]
    return [Claim(text=t, start=0, end=len(t), type="factual") for t in texts], passages


def timed(run: Callable[[int], object], times: int) -> str:
    """Median and 95th percentile of some runs, in milliseconds; the first, which loads, is left out."""
    run(0)
    took = []
    for number in range(1, times + 1):
        start = time.perf_counter()
        run(number)
        took.append(1000 * (time.perf_counter() - start))
    return f"p50 {np.percentile(took, 50):.0f} ms, p95 {np.percentile(took, 95):.0f} ms"


def torch_runs(threads: int) -> dict[str, Callable[[int], object]]:
    """The two models to stand beside, each reading the same texts."""
    import torch
    from tokenizers import Tokenizer
    from transformers import ModernBertConfig, ModernBertForTokenClassification, T5Config, T5EncoderModel

    from cragraph.models.weights import weights

    torch.set_num_threads(threads)
    tokenizer = Tokenizer.from_file(str(weights("encoder").path("encoder-tokenizer.json")))
    tokenizer.no_truncation()
    bert = ModernBertForTokenClassification(ModernBertConfig(num_labels=2)).eval()
    t5 = T5EncoderModel(T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12, d_kv=64)).eval()

    def at_once(number: int) -> object:
        claims, passages = answer(number)
        ids = tokenizer.encode(" ".join(passages), " ".join(c["text"] for c in claims)).ids
        with torch.inference_mode():
            return bert(input_ids=torch.tensor([ids])).logits

    def by_claim(number: int) -> object:
        claims, passages = answer(number)
        ids = [tokenizer.encode(" ".join(passages), c["text"]).ids for c in claims]
        longest = max(map(len, ids))
        with torch.inference_mode():
            batch = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
            return t5(input_ids=batch, attention_mask=(batch > 0).long()).last_hidden_state

    return {"ModernBERT 150 M, torch": at_once, "T5 encoder 110 M, torch": by_claim}


def main() -> None:
    """Time, and print the peak memory of the process before torch is loaded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--torch", action="store_true")
    options = parser.parse_args()
    judge = EncoderJudge(GroundingModel(threads=options.threads), embeddings=CachedEmbeddings(EmbeddedEncoder()))

    def run(number: int) -> object:
        claims, passages = answer(number)
        return judge(claims, as_passages(passages), Notes())

    print("encoder judge:", timed(run, options.times), flush=True)
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB", flush=True)
    if options.torch:
        for name, other in torch_runs(options.threads).items():
            print(f"{name}:", timed(other, max(3, options.times // 8)), flush=True)


if __name__ == "__main__":
    main()
