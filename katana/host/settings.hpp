// Settings: what every application can be configured with, and what each value is unless somebody
// says otherwise.
//
// A program derives its own from ApplicationSettings and describes the groups it wants to offer,
// and its own members beside them:
//
//   struct Settings : host::ApplicationSettings {
//     std::size_t page_max = 100;
//   };
//   KATANA_DESCRIBE(Settings, http, operations, log, requests, monitor, pools, database, page_max)
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      Config<Settings>::load() lists every value that breaks a rule.
// Invariant  what is marked reloadable takes effect by SIGHUP; the rest by a restart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "katana/base/described.hpp"
#include "katana/base/instant.hpp"
#include "katana/config/units.hpp"
#include "katana/host/engines.hpp"

namespace katana::host {

struct HttpSettings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  unsigned reactors = 0;
  std::string engine = "epoll-edge";
  bool pin = false;
  Duration spin_max = {};
  std::uint32_t connections_max = 16 * 1024;
  config::ByteCount output_max = config::mebibytes(256);
  config::ByteCount output_reserve = config::mebibytes(4);
  Duration shed_after = seconds(1);
  config::ByteCount held_max = config::mebibytes(0);
  std::uint32_t carry_large_max = 1024;
  std::uint32_t requests_per_connection_max = 0;
  std::uint32_t websocket_subscriptions_max = 256;
  std::uint32_t form_files_max = 256;
  Duration idle_timeout = seconds(75);
  Duration head_timeout = seconds(10);
  Duration content_timeout = seconds(30);
  Duration handler_timeout = seconds(30);
  std::string server_name = "katana";
  std::vector<std::string> hosts;
  Duration drain_notice = milliseconds(100);
  Duration drain_timeout = seconds(10);
};
KATANA_DESCRIBE(
    HttpSettings, (address, length(1, 64), help("numeric address to listen on")),
    (port, help("0: the kernel chooses")),
    (reactors, at_most(1024), help("threads that serve; 0: one for each CPU")),
    (engine,
     satisfies([](const std::string& name) { return is_engine_name(name); },
               "epoll-edge, epoll-level, io_uring or auto"),
     help("epoll-edge, epoll-level, io_uring, or auto: io_uring where it runs")),
    (pin, help("bind each reactor to a CPU")),
    (spin_max, range(Duration{}, milliseconds(10)),
     help("how long a reactor spins for a commit or a job before it sleeps; 0: never")),
    (connections_max, range(1, 1 << 24), help("open connections per reactor")),
    (output_max, help("memory for output that peers have not received yet, per reactor")),
    (output_reserve,
     help("part of output_max reserved for connections without pending output; at most half")),
    (shed_after, range(Duration{}, seconds(600)),
     help("how long a connection waits for output blocks before the connections that hold "
          "the most and drain the slowest are reset")),
    (held_max, help("memory for request contents, messages and suspended handlers, per "
                    "reactor; above it the largest are refused; 0: 16KiB per "
                    "connection, at least 64MiB")),
    (carry_large_max, range(1, 1 << 20),
     help("connections per reactor that may hold more than 4 KiB of unread input")),
    (requests_per_connection_max, help("0: no limit")),
    (websocket_subscriptions_max, range(1, 1 << 20),
     help("topics that one WebSocket connection may be subscribed to")),
    (form_files_max, range(1, 1 << 20),
     help("files that forms may have open, in the whole process; never more than a "
          "quarter of its descriptors")),
    (idle_timeout, range(milliseconds(1), seconds(24 * 3600)),
     help("close a connection that has been idle between requests for so long")),
    (head_timeout, range(milliseconds(1), seconds(24 * 3600)),
     help("a request head must be complete so long after its first byte (408)")),
    (content_timeout, range(milliseconds(1), seconds(24 * 3600)),
     help("request content may pause for so long; each byte extends it by 1/1024 s (408)")),
    (handler_timeout, range(milliseconds(1), seconds(24 * 3600)),
     help("a handler that has not replied by then is cancelled (503)")),
    (server_name, length(0, 128), help("value of the Server field; empty: no field")),
    (hosts, length(0, 256), each(length(1, 253)),
     help("host names of this server beside localhost and its address; when set, "
          "requests for any other host get 421")),
    (drain_notice, range(Duration{}, seconds(600)),
     help("how long /ready answers 503 before the listeners close")),
    (drain_timeout, range(Duration{}, seconds(3600)),
     help("how long requests in flight may take after that before they are cut off")))

enum class LogFull : std::uint8_t { drop, block };
KATANA_DESCRIBE_ENUM(LogFull, drop, block)

struct LogSettings {
  std::string levels = "info";
  bool console = true;
  std::string file;
  std::string json_file;
  std::string binary_file;
  config::ByteCount file_bytes_max = config::mebibytes(64);
  unsigned files_kept = 8;
  bool synchronous = false;
  LogFull when_full = LogFull::drop;
};
KATANA_DESCRIBE(LogSettings,
                (levels, reloadable, help("'info', or 'warn,access=off,database=debug'")),
                (console, help("write records to standard error")), (file, help("empty: none")),
                (json_file, help("JSON lines; empty: none")),
                (binary_file, help("unformatted records, printed by katana-log; the cheapest")),
                (file_bytes_max, help("size at which a log file is rotated")),
                (files_kept, at_most(1000), help("rotated log files to keep")),
                (synchronous, help("write synchronously in the calling thread (slow)")),
                (when_full,
                 help("what a thread does whose ring of records is full: drop the record and "
                      "count it, or block until there is space")))

