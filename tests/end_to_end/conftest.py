"""Fixtures of the end-to-end tests."""
import fcntl
import shutil

import pytest

import without_io_uring
from postgres_cluster import Cluster
from program_process import ROOT, Program
from server_process import ENGINES, Server


@pytest.fixture(autouse=True)
def no_server_left_behind():
    """End whatever a failed test has left running."""
    yield
    for left in list(Program.running):
        left.kill()


@pytest.fixture(params=ENGINES)
def engine(request):
    """Each engine in turn; io_uring only where this machine allows it."""
    if request.param == "io_uring" and not without_io_uring.available():
        pytest.skip("io_uring is not allowed here")
    return request.param


@pytest.fixture
def server(engine):
    """A server with two reactors on the engine; drained and checked at the end of the test."""
    with Server(engine=engine) as running:
        yield running


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for the tests of this worker; each makes its own database."""
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def kernel_memory():
    """Have the kernel's memory for sockets alone among the tests that fill it, also those of other workers.

    Beyond net.ipv4.tcp_mem the kernel drops segments, and a connection waits for ever longer retransmissions.
    """
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build" / "kernel_memory.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def tool():
    """Return a function that gives the path of an external program, or fails with its Debian package."""
    packages = {"ab": "apache2-utils", "promtool": "prometheus"}

    def find(name):
        path = shutil.which(name)
        assert path, f"{name} is missing: make setup (or apt-get install {packages.get(name, name)})"
        return path

    return find

# SPDX-License-Identifier: Apache-2.0
