"""A separate process for untrusted work: bounded in time and memory, connected by pipes."""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, BinaryIO, Final

COMMAND: Final = (sys.executable, "-P", "-c")


def bound_memory(megabytes: int) -> None:
    """Limit the memory of this process, if the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def alarm(seconds: float) -> float:
    """End this process after `seconds`, even in native code; 0 cancels it. Returns the seconds left before."""
    return signal.setitimer(signal.ITIMER_REAL, seconds)[0] if hasattr(signal, "setitimer") else seconds


def send(out: BinaryIO, message: Any) -> None:
    """Write a message; `pickle.load` reads it at the other end."""
    pickle.dump(message, out, protocol=pickle.HIGHEST_PROTOCOL)
    out.flush()


def own_output() -> BinaryIO:
    """The pipe for this process's answers, separated from anything that a library prints."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    return out


class EndedError(Exception):
    """The process ended before it answered: it exceeded time or memory, or crashed."""


class Worker:
    """Runs a function of one argument in a separate process, one call at a time; any number of threads may call.

    The process starts with the first call, and again after a call that ended it; it ends with the calling process.
    `seconds` and `memory_mb` bound each call.
    """

    def __init__(self, module: str, function: str, *, seconds: float, memory_mb: int) -> None:
        self.seconds = seconds
        self._script = (
            f"from cragraph.process import work; from {module} import {function}; "
            f"work({function}, {seconds!r}, {memory_mb!r})"
        )
        self._fresh()
        if hasattr(os, "register_at_fork"):  # a forked child must not use its parent's pipes or locks
            os.register_at_fork(after_in_child=self._fresh)

    def _fresh(self) -> None:
        self._lock, self._process = Lock(), None

    _process: "subprocess.Popen[bytes] | None"

    def __call__(self, given: Any) -> Any:
        """The function's result, or its error. Raises EndedError if the process ended."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = _started(self._script)
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            try:
                pickle.dump(given, self._process.stdin)
                self._process.stdin.flush()
                answer = pickle.load(self._process.stdout)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                raise EndedError(f"it ended with {self._end()}") from error
            except BaseException:  # interrupted: a late answer must not reach the next call
                self._end()
                raise
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process; the next call starts another."""
        with self._lock:
            self._end()

    def _end(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        with suppress(OSError):
            process.communicate()
        return process.returncode


def _started(script: str) -> "subprocess.Popen[bytes]":
    import atexit

    process = subprocess.Popen(
        [*COMMAND, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    atexit.register(_reap, process, os.getpid())
    return process


def _reap(process: "subprocess.Popen[bytes]", owner: int) -> None:
    if os.getpid() == owner and process.poll() is None:
        process.kill()
        with suppress(OSError):
            process.communicate()


def work(function: Callable[[Any], Any], seconds: float, memory_mb: int) -> None:
    """The loop of the separate process: read an argument, write the function's result, until the pipe closes."""
    out = own_output()
    bound_memory(memory_mb)
    while True:
        try:
            given = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        alarm(seconds)
        try:
            answer = function(given)
        except Exception as error:
            answer = error
        alarm(0)
        send(out, answer)
