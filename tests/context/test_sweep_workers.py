"""Who calculates a sweep makes no difference to what comes out, and nobody is left behind."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing import active_children
from multiprocessing.process import BaseProcess

import pytest
from distributed import LocalCluster

from agentlab.context import workers
from agentlab.context.sweep import Part, Sweep, plan
from agentlab.context.workers import in_processes, in_this_process, on_scheduler
from agentlab.errors import AgentlabError

CONTROLS = ["keep-all", "clear", "compact:trigger=20000", "sub-agents:calls=5,summary=300,S=2000,U=200"]


def several_parts() -> Sweep:
    values = {"S": "1000:40000:100", "U": "500", "a": "150", "r": "100:4000:100", "N": "10,40,90"}
    return plan(values, CONTROLS)


@pytest.fixture(scope="module")
def plainly() -> list[Part]:
    return list(in_this_process(several_parts()))


def local_cluster(workers: int) -> LocalCluster:
    """Processes on this machine, reached over its loopback address alone, with ports that were free."""
    return LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with local_cluster(workers=2) as running:
        yield running


@pytest.fixture
def started() -> Callable[[], set[BaseProcess]]:
    """The processes that were started since the test began."""
    before = set(active_children())
    return lambda: set(active_children()) - before


def test_processes_calculate_the_same_in_the_same_order(
    plainly: list[Part], started: Callable[[], set[BaseProcess]]
) -> None:
    assert len(plainly) > 4  # more than are on their way at a time
    assert list(in_processes(several_parts(), workers=2)) == plainly
    assert not started()


def test_two_workers_of_a_dask_cluster_calculate_the_same_in_the_same_order(
    cluster: LocalCluster, plainly: list[Part]
) -> None:
    assert list(on_scheduler(several_parts(), cluster.scheduler_address)) == plainly
    assert list(on_scheduler(several_parts(), cluster.scheduler_address.removeprefix("tcp://"))) == plainly


def test_a_sweep_that_is_broken_off_leaves_no_process_behind(started: Callable[[], set[BaseProcess]]) -> None:
    parts = in_processes(several_parts(), workers=2)
    next(parts)
    assert started()
    parts.close()
    assert not started()


def test_a_worker_that_dies_ends_the_sweep_in_one_line(started: Callable[[], set[BaseProcess]]) -> None:
    parts = in_processes(several_parts(), workers=2)
    next(parts)
    for worker in started():
        os.kill(worker.pid or 0, signal.SIGKILL)
    with pytest.raises(AgentlabError, match=r"^a worker process died[^\n]*; use fewer --workers$"):
        list(parts)
    assert not started()


# --- what is no scheduler -----------------------------------------------------------------------


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can answer, waiting for an answer proves nothing."""
    monkeypatch.setattr(workers, "_CONNECT_SECONDS", 0.5)


@pytest.fixture
def another_server() -> Iterator[str]:
    """A server that speaks something else, as a mistyped port would find."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 20)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join(timeout=10)


def refused(address: str) -> str:
    with pytest.raises(AgentlabError) as error:
        list(on_scheduler(several_parts(), address))
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("address", ["", "nowhere", "foo://127.0.0.1:8786", "127.0.0.1:99999", "127.0.0.1:1"])
def test_an_address_without_a_scheduler_is_refused_in_one_line(address: str) -> None:
    said = refused(address)
    assert said.startswith(f"no dask scheduler answers at {address}: ")
    assert said.endswith("; expected HOST:PORT")


@pytest.mark.usefixtures("quickly")
def test_a_server_that_is_no_scheduler_is_refused_in_one_line(another_server: str) -> None:
    assert refused(another_server).startswith(f"no dask scheduler answers at {another_server}: ")


def test_the_address_of_a_worker_is_told_apart_from_its_scheduler(cluster: LocalCluster) -> None:
    (worker, *_) = cluster.scheduler_info["workers"]
    assert refused(worker) == f"at {worker} answers a dask Worker; give the address of its scheduler"


def test_a_scheduler_without_workers_is_refused_and_not_waited_for() -> None:
    with local_cluster(workers=0) as idle:
        assert "has no workers; start one with: dask worker" in refused(idle.scheduler_address)


def test_a_missing_dask_is_said_with_the_extra_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert refused("127.0.0.1:8786").endswith("which is not installed; install agentlab with its extra scale")


def test_a_scheduler_that_goes_away_ends_the_sweep_in_one_line() -> None:
    with local_cluster(workers=1) as short_lived:
        address = short_lived.scheduler_address
        parts = on_scheduler(several_parts(), address)
        next(parts)
        short_lived.close()
        with pytest.raises(AgentlabError, match=rf"^the work was lost at the scheduler {address}: [^\n]*$"):
            list(parts)
