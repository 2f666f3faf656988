// The documents of the pages of live state (live_pages.hpp), as they are written in JSON. Times are
// in milliseconds, amounts in bytes.
//
// Owns       values.
// Thread     values.
// Allocates  texts and lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/values/described.hpp"

namespace katana::app {

// A request in flight.
struct RequestEntry {
  std::string method = {};                  // as the client sent it, or that of the route
  std::string route = {};                   // "/users/{id}"; empty: none matched
  std::int64_t age_ms = 0;                  // since its head was complete
  std::string state = {};                   // "receiving", "handling" or "replying"
  std::optional<std::int64_t> status = {};  // of a begun reply
  std::string client = {};                  // address and port
  std::string request_id = {};
  std::string trace_id = {};
  std::int64_t reactor = 0;
};
KATANA_DESCRIBE(RequestEntry, method, route, age_ms, state, status, client, request_id, trace_id,
                reactor)

// An open connection.
struct ConnectionEntry {
  std::string client = {};     // address and port; empty: the program has opened it
  std::string protocol = {};   // "http/1.1", "http/2", "websocket"; of others their name
  std::string direction = {};  // "in" or "out"
  bool tls = false;
  std::string state = {};   // as docs/diagrams/connection.md has it
  std::string paused = {};  // why it is not read; empty: it is
  std::int64_t age_ms = 0;
  std::int64_t requests = 0;
  std::int64_t bytes_received = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t input_bytes = 0;   // received, and not consumed
  std::int64_t output_bytes = 0;  // written, and not sent
  std::int64_t reactor = 0;
};
KATANA_DESCRIBE(ConnectionEntry, client, protocol, direction, tls, state, paused, age_ms, requests,
                bytes_received, bytes_sent, input_bytes, output_bytes, reactor)

// A statement that was begun and is not over.
struct StatementEntry {
  std::string statement = {};  // its name
  std::string text = {};       // without the values of its parameters
  std::int64_t age_ms = 0;
  std::string state = {};  // "running"; "paused": a stream whose reader has its rows
  std::string request_id = {};
  std::string trace_id = {};
  std::int64_t reactor = 0;
};
KATANA_DESCRIBE(StatementEntry, statement, text, age_ms, state, request_id, trace_id, reactor)

// Connections that are not read, by reason.
struct PausedEntry {
  std::string reason = {};
  std::int64_t connections = 0;
};
KATANA_DESCRIBE(PausedEntry, reason, connections)

struct ReactorEntry {
  std::int64_t number = 0;
  bool answered = false;         // false: the figures are older, and its lists are missing
  bool unlisted = false;         // its requests or statements are not known: too many threads
  std::int64_t busy_ms = 0;      // the duration of its present turn; 0: it waits
  std::string busy_with = {};    // the route or the work of this turn; empty: unnamed
  std::int64_t connections = 0;  // open ones, outgoing included
  std::int64_t tasks = 0;        // spawned tasks that run
  std::int64_t requests_in_flight = 0;
  std::int64_t cpu_ms = 0;  // of its thread
  std::int64_t turns = 0;
  std::int64_t requests = 0;
  std::int64_t bytes_received = 0;
  std::int64_t bytes_sent = 0;
  std::vector<PausedEntry> paused = {};
};
KATANA_DESCRIBE(ReactorEntry, number, answered, unlisted, busy_ms, busy_with, connections, tasks,
                requests_in_flight, cpu_ms, turns, requests, bytes_received, bytes_sent, paused)

struct DatabaseEntry {
  std::string system = {};
  bool usable = false;
  std::string problem = {};  // why it is not usable
  std::int64_t connections = 0;
  std::int64_t connections_busy = 0;
  std::int64_t reads_waiting = 0;
  std::int64_t writes_waiting = 0;
  std::int64_t streams_open = 0;
  std::int64_t transactions = 0;
  std::int64_t timeouts = 0;
  std::int64_t refused = 0;
};
KATANA_DESCRIBE(DatabaseEntry, system, usable, problem, connections, connections_busy,
                reads_waiting, writes_waiting, streams_open, transactions, timeouts, refused)

struct PoolEntry {
  std::string name = {};
  std::int64_t threads = 0;
  std::int64_t threads_parked = 0;
  std::int64_t queued = 0;
  std::int64_t timed_waiting = 0;
  std::int64_t ran = 0;
  std::int64_t failed = 0;
  std::int64_t refused = 0;
  std::int64_t wait_p99_ms = 0;  // from submission to begin, to a factor of two
};
KATANA_DESCRIBE(PoolEntry, name, threads, threads_parked, queued, timed_waiting, ran, failed,
                refused, wait_p99_ms)

// A scheduled job.
struct JobEntry {
  std::string name = {};
  bool running = false;
  bool overdue = false;
  std::int64_t runs = 0;
  std::int64_t failures = 0;
  std::int64_t failures_in_a_row = 0;
  std::int64_t skipped = 0;
  std::int64_t last_duration_ms = 0;
  std::string last_success = {};  // "2026-11-29T07:05:12Z"; empty: none
  std::string last_failure = {};  // of the last run; empty: it succeeded
};
KATANA_DESCRIBE(JobEntry, name, running, overdue, runs, failures, failures_in_a_row, skipped,
                last_duration_ms, last_success, last_failure)

// A queue of jobs in the database.
struct QueueEntry {
  std::string queue = {};
  std::int64_t ready = 0;
  std::int64_t delayed = 0;
  std::int64_t running = 0;
  std::int64_t dead = 0;
  std::int64_t waited_ms = 0;  // of the job that has waited longest
};
KATANA_DESCRIBE(QueueEntry, queue, ready, delayed, running, dead, waited_ms)

struct CacheEntry {
  std::string name = {};
  std::int64_t entries = 0;
  std::int64_t bytes = 0;
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t evictions = 0;
  std::int64_t loads_running = 0;
  std::int64_t load_failures = 0;
};
KATANA_DESCRIBE(CacheEntry, name, entries, bytes, hits, misses, evictions, loads_running,
                load_failures)

struct BusEntry {
  std::string state = {};
  std::string detail = {};
  std::int64_t subscriptions = 0;
  std::int64_t waiting = 0;  // messages for reactors
  std::int64_t waiting_bytes = 0;
  std::int64_t kept = 0;  // messages for a server that is away
  std::int64_t published = 0;
  std::int64_t delivered = 0;
  std::int64_t dropped = 0;
};
KATANA_DESCRIBE(BusEntry, state, detail, subscriptions, waiting, waiting_bytes, kept, published,
                delivered, dropped)

// Memory of one holder.
struct MemoryEntry {
  std::string holder = {};  // "reactor 0: output"
  std::int64_t used_bytes = 0;
  std::int64_t limit_bytes = 0;  // 0: it has none
};
KATANA_DESCRIBE(MemoryEntry, holder, used_bytes, limit_bytes)

struct StateDocument {
  std::string program = {};
  std::string version = {};
  std::int64_t pid = 0;
  std::int64_t uptime_ms = 0;
  bool draining = false;
  bool requests_listed = false;  // false: requests have neither ids nor traces, and are not known
  std::int64_t requests_in_flight = 0;
  std::vector<RequestEntry> requests = {};  // the oldest
  std::int64_t connections_open = 0;
  std::vector<ReactorEntry> reactors = {};
  std::int64_t statements_running = 0;
  std::vector<StatementEntry> statements = {};  // the oldest
  std::optional<DatabaseEntry> database = {};   // absent: the program has none
  std::vector<PoolEntry> pools = {};
  std::vector<JobEntry> jobs = {};
  std::vector<QueueEntry> queues = {};
  std::string queues_problem = {};  // why `queues` is empty; empty: it is not
  std::vector<CacheEntry> caches = {};
  std::optional<BusEntry> bus = {};
  std::vector<MemoryEntry> memory = {};  // the largest holders first
  // Settings that expose the program, as they were at the start, each with its remedy.
  std::vector<std::string> insecure = {};
};
KATANA_DESCRIBE(StateDocument, program, version, pid, uptime_ms, draining, requests_listed,
                requests_in_flight, requests, connections_open, reactors, statements_running,
                statements, database, pools, jobs, queues, queues_problem, caches, bus, memory,
                insecure)

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
