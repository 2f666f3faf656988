// Settings descriptions: the keys that the groups of Settings have, their rules and their help.
//
// settings.hpp does without them: a program's configuration uses the table of a group
// (data/config/table.hpp), which settings.cpp makes. This header is for sources that read a
// description themselves, or derive one from it (KATANA_DESCRIBE_DERIVED). Descriptions of groups
// with their own headers are in settings_parts_descriptions.hpp.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      as Config does.
#pragma once

#include "katana/app/option_tables.hpp"
#include "katana/app/settings.hpp"
#include "katana/base/values/described.hpp"

namespace katana::app::option_rules {

// Helps that are too long for a line of the description of http.
inline constexpr auto hosts = rules::help(
    "host names of this server beside localhost and its address; when set, requests for any other "
    "host get 421");
inline constexpr auto held_max = rules::help(
    "memory for contents, messages and suspended handlers, per reactor; above it the largest are "
    "refused; 0: 16KiB per connection, at least 64MiB");
inline constexpr auto form_files_max =
    rules::help("files that forms of the process may have open; at most a quarter of its limit");
inline constexpr auto forwarded_hops_max = rules::help("proxies that are believed in one request");
inline constexpr auto drain_notice = rules::help("/ready answers 503 so long before the end");
inline constexpr auto age = rules::range(Duration{}, seconds(7 * 24 * 3600));
inline constexpr auto trusted_proxies =
    rules::help("networks of proxies, as 10.0.0.0/8 or unix, whose word of the client is believed");
inline constexpr auto forwarded = rules::help(
    "the header in which all of them name the client: forwarded (RFC 7239), x_forwarded "
    "(X-Forwarded-For, -Proto, -Host), or none; the other one is not trusted");
inline constexpr auto parts = rules::help(
    "what of it they overwrite in every request, and is believed: for, proto, host; the rest is "
    "the "
    "client's own");
inline constexpr auto trust_request_ids = rules::help(
    "whose X-Request-Id, traceparent and baggage are accepted: always, those of trusted proxies, "
    "never; "
    "auto: "
    "of proxies where any are trusted, else always");
inline constexpr auto shed_after =
    rules::help("wait for output blocks before the largest, slowest clients are reset");
inline constexpr auto proxy_protocol = rules::help(
    "required: connections to http.port begin with the header of the PROXY protocol, and come from "
    "trusted_proxies alone");

}  // namespace katana::app::option_rules

