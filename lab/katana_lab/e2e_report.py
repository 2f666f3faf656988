"""The end-to-end benchmarks as tables, each beside the earlier claim, with the reason for the difference.

    lab/e2e/report.py RESULTS.json [--out REPORT.md]

RESULTS.json is the output of e2e_benchmarks (--benchmark_out); of several repetitions the median is shown. Figures that
were not measured, or not counted on this machine, are n/a.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
from pathlib import Path

from katana_lab.heading import commit

SOURCE = "the published end-to-end benchmarks of seven systems"


@dataclasses.dataclass(frozen=True)
class Row:
    """One line: the question, the claim, and the place of our figure: a counter of a benchmark, or its time."""

    what: str
    claimed: str
    benchmark: str
    counter: str = ""                    # none: the time of an iteration, in nanoseconds
    scale: float = 1.0
    unit: str = ""


@dataclasses.dataclass(frozen=True)
class Section:
    """A table of the source."""

    title: str
    rows: list[Row]
    why: str


def requests(what, claimed, benchmark):
    """The three rows of an endpoint."""
    rate, p50, p99 = claimed
    return [Row(f"{what}: rate", rate, benchmark, "req_per_s", 1, "req/s"),
            Row(f"{what}: p50", p50, benchmark, "p50_us", 1, "µs"),
            Row(f"{what}: p99", p99, benchmark, "p99_us", 1, "µs"),
            Row(f"{what}: server CPU", "", benchmark, "cpu_us", 1, "µs per request")]


def timed(prefix, rows):
    """Rows of figures in nanoseconds: (question, claim, benchmark below `prefix`)."""
    return [Row(what, claimed, f"{prefix}/{name}", "", 1, "ns") for what, claimed, name in rows]


def counted(prefix, counter, unit, rows):
    """Rows of one counter in several benchmarks: (question, claim, benchmark below `prefix`)."""
    return [Row(what, claimed, f"{prefix}/{name}", counter, 1, unit) for what, claimed, name in rows]


def started(prefix, parts):
    """Rows of a start by parts."""
    return [Row(what, claimed, prefix, f"{part}_ms", 1, "ms") for what, claimed, part in parts]


LOGGED = Section("1. Logged network server", [
    *requests("no logging", ("328,450 req/s", "24 µs", "68 µs"), "LoggedServer/off"),
    *requests("in the background", ("312,100 req/s", "26 µs", "89 µs"), "LoggedServer/background"),
    *requests("synchronous", ("156,800 req/s", "51 µs", "287 µs"), "LoggedServer/synchronous"),
    Row("memory, no logging", "42 MB", "LoggedServer/off", "rss_mib", 1, "MiB"),
    Row("memory, in the background", "58 MB", "LoggedServer/background", "rss_mib", 1, "MiB"),
    *[Row(f"server CPU in turns, {what}", "", "LoggedServer/cost_of_logging", f"{name}_cpu_us", 1, "µs per request")
      for what, name in (("none", "off"), ("background", "background"), ("binary", "binary"),
                         ("synchronous", "synchronous"))],
    Row("CPU per request, binary / none", "", "LoggedServer/cost_of_logging", "binary_ratio"),
    Row("CPU per request, background / none", "1.05 (rate); 1.02 wanted", "LoggedServer/cost_of_logging",
        "background_ratio"),
    Row("CPU per request, synchronous / none", "2.09 (rate)", "LoggedServer/cost_of_logging", "synchronous_ratio"),
    Row("a page of 20 users, background / none", "", "LoggedServer/cost_of_logging_pages", "background_ratio"),
    Row("a page of 20 users, binary / none", "", "LoggedServer/cost_of_logging_pages", "binary_ratio")],
    "The source's program calls a logger in a loop and has no server in it. Here every request comes over the "
    "loopback and leaves a record of eight fields, some 150 bytes of text, in a file. Rates are those of one "
    "reactor on one CPU, not of eight. The ratio is that of CPU time within rounds, the log's own thread included: "
    "making the record, formatting it, and the kernel's copy of it. For a reply of 13 bytes this is the largest share "
    "that a log can have. For a page out of a database it is the share in a real service. The reason why 1.02 is not "
    "reached for a request that does nothing is in docs/decisions/0069.")

DATABASE = Section("2. DB-backed API", [
    *requests("GET /users", ("42,800 req/s", "187 µs", "456 µs"), "DatabaseApi/GET_users"),
    *requests("POST /users", ("18,200 req/s", "428 µs", "892 µs"), "DatabaseApi/POST_users"),
    *requests("PUT /users/:id", ("21,500 req/s", "364 µs", "741 µs"), "DatabaseApi/PUT_user"),
    *requests("DELETE /users/:id", ("23,100 req/s", "339 µs", "698 µs"), "DatabaseApi/DELETE_user"),
    *requests("GET /users/:id", ("68,400 req/s", "112 µs", "289 µs"), "DatabaseApi/GET_user"),
    Row("GET /users/:id / GET /health, CPU", "2.29 (rate)", "DatabaseApi/reads_against_health", "get_user_ratio"),
    Row("POST /users / GET /users/:id, time per request", "3.76", "DatabaseApi/writes_against_the_disk",
        "post_users_ratio"),
    Row("SQLite alone, 64 inserts a commit / GET /users/:id", "", "DatabaseApi/writes_against_the_disk",
        "sqlite_64_a_commit_ratio"),
    Row("writes that share a commit", "", "DatabaseApi/POST_users", "writes_per_commit")],
    "A point read is answered on the reactor that was asked, reads of one turn share a snapshot; there is no pool "
    "to wait for. A write is acknowledged when it is on the disk: its rate is that of the disk's flushes times "
    "the writes that share one. The source does not say whether its writes are durable.")

STAGES = Section("2. Where the time of GET /users/:id goes", [
    *timed("DatabaseApi/stage", [
        ("parsing the request", "12 µs", "parse"),
        ("parsing, and making the reply", "12 + 4 µs", "parse_and_respond"),
        ("routing", "", "route"),
        ("one registry lookup and adapter call", "(8 + 3) / 3 µs", "registry_and_adapter"),
        ("query, 16 requests in a turn", "142 µs", "query/16"),
        ("query, alone in its turn", "142 µs", "query/1"),
        ("serialising", "18 µs", "serialise")]),
    Row("all of it, in the server, by CPU", "187 µs", "DatabaseApi/GET_user", "cpu_us", 1000, "ns")],
    "Each stage is the server's own code, timed by itself with the same request and the same table. What is "
    "missing between their sum and the last row is the kernel's (recv, send, epoll_wait), the reactor's, and the "
    "record in the log.")

POOLS = Section("2. Size of the reader pool", [
    Row(f"pool of {size}, one row: mean", claimed, f"DatabaseApi/pool_of_{size}/one_row", "", 64 / 1000,
        "µs for 64 clients")
    for size, claimed in ((2, "412 µs"), (5, "248 µs"), (10, "187 µs"), (20, "183 µs"))],
    "Only a server that is made to (`pool_reads=on`) reads short rows in its pool. Readers never wait for a disk "
    "here, so more of them than CPUs only take turns; the source had eight.")

WORKERS = Section("3. Monitored worker pool", [
    Row("job, not watched", "859 ns (1,164,000 jobs/s)", "WorkerPool/unwatched", "", 1, "ns"),
    Row("job, the pool's figures told", "", "WorkerPool/pool_watched", "", 1, "ns"),
    Row("job with counter, gauge and histogram", "918 ns (1,089,000 jobs/s)", "WorkerPool/jobs_watched", "", 1, "ns"),
    Row("pool watched / not", "1.064", "WorkerPool/cost_of_watching", "pool_watched_ratio"),
    Row("jobs watched / not", "1.064", "WorkerPool/cost_of_watching", "jobs_watched_ratio"),
    *timed("WorkerPool/metric", [("counter", "12 ns", "counter/1"), ("gauge", "14 ns", "gauge/1"),
                                 ("histogram", "38 ns", "histogram/1"), ("all three", "64 ns", "all_three/1")]),
    *[Row(f"exposition of {count:,} series", claimed, f"WorkerPool/exposition/{count}", "", 1e-6, "ms")
      for count, claimed in ((100, "2 ms"), (1_000, "18 ms"), (10_000, "156 ms"), (100_000, "1,842 ms"))],
    Row("size of 100,000 series", "12,400 KB", "WorkerPool/exposition/100000", "kib", 1, "KiB")],
    "A counter or histogram is a cell of the calling thread's own; only a gauge is shared. A pool counts by "
    "itself, and is asked when somebody scrapes, so watching it costs a job nothing. The text of a series is made "
    "once, so an exposition only writes numbers.")

FULL = Section("4. Full stack", [
    *requests("GET /health", ("156,800 req/s", "48 µs", "124 µs"), "FullStack/application/GET_health"),
    *requests("GET /api/users", ("38,400 req/s", "212 µs", "548 µs"), "FullStack/application/GET_api_users"),
    *requests("POST /api/data", ("16,200 req/s", "486 µs", "1,124 µs"), "FullStack/application/POST_api_data"),
    *requests("GET /metrics", ("2,400 req/s", "3,200 µs", "8,600 µs"), "FullStack/application/GET_metrics"),
    Row("CPU used, POST /api/data", "86 % of eight", "FullStack/application/POST_api_data", "cpu_percent", 1,
        "% of one"),
    Row("memory", "342 MB", "FullStack/application/GET_api_users", "rss_mib", 1, "MiB"),
    Row("disk, POST /api/data", "18 MB/s", "FullStack/application/POST_api_data", "disk_mib_per_s", 1, "MiB/s"),
    Row("open files", "124", "FullStack/application/GET_api_users", "descriptors")],
    "The source's figures are of eight cores and of no program that was published. Ours is the application as it "
    "is shipped, with one reactor on one CPU.")

SYSTEMS = Section("4. One system more: CPU per request, beside the network alone", [
    Row(f"{count} systems, with the {name}", claimed, "FullStack/one_system_more", f"{count}_{name}_ratio")
    for count, name, claimed in ((2, "thread", ""), (3, "log", "+4 µs of 212"), (4, "database", ""),
                                 (5, "metrics", "+8 µs of 212"), (6, "registry", "+5 µs of 212"),
                                 (7, "configuration", ""))],
    "Every server is asked for the same 13 bytes, so the added cost is that of a system that is present. Only the log "
    "does anything for such a request. The source adds up guesses for a request that uses all of them.")

START = Section("4. Start-up", [
    Row("full stack, from fork() to the first reply", "500 ms", "FullStack/application/start_up", "", 1e-6, "ms"),
    *started("FullStack/application/start_up", [
        ("configuration", "12 ms", "configuration"), ("log", "42 ms", "log"), ("thread pools", "24 ms", "pools"),
        ("database and migrations", "186 ms", "database"), ("metrics", "64 ms", "metrics"),
        ("services", "18 ms", "services"), ("routes", "", "routes"), ("network", "28 ms", "http")]),
    *[Row(f"{count} systems of the laboratory's server", claimed, f"FullStack/start_up/{count}_systems", "", 1e-6, "ms")
      for count, claimed in ((1, "42 ms"), (2, "86 ms"), (3, "248 ms"), (4, "312 ms"), (5, "384 ms"), (6, ""),
                             (7, "500 ms"))]],
    "The source's phases are round numbers that add up to 500. Here the program times each part, and independent parts "
    "overlap. A row of the second kind includes fork, exec and the first reply.")

INTEGRATION = Section("5. Integration", [
    *timed("Integration/call", [("direct call", "2.4 ns", "direct"), ("virtual call", "4.1 ns", "virtual"),
                                ("call through an adapter", "5.2 to 6.8 ns", "adapter")]),
    Row("lookup, cold", "248 ns", "Integration/lookup/cold", "each_s", 1e9, "ns"),
    *timed("Integration/lookup/by_type", [("lookup, warm", "12 ns", "1"), ("lookup, 8 threads", "18 ns", "8")]),
    *timed("Integration/error", [
        ("success", "2.4 ns", "ok"), ("failure with a code", "8.2 ns", "code"),
        ("failure with a message", "18.4 ns", "message"), ("chain of 2", "24.6 ns", "chain_of_2"),
        ("chain of 5", "56.2 ns", "chain_of_5")]),
    *counted("Integration/error", "allocations", "", [
        ("allocations: code", "0", "code"), ("allocations: message", "1", "message"),
        ("allocations: chain of 5", "1", "chain_of_5")])],
    "The source's chain of five takes one allocation, which a chain that keeps five messages cannot. The registry "
    "is sealed before the first lookup, so threads share it without a lock.")

CONTENTION = Section("6. Contention", [
    *counted("Contention", "network_per_s", "/s", [
        ("shared pool, network alone", "328,400 /s", "shared_pool/network_alone"),
        ("shared pool, both: network", "212,800 /s", "shared_pool/both"),
        ("dedicated pools, both: network", "298,600 /s", "dedicated_pools/both")]),
    *counted("Contention", "database_per_s", "/s", [
        ("shared pool, database alone", "86,200 /s", "shared_pool/database_alone"),
        ("shared pool, both: database", "54,600 /s", "shared_pool/both"),
        ("dedicated pools, both: database", "82,400 /s", "dedicated_pools/both")]),
    *counted("Contention", "network_p99_us", "µs", [
        ("shared pool, both: network p99", "248 µs", "shared_pool/both"),
        ("dedicated pools, both: network p99", "112 µs", "dedicated_pools/both")]),
    *[Row(f"{name}: {what}", claimed, f"Contention/allocator/{name}", counter, 1, unit)
      for name, claimed in (("glibc", "24 % lost"), ("jemalloc", "14 % lost"), ("mimalloc", ""))
      for what, claimed, counter, unit in (("allocations per request", "", "allocations", ""),
                                           ("live memory", "", "live_mib", "MiB"),
                                           ("anonymous memory", claimed, "anonymous_mib", "MiB"),
                                           ("server CPU", "", "cpu_us", "µs per request"))],
    *counted("Contention/disk", "log_mib_per_s", "MiB/s", [
        ("disk, log alone", "240 MB/s", "log_alone"), ("disk, log with the database", "−35 %", "both")]),
    *counted("Contention/disk", "rows_per_s", "rows/s", [
        ("disk, database alone", "12,400 /s", "database_alone"), ("disk, database with the log", "−12 %", "both")]),
    Row("p99 while scraped 100 times a second / not", "1.11", "Contention/http_and_scraping",
        "scraped_100_times_a_second_ratio")],
    "In a shared queue both kinds of jobs get through equally often, so the short ones get what the long ones "
    "leave. The log is never flushed to the disk and the database always is: they share the disk's bandwidth, not "
    "its flushes. Fragmentation is shown as what it is made of: memory that lives beside memory that is held "
    "(pools of the reactor included).")

CACHES = Section("6. Caches, as systems are added", [
    Row(f"{count} systems: {what}", claimed if counter == "instructions_per_cycle" else "",
        f"Contention/caches/{count}_systems", counter, 1, unit)
    for count, claimed in ((1, "3.2"), (2, "3.1"), (3, "2.8"), (4, "2.6"), (7, "2.3"))
    for what, counter, unit in (("instructions per cycle", "instructions_per_cycle", ""),
                                ("instructions per request", "instructions", ""),
                                ("cache misses per request", "cache_misses", ""),
                                ("server CPU", "cpu_us", "µs per request"))],
    "Hardware counters are missing in most virtual machines; the CPU time stands beside them. The source's "
    "working sets of up to 186 MB are those of rings that are allocated and never touched.")

SECTIONS = [LOGGED, DATABASE, STAGES, POOLS, WORKERS, FULL, SYSTEMS, START, INTEGRATION, CONTENTION, CACHES]
SUFFIXES = ("manual_time", "real_time")
TIME_UNITS_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def plain(name):
    """A benchmark's name without what Google Benchmark adds: /manual_time, /iterations:3, threads:2 as 2."""
    parts = []
    for part in name.split("/"):
        if part in SUFFIXES or part.startswith(("iterations:", "repeats:", "min_time:")):
            continue
        parts.append(part.removeprefix("threads:"))
    return "/".join(parts)


