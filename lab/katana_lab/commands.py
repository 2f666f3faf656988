"""The commands of the laboratory, each in a separate module: `katana-lab NAME`, and the file of that command.

Each module has `main()`, which reads sys.argv and returns the exit status (None: 0). Errors that a person can mend are
one line on standard error, and status 1, or 2 for wrong usage. Standard library only.
"""
from __future__ import annotations

import dataclasses
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from katana_lab import ROOT, LabError, UsageError


@dataclasses.dataclass(frozen=True)
class Command:
    """A module, the file that runs it, and a description."""

    module: str
    file: str
    about: str


COMMANDS = {
    "arena": Command("costs.arena", "lab/arena.py", "HttpArena's profiles, beside rivals written to its rules"),
    "arena-check": Command("arena.check", "lab/arena/check", "whether a server answers as HttpArena validates it"),
    "arena-data": Command("arena.data", "lab/arena/data", "what the servers of the arena are given"),
    "arena-build": Command("arena.servers", "lab/arena/rivals/build", "the rivals of the arena, built natively"),
    "cost": Command("costs.request", "lab/cost.py", "a request, beside the floor and rivals"),
    "cached-cost": Command("costs.cached", "lab/cached_cost.py", "a user from the response cache, beside /health"),
    "chat-cost": Command("costs.chat", "lab/chat_cost.py", "a chat delivery, by engine, beside the floor"),
    "chat-nodes-cost": Command("costs.chat_nodes", "lab/chat_nodes_cost.py", "a chat delivery, three servers and one"),
    "databases-cost": Command("costs.databases", "lab/databases_cost.py", "one program on SQLite and on PostgreSQL"),
    "files-cost": Command("costs.files", "lab/files_cost.py", "a static file, beside nginx with sendfile"),
    "http2-cost": Command("costs.http2", "lab/http2_cost.py", "a request of HTTP/2, beside nghttpd and h2o"),
    "tls-cost": Command("costs.tls", "lab/tls_cost.py", "TLS, beside nginx"),
    "ws-cost": Command("costs.websocket", "lab/ws_cost.py", "a WebSocket message, beside a request"),
    "overload": Command("costs.overload", "lab/overload.py", "goodput beyond the capacity, with load shedding"),
    "under-attack": Command("costs.under_attack", "lab/under_attack.py", "a good client's latency during floods"),
    "postgres-cost": Command("costs.postgres", "lab/postgres_cost.py", "a read of PostgreSQL, beside other clients"),
    "postgres-http-cost": Command("costs.postgres_http", "lab/postgres_http_cost.py", "a row over HTTP, beside axum"),
    "queue-cost": Command("costs.queue", "lab/queue_cost.py", "a job of the queue, beside pgbench"),
    "scale": Command("costs.scale", "lab/scale.py", "a model of ten million connections on forty machines"),
    "scale-inputs": Command("costs.scale_inputs", "lab/scale_inputs.py", "what that model takes as given, measured"),
    "openapi-sql": Command("costs.openapi_sql", "lab/openapi_sql.py", "operations on SQLite, by their OpenAPI"),
    "idle-cost": Command("costs.idle", "lab/idle_cost.py", "wake-ups and CPU of programs at rest, or with little load"),
    "startup": Command("costs.startup", "lab/startup.py", "from exec to the first reply, by part"),
    "templates": Command("costs.templates", "lab/templates.py", "the configuration templates, beside the defaults"),
    "build-cost": Command("costs.build", "lab/build_cost.py", "what a build costs, by target and by source"),
    "compile-cost": Command("costs.compile", "lab/compile_cost.py", "what headers cost the compiler"),
    "telemetry-cost": Command("costs.telemetry", "lab/telemetry_cost.py", "what telemetry adds to a request"),
    "instructions": Command("costs.instructions", "lab/instructions.py", "instructions of a request, by module"),
    "generators": Command("costs.generators", "lab/load/compare_wrk.py", "katana-load, beside wrk"),
    "many-connections": Command("costs.many_connections", "lab/many_connections.py",
                                "200,000 connections at once: whether all work, and what one costs"),
    "main-job": Command("costs.main_job", "lab/main_job.py", "users over SQLite, durable, beside rivals"),
    "main-job-check": Command("main_job.check", "lab/main_job/check", "whether a server does that job's duties"),
    "main-job-build": Command("main_job.servers", "lab/main_job/rivals/build", "that job's rivals, built natively"),
    "techempower": Command("costs.techempower", "lab/techempower.py", "TechEmpower's seven tests, beside rivals"),
    "techempower-check": Command("techempower.check", "lab/techempower/check", "whether a server keeps their rules"),
    "techempower-build": Command("techempower.servers", "lab/techempower/rivals/build", "the rivals, built natively"),
    "micro": Command("micro", "lab/micro/run.py", "components beside their rivals (make micro)"),
    "e2e-report": Command("e2e_report", "lab/e2e/report.py", "the end-to-end benchmarks as tables"),
    "compare-benchmarks": Command("gate", "scripts/compare_benchmarks.py", "two result files; exit 1 on a regression"),
    "compare-commits": Command("commits", "scripts/compare_commits.py", "two commits, built and measured in turns"),
}


def run(name: str, arguments: Sequence[str], program: str) -> int:
    """Run a command under a name for its messages; the exit status."""
    sys.argv = [program, *arguments]
    try:
        return importlib.import_module(f"katana_lab.{COMMANDS[name].module}").main() or 0
    except ImportError as error:
        print(f"{Path(program).name}: {error}: run tools/setup bench", file=sys.stderr)
        return 1
    except LabError as error:
        print(f"{Path(program).name}: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return 130


def run_file(path: str, arguments: Sequence[str]) -> int:
    """Run the command whose file this is."""
    file = os.path.relpath(os.path.abspath(path), ROOT)              # not through the link
    name = next(name for name, command in COMMANDS.items() if command.file == file)
    return run(name, arguments, file)

# SPDX-License-Identifier: Apache-2.0