namespace katana::app {

KATANA_DESCRIBE(
    TlsSettings, (certificates, help("a list of {certificate: FILE, key: FILE}; empty: no TLS")),
    (development, help("a certificate that signs itself, for localhost; never written anywhere")),
    (development_names, help("names of that certificate beside localhost")),
    (names_must_match, help("refuse clients that ask for a name no certificate has")),
    (version_min, help("oldest version of TLS")),
    (client_authorities_file,
     help("PEM file of authorities that must have signed the clients' certificates; empty: none "
          "is asked for")),
    (client_authorities_text, named("client_authorities_pem"),
     help("those authorities themselves, in place of a file")),
    (client_certificate_optional, help("serve clients without a certificate, too")),
    (ciphers_1_2, help("of TLS 1.2, as OpenSSL names them; empty: with forward secrecy and AEAD")),
    (ciphers_1_3, help("of TLS 1.3; empty: all three of RFC 8446 that are not for small devices")),
    (groups, help("for the key exchange; empty: X25519, P-256, P-384")),
    (ticket_lifetime, range(Duration{}, seconds(7 * 24 * 3600)),
     help("how long one key seals session tickets; 0: no tickets")),
    (hsts, range(Duration{}, seconds(std::int64_t{2} * 366 * 24 * 3600)),
     help("how long browsers shall come back by TLS only (RFC 6797); 0: not said")),
    (watch, range(Duration{}, seconds(24 * 3600)),
     help("how often the files are looked at; changed ones are read again; 0: only by SIGHUP")))

KATANA_DESCRIBE(
    HttpSettings, (address, length(1, 64), help("numeric address to listen on")),
    (port, help("0: the kernel chooses")),
    (listeners, length(0, server::listeners_max), help("more: {address: ADDRESS, port: PORT}, …")),
    (backlog, range(1, 1 << 20), help("connections that wait in the kernel's queue")),
    (reactors, at_most(1024), help("threads that serve; 0: one for each CPU, as cpu.max has it")),
    (engine, help("how a reactor asks the kernel; auto: io_uring where it runs")),
    (balance, help("which reactor serves a connection; kernel: the one that it was queued for")),
    (pin, help("bind each reactor to a CPU")),
    (spin_max, range(Duration{}, milliseconds(10)), help("spins before it sleeps; 0: never")),
    (connections_max, range(1, 1 << 24), help("open connections per reactor")),
    (receive_bytes_max, byte_count, range(1, 1 << 30), help("most bytes of one receive")),
    (output_max, byte_count, help("output that clients have not received, per reactor")),
    (output_reserve, byte_count, help("its part for connections without pending output")),
    (output_block_bytes, byte_count, range(Outbox::block_bytes_min, Outbox::block_bytes_max),
     help("size of the blocks that output_max is given out in")),
    (outbox_high_bytes, byte_count, help("pending output that stops reading")),
    (outbox_low_bytes, byte_count, help("pending output that resumes it")),
    (shed_after, range(Duration{}, seconds(600)), option_rules::shed_after),
    (turn_bytes_max, byte_count, at_least(1), help("bytes that a reactor sends in one turn")),
    (tasks_max, range(1, 1 << 24), help("spawned tasks and job runs at a time, per reactor")),
    (held_bytes_max, named("held_max"), byte_count, option_rules::held_max),
    (carry_small_bytes, byte_count, range(1, 1 << 24), help("unread input of any connection")),
    (carry_extra_bytes, byte_count, range(1, 1 << 24),
     help("unread input of carry_large_max, and receive_bytes_max")),
    (carry_large_max, range(1, 1 << 20), help("connections that may hold more, per reactor")),
    (send_timeout, option_rules::timeout, help("reset a client that takes nothing for so long")),
    (rate_min_bytes_per_s, named("send_rate_min_bytes_per_s"), at_least(1),
     help("each byte taken extends send_timeout so")),
    (linger_timeout, option_rules::timeout_or_none, help("for input behind the last reply")),
    (linger_bytes_max, byte_count, help("how much of it")),
    (accept_retry, range(milliseconds(1), seconds(60)), help("pause without descriptors")),
    (opening_timeout, option_rules::timeout, help("a TLS handshake must be complete by then")),
    (openings_per_turn_max, range(1, 1 << 20), help("TLS handshakes answered in one turn")),
    (sealed_high_bytes, byte_count, at_least(1), help("unsent ciphertext; above it output waits")),
    (requests_per_connection_max, help("0: no limit")),
    (websocket_subscriptions_max, range(1, 1 << 20), help("topics of one WebSocket connection")),
    (form_files_max, range(1, 1 << 20), option_rules::form_files_max),
    (idle_timeout, option_rules::timeout, help("close a connection that is idle so long")),
    (head_timeout, option_rules::timeout, help("a request head must be complete by then (408)")),
    (content_timeout, option_rules::timeout, help("request content may pause for so long (408)")),
    (handler_timeout, option_rules::timeout, help("a later handler is cancelled (503)")),
    (half_close_grace, option_rules::timeout_or_none, help("for a client that ended its side")),
    (drain_idle, option_rules::timeout_or_none, help("for an idle connection at the end")),
    (server_name, length(0, session::server_name_bytes_max), help("Server field; empty: none")),
    (hosts, length(0, 256), each(length(1, 253)), option_rules::hosts),
    (trusted_proxies, length(0, 1024), option_rules::trusted_proxies),
    (forwarded, option_rules::forwarded), (forwarded_parts, length(0, 3), option_rules::parts),
    (forwarded_hops_max, range(1, http::forwarded_hops_max), option_rules::forwarded_hops_max),
    (trust_request_ids, option_rules::trust_request_ids),
    (proxy_protocol, option_rules::proxy_protocol),
    (versions, help("of HTTP on http.port: any, http1 or http2")),
    (connection_age_max, option_rules::age, help("a connection so old ends gently; 0: never")),
    (drain_notice, range(Duration{}, seconds(600)), option_rules::drain_notice),
    (drain_timeout, range(Duration{}, seconds(3600)), help("then requests and tasks are cut off")),
    limits, http2, websocket, tls, routes, forms, rate_limit, concurrency, load_shedding,
    security_headers, csrf, clients)

KATANA_DESCRIBE(LogSettings,
                (levels, reloadable, help("'info', or 'warn,access=off,database=debug'")),
                (console, help("records on standard error: text, json or off")),
                (file, help("empty: none")), (json_file, help("JSON lines; empty: none")),
                (binary_file, help("unformatted records, printed by katana-log; the cheapest")),
                (file_bytes_max, help("size at which a log file is rotated")),
                (files_kept, at_most(1000), help("rotated log files to keep")),
                (synchronous, help("write synchronously in the calling thread (slow)")),
                (when_full,
                 help("what a thread does whose ring of records is full: drop the record and "
                      "count it, or block until there is space")),
                (output_bytes_max, at_least(config::kibibytes(128)),
                 help("records that wait for a file or a console that takes none; beyond that they "
                      "are dropped and counted")))

KATANA_DESCRIBE(CrashSettings,
                (report, help("write a report when the program crashes: signal, stacks, requests "
                              "in flight, last log records")),
                (folder, length(0, 4000),
                 help("where reports are written; empty: in the folder of log.json_file, log.file "
                      "or log.binary_file, else in STATE_DIRECTORY, else to standard error")),
                (keep, range(1, 1000), help("newest reports to keep; a start removes older ones")))

KATANA_DESCRIBE(ProfileSettings,
                (enabled, help("serve GET /operations/profile where the operations pages are: a "
                               "profile of the process, for some seconds")),
                (seconds_max, range(1, 3600), help("longest profile that may be asked for")),
                (hertz_max, range(1, 1000),
                 help("most samples that may be asked for, each second of CPU time of a thread")))

KATANA_DESCRIBE(
    OperationsSettings,
    (address, length(1, 64), help("numeric address of the operations listener")),
    (port, help("port of a separate listener for /metrics, details of /health and /ready, "
                "and dashboards; 0: http.port serves them")),
    (token, length(0, 512), secret,
     help("bearer token that these pages require (Authorization: Bearer …); empty: none")))

KATANA_DESCRIBE(MetricsSettings,
                (names, help("katana: katana_* alone; opentelemetry: also the names of "
                             "OpenTelemetry, such as http_server_request_duration_seconds")))

KATANA_DESCRIBE(
    RequestSettings, (ids, help("accept or make X-Request-Id, and return it")),
    (access_log, help("one record for each request; its level: log.levels access=…")),
    (queries, help("false: logs omit the query of a target")),
    (secret_parameters, length(0, 256), each(length(1, 256)),
     help("further query parameters whose values logs replace with ***")),
    (metrics, help("count requests and measure their durations, by route")),
    (duration_buckets, length(0, 64),
     help("upper bounds of the histogram buckets in /metrics; empty: 15 from 100us to 30s")),
    (slow, reloadable, range(Duration{}, seconds(3600)),
     help("log requests that take longer as slow; 0: never")),
    (failure_records_max, at_most(100'000),
     help("failure records per kind and route in each failure_period; 0: none")),
    (failure_period, option_rules::timeout, help("period in which failure_records_max applies")),
    (check_replies, help("replies that depart from the OpenAPI document: report: log each place "
                         "once; refuse: send 500 instead; development: report where development "
                         "is true")))

KATANA_DESCRIBE(
    UpstreamSettings, (url, length(1, 2000), help("requested with GET; any 2xx status is healthy")),
    (timeout, range(milliseconds(1), seconds(3600)), help("a response must be complete by then")),
    (fresh_for, range(Duration{}, seconds(24 * 3600)),
     help("how long a result is reused before the next request")),
    (authorities_file, help("PEM file of additional certificate authorities; empty: none")))

KATANA_DESCRIBE(MonitorSettings,
                (stall, range(Duration{}, seconds(3600)),
                 help("report a reactor that one callback blocks for longer; 0: never")),
                (upstreams, help("services that must be healthy for this one to be ready")))

KATANA_DESCRIBE(PoolSettings, (threads_min, range(1, 1024), help("threads that always run")),
                (threads_max, at_most(1024), help("0: one for each CPU")),
                (queue_max, range(1, 1 << 24),
                 help("jobs that may wait; further submissions fail")))

KATANA_DESCRIBE(DatabaseSettings,
                (url, length(1, 4000), secret,
                 help("database of the program, as sqlite:FILE, sqlite::memory: or "
                      "postgresql://USER@HOST/NAME; the scheme names the driver")),
                (password_file, length(0, 4000),
                 help("PostgreSQL: a file with the password, read for each connection")),
                (migrations, help("a folder of NUMBER_name.sql; empty: those of the program")),
                (durability, help("full: an acknowledged write survives a loss of power")),
                (readers, range(1, 64),
                 help("threads and connections for reads that reactors do not answer themselves")),
                (timeout, range(milliseconds(1), seconds(3600)), help("deadline of a statement")),
                (wait_max, range(milliseconds(1), seconds(3600)),
                 help("how long a call may wait in a queue before it is refused")),
                (start_wait, range(seconds(0), seconds(315360000)),
                 help("how long the program waits at its start for a database that is down, and "
                      "answers 503; none: for ever under systemd or Kubernetes, else 5s; 0s: it "
                      "ends")),
                (cache, help("SQLite: page cache of each connection")),
                (group_max, range(1, 100'000), help("writes that one commit may include")),
                (connections_max, range(1, 1000),
                 help("PostgreSQL: connections of the process, all reactors together")),
                (slow_statement, reloadable, range(Duration{}, seconds(3600)),
                 help("log statements that take longer as slow; 0: never")),
                (statement_metrics, help("count statements and measure their durations, by name")),
                sqlite, postgres)

KATANA_DESCRIBE(
    ProcessSettings,
    (user, length(0, 64),
     help("name or number of the user that the program becomes when root starts it, before it "
          "opens a file; empty: no change")),
    (group, length(0, 64), help("its group; empty: the user's own, and all others of the user")),
    (sandbox,
     help("on: only files and system calls that this configuration needs (Landlock, seccomp); "
          "report: log that list, and let the kernel's audit log name other calls")),
    (sandbox_read, length(0, 256), each(length(1, 4000)),
     help("more files and folders that the sandbox lets the program read")),
    (sandbox_write, length(0, 256), each(length(1, 4000)),
     help("the same to write: folders in which files are made, renamed and removed")),
    (sandbox_allow, length(0, 8),
     help("what the program does that its configuration does not show: connections to others, "
          "subprocesses, libraries that it loads once it has started")),
    (refused_call,
     help("what becomes of a system call that the sandbox refuses: error: EPERM, counted and told "
          "once; end: the process is killed")),
    (umask, length(0, 4),
     help("octal rights that files of the program do not get; empty: 027, or what was stricter")),
    (core_dumps, help("true: core dumps and debuggers of the same user see the memory, keys and "
                      "passwords included")))

KATANA_DESCRIBE(JobRetrySettings,
                (retries_max,
                 help("how often a tick whose run failed is tried again; unset: as the program "
                      "says")),
                (delay, help("before the first retry; twice as long before each further one")),
                (delay_max, help("the longest delay")))

KATANA_DESCRIBE(JobSettings, (enabled, help("false: the job does not run")),
                (schedule, length(0, 120),
                 help("'every 10m', 'after 30s' or cron, such as '15 3 * * *' (UTC) or "
                      "'CRON_TZ=Europe/Berlin 15 3 * * *'; empty: the program's own")),
                (retry, help("further attempts after a failure, before the next tick")))

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