def read(data):
    """name -> counter -> median over repetitions; the time of an iteration is '' in nanoseconds."""
    values, errors = {}, {}
    for one in data["benchmarks"]:
        if one.get("run_type") == "aggregate":
            continue
        name = plain(one["name"])
        if one.get("error_occurred"):
            errors[name] = one.get("error_message", "failed")
            continue
        kept = values.setdefault(name, {})
        for key, value in one.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                kept.setdefault(key, []).append(float(value))
        kept.setdefault("", []).append(float(one["real_time"]) * TIME_UNITS_NS[one["time_unit"]])
    return ({name: {key: statistics.median(found) for key, found in kept.items()} for name, kept in values.items()},
            errors)


def shown(value):
    """Three significant digits, with separators."""
    if value == 0:
        return "0"
    digits = max(0, 2 - int(f"{abs(value):e}".split("e")[1]))
    return f"{value:,.{digits}f}"


def cell(row, values, errors):
    """Ours, or why it is not there."""
    if row.benchmark in errors:
        return f"failed: {errors[row.benchmark]}"
    value = values.get(row.benchmark, {}).get(row.counter)
    if value is None:
        return "n/a"
    text = shown(value * row.scale)
    spread = [values[row.benchmark].get(row.counter.removesuffix("_ratio") + end) for end in ("_low", "_high")]
    if row.counter.endswith("_ratio") and None not in spread:
        text += f" [{shown(spread[0])} – {shown(spread[1])}]"
    return f"{text} {row.unit}".strip()


