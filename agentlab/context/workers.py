"""Who calculates the parts of a sweep: this process, a pool of processes, or the workers of a dask scheduler.

Each takes the parts in order and gives them back in order. Only a few are on their way at a time, so that a sweep of
any length needs the same memory.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

from agentlab.context.sweep import Part, Sweep, calculate
from agentlab.errors import AgentlabError

_CONNECT_SECONDS = 5


def in_this_process(sweep: Sweep) -> Generator[Part, None, None]:
    """One part after the other."""
    return (calculate(sweep, start, stop) for start, stop in sweep.parts())


def in_processes(sweep: Sweep, workers: int) -> Generator[Part, None, None]:
    """By `workers` processes of this machine. They end when the iterator is closed, and with this process.

    They are started afresh (spawn), so nothing of a notebook or a server is copied into them. Raises AgentlabError
    where one dies.
    """
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_be_a_worker)

    def submit(start: int, stop: int) -> Any:
        with _ctrl_c_held():  # a worker may be started here, and it inherits this
            return pool.submit(calculate, sweep, start, stop)

    try:
        yield from _in_order(sweep, submit, ahead=2 * workers)
    except BrokenProcessPool:
        raise AgentlabError("a worker process died, perhaps for want of memory; use fewer --workers") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def on_scheduler(sweep: Sweep, address: str) -> Generator[Part, None, None]:
    """By the workers of the dask scheduler at `address`, which need the same agentlab.

    What is sent and received is pickled, as dask does it: use a scheduler that you trust. Raises AgentlabError where
    dask.distributed is missing, nothing answers at the address, no worker is there, or the work is lost on the way.
    """
    from concurrent.futures import CancelledError

    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise AgentlabError(
            "a scheduler needs dask.distributed, which is not installed; install agentlab with its extra scale"
        ) from None
    threads = _threads_at(address)
    try:
        with Client(address, timeout=_CONNECT_SECONDS, set_as_default=False) as client:

            def submit(start: int, stop: int) -> Any:
                return client.submit(calculate, sweep, start, stop, pure=False)

            yield from _in_order(sweep, submit, ahead=2 * threads)
    except (OSError, CancelledError, KilledWorker, ImportError) as error:
        reason = " ".join(str(error).split())[:200]
        raise AgentlabError(
            f"the work was lost at the scheduler {address}: {reason}; see that its workers run, with this agentlab"
        ) from None


def _in_order(sweep: Sweep, submit: Callable[[int, int], Any], ahead: int) -> Generator[Part, None, None]:
    """The parts in order, `ahead` of them on their way; what `submit` returns has a ``result()``."""
    waiting: deque[Any] = deque()
    for part in sweep.parts():
        waiting.append(submit(*part))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _threads_at(address: str) -> int:
    """How many parts the workers at `address` calculate at a time, if a scheduler answers there."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from distributed.core import rpc

    async def identity() -> dict[str, Any]:
        async with rpc(address, timeout=_CONNECT_SECONDS) as scheduler:
            return dict(await scheduler.identity())

    try:
        # In a thread, because a notebook has an event loop of its own in this one. A client is not asked: one that
        # fails to connect complains once more when it is collected.
        with ThreadPoolExecutor(1) as thread:
            found = thread.submit(lambda: asyncio.run(asyncio.wait_for(identity(), 2 * _CONNECT_SECONDS))).result()
    # Whatever listens there may answer anything; what is no dask often reads as a huge length.
    except (OSError, ValueError, TypeError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200]
        raise AgentlabError(f"no dask scheduler answers at {address[:100]}: {reason}; expected HOST:PORT") from None
    if found.get("type") != "Scheduler":
        raise AgentlabError(f"at {address} answers a dask {found.get('type')}; give the address of its scheduler")
    if not found["total_threads"]:
        raise AgentlabError(f"the scheduler at {address} has no workers; start one with: dask worker {address}")
    return int(found["total_threads"])


@contextmanager
def _ctrl_c_held() -> Iterator[None]:
    """Ctrl-C waits until the end. A process started here never sees it: stopping is its parent's business."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows, where `_be_a_worker` comes early enough most of the time
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _be_a_worker() -> None:
    """No Ctrl-C, and no life without the parent, even where that was killed."""
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    from multiprocessing.connection import wait

    wait([sentinel])
    os._exit(1)
