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
  std::string request_id = {};              // of its log records
  std::string trace_id = {};                // empty: it has no trace
  std::int64_t reactor = 0;                 // number of its reactor
};
KATANA_DESCRIBE(RequestEntry, method, route, age_ms, state, status, client, request_id, trace_id,
                reactor)

// An open connection.
struct ConnectionEntry {
  std::string client = {};          // address and port; empty: the program has opened it
  std::string protocol = {};        // "http/1.1", "http/2", "websocket"; of others their name
  std::string direction = {};       // "in" or "out"
  bool tls = false;                 // it is encrypted
  std::string state = {};           // as docs/diagrams/connection.md has it
  std::string paused = {};          // why it is not read; empty: it is
  std::int64_t age_ms = 0;          // since it was accepted or opened
  std::int64_t requests = 0;        // that were begun on it
  std::int64_t bytes_received = 0;  // since its begin
  std::int64_t bytes_sent = 0;      // since its begin
  std::int64_t input_bytes = 0;     // received, and not consumed
  std::int64_t output_bytes = 0;    // written, and not sent
  std::int64_t reactor = 0;         // number of its reactor
};
KATANA_DESCRIBE(ConnectionEntry, client, protocol, direction, tls, state, paused, age_ms, requests,
                bytes_received, bytes_sent, input_bytes, output_bytes, reactor)

// A statement that was begun and is not over.
struct StatementEntry {
  std::string statement = {};   // its name
  std::string text = {};        // without the values of its parameters
  std::int64_t age_ms = 0;      // since it was begun
  std::string state = {};       // "running"; "paused": a stream whose reader has its rows
  std::string request_id = {};  // of the request that runs it
  std::string trace_id = {};    // empty: it has no trace
  std::int64_t reactor = 0;     // number of its reactor
};
KATANA_DESCRIBE(StatementEntry, statement, text, age_ms, state, request_id, trace_id, reactor)

// One co_await that has not ended.
struct FrameEntry {
  std::int64_t depth = 0;       // 0: the task that was started; what it awaits follows, deeper
  std::string function = {};    // around the co_await
  std::string at = {};          // file and line of the co_await
  std::string awaits = {};      // the type of the awaitable; empty: the next task
  std::int64_t waiting_ms = 0;  // since it was suspended
};
KATANA_DESCRIBE(FrameEntry, depth, function, at, awaits, waiting_ms)

// A suspended coroutine that no other one awaits.
struct CoroutineEntry {
  std::string route = {};               // "GET /users/{id}", where it was started; empty: none
  std::string request_id = {};          // of the request that started it; empty: none
  std::string trace_id = {};            // empty: it has no trace
  std::int64_t waiting_ms = 0;          // since one of its frames was suspended last
  std::vector<FrameEntry> frames = {};  // callers before callees
  std::int64_t reactor = 0;             // number of its reactor
};
KATANA_DESCRIBE(CoroutineEntry, route, request_id, trace_id, waiting_ms, frames, reactor)

// The answer of /operations/coroutines.
struct CoroutinesDocument {
  std::int64_t matched = 0;                          // all, also those beyond the limit
  std::vector<std::int64_t> silent_reactors = {};    // that did not answer
  std::vector<std::int64_t> unlisted_reactors = {};  // whose coroutines are not known
  std::vector<CoroutineEntry> coroutines = {};       // that have waited longest first
};
KATANA_DESCRIBE(CoroutinesDocument, matched, silent_reactors, unlisted_reactors, coroutines)

// Connections that are not read, by reason.
struct PausedEntry {
  std::string reason = {};       // as in ConnectionEntry::paused
  std::int64_t connections = 0;  // with this reason
};
KATANA_DESCRIBE(PausedEntry, reason, connections)

// A reactor, and its part of the work.
struct ReactorEntry {
  std::int64_t number = 0;       // from 0
  bool answered = false;         // false: the figures are older, and its lists are missing
  bool unlisted = false;         // its requests or statements are not known: too many threads
  std::int64_t busy_ms = 0;      // the duration of its present turn; 0: it waits
  std::string busy_with = {};    // the route or the work of this turn; empty: unnamed
  std::int64_t connections = 0;  // open ones, outgoing included
  std::int64_t tasks = 0;        // spawned tasks that run
  std::int64_t requests_in_flight = 0;   // that are not answered whole
  std::int64_t cpu_ms = 0;               // of its thread
  std::int64_t turns = 0;                // since the start
  std::int64_t requests = 0;             // since the start
  std::int64_t bytes_received = 0;       // since the start
  std::int64_t bytes_sent = 0;           // since the start
  std::vector<PausedEntry> paused = {};  // its connections that are not read
};
KATANA_DESCRIBE(ReactorEntry, number, answered, unlisted, busy_ms, busy_with, connections, tasks,
                requests_in_flight, cpu_ms, turns, requests, bytes_received, bytes_sent, paused)

// The database of the program.
struct DatabaseEntry {
  std::string system = {};            // "sqlite" or "postgres"
  bool usable = false;                // statements can be run
  std::string problem = {};           // why it is not usable
  std::int64_t connections = 0;       // open ones
  std::int64_t connections_busy = 0;  // that run a statement or a transaction
  std::int64_t reads_waiting = 0;     // for a connection
  std::int64_t writes_waiting = 0;    // for their turn
  std::int64_t streams_open = 0;      // results that are read in parts
  std::int64_t transactions = 0;      // that are open
  std::int64_t timeouts = 0;          // statements, since the start
  std::int64_t refused = 0;           // statements without a place, since the start
};
KATANA_DESCRIBE(DatabaseEntry, system, usable, problem, connections, connections_busy,
                reads_waiting, writes_waiting, streams_open, transactions, timeouts, refused)