def write(data, command):
    """The report as Markdown."""
    values, errors = read(data)
    context = data["context"]
    load = context.get("load_avg") or ["?"]
    lines = ["# End-to-end benchmarks", "",
             f"`{command}`, {context.get('date', '')}, commit {commit()},"
             f" {context.get('num_cpus', '?')} CPUs, load average {load[0]} when it began, suite"
             f" {context.get('suite', 'full')}.", "",
             f"Claimed: {SOURCE}, on eight cores of an i7-9700K.", ""]
    if context.get("cpus_shared_by_server_and_client") == "true":
        lines += ["**Server and client shared one CPU: rates say nothing about the server.**", ""]
    for section in SECTIONS:
        lines += [f"## {section.title}", "", "| | claimed | measured |", "|---|---|---|"]
        lines += [f"| {row.what} | {row.claimed} | {cell(row, values, errors)} |" for row in section.rows]
        lines += ["", section.why, ""]
    if errors:
        lines += ["## Failed", "", *[f"- {name}: {why}" for name, why in sorted(errors.items())], ""]
    return "\n".join(lines)


def main() -> int:
    """The exit status: 1 when a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="RESULTS.json")
    parser.add_argument("--out", type=Path, metavar="REPORT.md", help="default: standard output")
    parser.add_argument("--command", default="e2e_benchmarks", help="what made the results, for the report")
    flags = parser.parse_args()
    try:
        data = json.loads(flags.results.read_text(encoding="utf-8"))
        text = write(data, flags.command)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"report.py: {flags.results}: {error!r}: is it what --benchmark_out wrote?", file=sys.stderr)
        return 2
    if flags.out:
        flags.out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    return 1 if read(data)[1] else 0

# SPDX-License-Identifier: Apache-2.0
