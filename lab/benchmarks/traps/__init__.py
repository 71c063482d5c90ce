"""Questions that set traps, and talks, on the files of small organisations: written without sight of the product.

`NAME/questions.jsonl` asks about `NAME/files`. `answer` lists texts: of each inner list one must stand in the reply;
null where the files do not answer, although their words come near. `wrong` are texts of a reply that fell into the
trap: the other year, the other person, the old price, the plan in place of what was done. `where` names the files that
hold the answer, `sum` the calculation (left to right) where the answer must be computed, and `absent` texts that an
answer would need and no file has. `talks.jsonl` has talks of four turns on these folders: a turn's `good` says what a
good reply is, and `answer` is null where a turn asks nothing of the files or they do not answer. Only the weights of a
quotation's signs are fitted on them (`lab.benchmarks.quoted`), with each folder left out of its own fit.
"""

from cragraph.exam import is_right, stands_in

__all__ = ["is_right", "stands_in"]