// A pool of threads.
struct PoolEntry {
  std::string name = {};            // as in `pools`
  std::int64_t threads = 0;         // that live
  std::int64_t threads_parked = 0;  // that have nothing to do
  std::int64_t queued = 0;          // tasks that wait for a thread
  std::int64_t timed_waiting = 0;   // tasks that wait for their time
  std::int64_t ran = 0;             // tasks, since the start
  std::int64_t failed = 0;          // tasks that threw, since the start
  std::int64_t refused = 0;         // tasks without a place, since the start
  std::int64_t wait_p99_ms = 0;     // from submission to begin, to a factor of two
};
KATANA_DESCRIBE(PoolEntry, name, threads, threads_parked, queued, timed_waiting, ran, failed,
                refused, wait_p99_ms)

// A scheduled job.
struct JobEntry {
  std::string name = {};               // as the program gave it
  bool running = false;                // at present
  bool overdue = false;                // its time has passed, and it has not begun
  std::int64_t runs = 0;               // since the start
  std::int64_t failures = 0;           // runs that failed, since the start
  std::int64_t failures_in_a_row = 0;  // until now
  std::int64_t skipped = 0;            // turns without a run, since the start
  std::int64_t last_duration_ms = 0;   // of the last run
  std::string last_success = {};       // "2026-11-29T07:05:12Z"; empty: none
  std::string last_failure = {};       // of the last run; empty: it succeeded
};
KATANA_DESCRIBE(JobEntry, name, running, overdue, runs, failures, failures_in_a_row, skipped,
                last_duration_ms, last_success, last_failure)

// A queue of jobs in the database.
struct QueueEntry {
  std::string queue = {};      // its name
  std::int64_t ready = 0;      // jobs that can be taken
  std::int64_t delayed = 0;    // jobs that wait for their time
  std::int64_t running = 0;    // jobs that a worker has
  std::int64_t dead = 0;       // dead letters
  std::int64_t waited_ms = 0;  // of the job that has waited longest
};
KATANA_DESCRIBE(QueueEntry, queue, ready, delayed, running, dead, waited_ms)

// A cache in the memory of this process.
struct CacheEntry {
  std::string name = {};           // as in `caches`
  std::int64_t entries = 0;        // that it holds
  std::int64_t bytes = 0;          // that it holds
  std::int64_t hits = 0;           // since the start
  std::int64_t misses = 0;         // since the start
  std::int64_t evictions = 0;      // since the start
  std::int64_t loads_running = 0;  // at present
  std::int64_t load_failures = 0;  // since the start
};
KATANA_DESCRIBE(CacheEntry, name, entries, bytes, hits, misses, evictions, loads_running,
                load_failures)

// The message bus.
struct BusEntry {
  std::string state = {};          // of the connection to the server
  std::string detail = {};         // about the state; may be empty
  std::int64_t subscriptions = 0;  // of this process
  std::int64_t waiting = 0;        // messages for reactors
  std::int64_t waiting_bytes = 0;  // of the messages for reactors
  std::int64_t kept = 0;           // messages for a server that is away
  std::int64_t published = 0;      // messages, since the start
  std::int64_t delivered = 0;      // messages, since the start
  std::int64_t dropped = 0;        // messages, since the start
};
KATANA_DESCRIBE(BusEntry, state, detail, subscriptions, waiting, waiting_bytes, kept, published,
                delivered, dropped)

// Memory of one holder.
struct MemoryEntry {
  std::string holder = {};       // "reactor 0: output"
  std::int64_t used_bytes = 0;   // at present
  std::int64_t limit_bytes = 0;  // 0: it has none
};
KATANA_DESCRIBE(MemoryEntry, holder, used_bytes, limit_bytes)

// The answer of /operations/state.
struct StateDocument {
  std::string program = {};      // its name
  std::string version = {};      // of the program
  std::int64_t pid = 0;          // of the process
  std::int64_t uptime_ms = 0;    // since the start
  bool draining = false;         // it ends, and takes no new connections
  bool requests_listed = false;  // false: requests have neither ids nor traces, and are not known
  std::int64_t requests_in_flight = 0;          // of all reactors
  std::vector<RequestEntry> requests = {};      // the oldest
  std::int64_t connections_open = 0;            // of all reactors
  std::vector<ReactorEntry> reactors = {};      // in the order of their numbers
  std::int64_t statements_running = 0;          // of all reactors
  std::vector<StatementEntry> statements = {};  // the oldest
  std::optional<DatabaseEntry> database = {};   // absent: the program has none
  std::vector<PoolEntry> pools = {};            // those of the settings and of the program
  std::vector<JobEntry> jobs = {};              // scheduled ones
  std::vector<QueueEntry> queues = {};          // as the database has them
  std::string queues_problem = {};              // why `queues` is empty; empty: it is not
  std::vector<CacheEntry> caches = {};          // of this process
  std::optional<BusEntry> bus = {};             // absent: the program has none
  std::vector<MemoryEntry> memory = {};         // the largest holders first
  // Settings that expose the program, as they were at the start, each with its remedy.
  std::vector<std::string> insecure = {};
};
KATANA_DESCRIBE(StateDocument, program, version, pid, uptime_ms, draining, requests_listed,
                requests_in_flight, requests, connections_open, reactors, statements_running,
                statements, database, pools, jobs, queues, queues_problem, caches, bus, memory,
                insecure)

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
