"""A process that reads and splits files while its parent embeds: file names in, pickled messages out.

Run by `parallel.ReaderProcess`, never by hand. A name comes as its length in bytes on a line, then its bytes.
"""

import os
import pickle
import sys
from collections.abc import Iterator
from typing import BinaryIO

from cragraph.retrieval.ingest.options import SplitOptions
from cragraph.retrieval.ingest.reading import READY, read


def main(chunk_size: str, chunk_overlap: str) -> None:
    """Read the files named on stdin and write their messages to stdout."""
    messages, sys.stdout = sys.stdout.buffer, sys.stderr  # what a library prints must not get among the messages
    pickle.dump(READY, messages)
    messages.flush()
    for message in read(_names(sys.stdin.buffer), SplitOptions(int(chunk_size), int(chunk_overlap))):
        pickle.dump(message, messages, protocol=pickle.HIGHEST_PROTOCOL)
        messages.flush()


def _names(stream: BinaryIO) -> Iterator[str]:
    while length := stream.readline():
        yield os.fsdecode(stream.read(int(length)))


if __name__ == "__main__":
    main(*sys.argv[1:3])