struct OperationsSettings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::string token;
};
KATANA_DESCRIBE(
    OperationsSettings,
    (address, length(1, 64), help("numeric address of the operations listener")),
    (port, help("port of a separate listener for /metrics, details of /health and /ready, "
                "and dashboards; 0: http.port serves them")),
    (token, length(0, 512), secret,
     help("bearer token that these pages require (Authorization: Bearer …); empty: none")))

struct RequestSettings {
  bool ids = true;
  bool access_log = true;
  bool queries = true;
  std::vector<std::string> secret_parameters;
  bool metrics = true;
  std::vector<Duration> duration_buckets;
  Duration slow = seconds(1);
  bool show_causes = false;
  std::uint32_t failure_records_max = 5;
  Duration failure_period = seconds(10);
};
KATANA_DESCRIBE(
    RequestSettings, (ids, help("accept or make X-Request-Id, and return it")),
    (access_log, help("one record for each request; its level: log.levels access=…")),
    (queries, help("false: logs omit the query of a target")),
    (secret_parameters, length(0, 256), each(length(1, 256)),
     help("query parameters whose values logs replace with ***, beside those that a "
          "route's Query<> marks secret")),
    (metrics, help("count requests and measure their durations, by route")),
    (duration_buckets, length(0, 64),
     help("upper bounds of the histogram buckets in /metrics; empty: 15 from 100us to 30s")),
    (slow, reloadable, range(Duration{}, seconds(3600)),
     help("log requests that take longer as slow; 0: never")),
    (show_causes, help("send the causes of failures to clients, SQL and table names included; "
                       "for development only")),
    (failure_records_max, at_most(100'000),
     help("failure records per kind and route in each failure_period; 0: none")),
    (failure_period, range(milliseconds(1), seconds(24 * 3600)),
     help("period in which failure_records_max applies")))

struct UpstreamSettings {
  std::string url;
  Duration timeout = seconds(2);
  Duration fresh_for = seconds(5);
  std::string authorities_file;
};
KATANA_DESCRIBE(
    UpstreamSettings, (url, length(1, 2000), help("requested with GET; any 2xx status is healthy")),
    (timeout, range(milliseconds(1), seconds(3600)), help("a response must be complete by then")),
    (fresh_for, range(Duration{}, seconds(24 * 3600)),
     help("how long a result is reused before the next request")),
    (authorities_file, help("PEM file of additional certificate authorities; empty: none")))

struct MonitorSettings {
  Duration stall = milliseconds(100);
  std::map<std::string, UpstreamSettings> upstreams;
};
KATANA_DESCRIBE(MonitorSettings,
                (stall, range(Duration{}, seconds(3600)),
                 help("report a reactor that one callback blocks for longer; 0: never")),
                (upstreams, help("services that must be healthy for this one to be ready")))

struct PoolSettings {
  unsigned threads_min = 1;
  unsigned threads_max = 0;
  std::uint32_t queue_max = 16 * 1024;
};
KATANA_DESCRIBE(PoolSettings, (threads_min, range(1, 1024), help("threads that always run")),
                (threads_max, at_most(1024), help("0: one for each CPU")),
                (queue_max, range(1, 1 << 24),
                 help("jobs that may wait; further submissions fail")))

enum class Durability : std::uint8_t { full, normal };
KATANA_DESCRIBE_ENUM(Durability, full, normal)

struct DatabaseSettings {
  std::string path = "var/katana.db";
  std::string migrations;
  Durability durability = Durability::full;
  unsigned readers = 4;
  Duration timeout = seconds(30);
  Duration wait_max = seconds(2);
  config::ByteCount cache = config::mebibytes(8);
  std::uint32_t group_max = 256;
};
KATANA_DESCRIBE(DatabaseSettings,
                (path, length(1, 4000), help("its folder is made if it is missing")),
                (migrations, help("a folder of NUMBER_name.sql; empty: those of the program")),
                (durability, help("full: an acknowledged write survives a loss of power")),
                (readers, range(1, 64),
                 help("threads and connections for reads that reactors do not answer themselves")),
                (timeout, range(milliseconds(1), seconds(3600)), help("deadline of a statement")),
                (wait_max, range(milliseconds(1), seconds(3600)),
                 help("how long a call may wait in a queue before it is refused")),
                (cache, help("page cache of each connection")),
                (group_max, range(1, 100'000), help("writes that one commit may include")))

struct ApplicationSettings {
  HttpSettings http;
  OperationsSettings operations;
  LogSettings log;
  RequestSettings requests;
  MonitorSettings monitor;
  std::map<std::string, PoolSettings> pools;  // "work" is there in any case
  DatabaseSettings database;
};
KATANA_DESCRIBE(ApplicationSettings, http, operations, log, requests, monitor,
                (pools, help("thread pools by name; 'work' always exists")), database)

}  // namespace katana::host
