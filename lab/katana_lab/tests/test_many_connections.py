"""Many connections: shares, patience and the table; the namespaces themselves need root and are no test."""
from __future__ import annotations

import argparse

import pytest
from katana_lab import proc
from katana_lab.costs import many_connections


@pytest.fixture
def programs(monkeypatch):
    """Programs by their names alone."""
    monkeypatch.setattr(proc, "built", lambda name, build: name)
    monkeypatch.setattr(proc, "tool", lambda name: name)


@pytest.mark.parametrize(("connections", "clients"), [(10, 3), (200_000, 11), (7, 7)])
def test_shares_add_up(programs, connections, clients):
    options = argparse.Namespace(connections=connections, clients=clients, rate=2000.0, seconds=10.0, opening=5.0,
                                 build=None)
    commands = [many_connections.load_command(options, index, "10.98.0.1", 80) for index in range(clients)]
    shares = [int(command[command.index("-c", command.index("katana-load")) + 1]) for command in commands]
    rates = [float(command[command.index("-R") + 1]) for command in commands]
    assert sum(shares) == connections
    assert max(shares) - min(shares) <= 1
    assert sum(rates) == pytest.approx(2000.0, rel=1e-3)
    assert {command[3] for command in commands} == {f"katana-many-{index}" for index in range(clients)}


def test_opening_ends_when_all_are_open_or_patience_does():
    counts = iter([0, 3, 7, 10])
    assert many_connections.opened_after(lambda: next(counts), 10, 5.0)[0] == 10
    count, took = many_connections.opened_after(lambda: 4, 10, 0.2)
    assert count == 4
    assert took > 0.2


def test_the_table_names_what_failed():
    told = {"servers": 2, "open": 2000, "opened_s": 1.25, "requests": 100, "failed": {}, "p99_us": 1500.0,
            "lag_p99_us": 100.0, "server_bytes": 863.2, "kernel_kib": 4.71, "cpu_us": 44.6}
    bad = told | {"failed": {"reset": 3, "wrong_body": 1000}}
    rows = many_connections.table({"epoll-edge": told, "io_uring": bad})
    assert rows[2] == "| epoll-edge | 2 | 2,000 | 1.2 | 100 | 0 | 1.5 | 0.1 | 863 | 4.7 | 44.6 |"
    assert "3 reset, 1,000 wrong_body" in rows[3]
    assert len({row.count("|") for row in rows}) == 1

# SPDX-License-Identifier: Apache-2.0
