// Settings parts descriptions: the keys, rules and help of the groups that settings_parts.hpp has.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      as Config does.
#pragma once

#include "katana/app/option_tables.hpp"
#include "katana/app/settings_parts.hpp"
#include "katana/base/values/described.hpp"

namespace katana::app {

// Keys, their rules and their help.
KATANA_DESCRIBE(
    BearerSettings,
    (issuer, length(0, 1000), help("who signs tokens: their `iss`, exactly; required with keys")),
    (audiences, length(0, 64), each(length(1, 1000)),
     help("names of this service, of which `aud` has one; empty: tokens that have `aud` are "
          "refused")),
    (jwks_url, length(0, 2000),
     help("where the issuer publishes its keys (https); empty: nowhere")),
    (keys_file, length(0, 4000),
     help("a JSON file with them (JWK set), in place of the URL; read again by SIGHUP")),
    (algorithms, length(1, jose::algorithm_count),
     help("that keys may have; HS256 and the like only if named, and only with keys_file")),
    (types, length(1, 16), each(length(1, 100)),
     help("that `typ` of a token may be, if it is said")),
    (leeway, range(Duration{}, seconds(600)), help("how far clocks may differ")),
    (age_max, range(Duration{}, seconds(std::int64_t{366} * 24 * 3600)),
     help("since a token was issued; 0: until it expires")),
    (realm, length(0, 200), help("of WWW-Authenticate; empty: restricted")),
    (requires_tls, help("refuse tokens that come neither by TLS nor by a trusted proxy's https")),
    (roles, length(1, 200), help("where the roles are among the claims (JSON pointer)")),
    (scopes, length(1, 200), help("where the scopes are among the claims (JSON pointer)")),
    (cached_tokens_max, at_most(1 << 20), help("verified tokens that a reactor keeps; 0: none")),
    (cached_bytes_max, byte_count, at_most(std::size_t{1} << 30), help("their size, likewise")),
    (keys_fresh_max, range(seconds(60), seconds(7 * 24 * 3600)),
     help("jwks_url is asked again after so long, or earlier by its max-age")),
    (keys_kept_max, range(seconds(60), seconds(30 * 24 * 3600)),
     help("how old keys may get while jwks_url does not answer; then requests get 503")),
    (keys_timeout, range(milliseconds(10), seconds(60)), help("for one answer of jwks_url")),
    (revocations_max, range(1, 1 << 24), help("tokens and persons that are revoked at a time")))

KATANA_DESCRIBE(AuthSettings, bearer)

KATANA_DESCRIBE(
    RedisSettings,
    (url, length(0, 4000),
     help("redis://user@host:port/0, rediss://… with TLS, or unix:/path?db=0; several hosts by "
          "commas, of which the primary is found; empty: no Redis")),
    (required, help("not ready while no server is connected")),
    (password_file, length(0, 4000), help("a file with the password, read for each connection")),
    (tls, help("of rediss://…")),
    (prefix, length(0, 200),
     help("in front of every key that sessions, limits, locks and caches have; programs that "
          "share a server differ in it")),
    (timeout, option_rules::timeout, help("of a call that says nothing else")),
    (connect_timeout, option_rules::timeout, help("of one attempt")),
    (wait_while_down, range(Duration{}, seconds(600)),
     help("how long calls wait for a server that was lost, before they fail at once")),
    (stalled_after, option_rules::timeout,
     help("a server that has not answered a command for so long is given up")),
    (vanished_after, range(seconds(2), seconds(3600)),
     help("a server whose machine is gone is given up after so long")),
    (reconnect_min, range(milliseconds(1), seconds(3600)),
     help("shortest pause between two attempts; the pauses are drawn")),
    (reconnect_max, range(milliseconds(1), seconds(3600)), help("and the longest")),
    (connections_max, range(1, 100'000), help("of the process: one of each reactor")),
    (commands_max, range(1, 1 << 24), help("of a connection, that wait; more are refused")),
    (queued_bytes_max, byte_count, range(1024, std::size_t{1} << 40), help("and their bytes")),
    (reply_bytes_max, byte_count, range(1024, std::uint64_t{1} << 40), help("of one reply")),
    (lock_jobs,
     help("jobs of one instance are locked here; false: in the database of the program")),
    (job_lease, range(seconds(1), seconds(3600)),
     help("how long others wait for an instance that died in such a job; renewed while it runs")))

KATANA_DESCRIBE(
    RestartSettings,
    (enabled, help("SIGUSR2 starts a new process of the program, which takes over the listening "
                   "sockets before this one ends; false: the signal does nothing")),
    (program, length(0, 4000),
     help("path of the program that succeeds; empty: the path by which this one was started")),
    (ready_timeout, range(milliseconds(100), seconds(3600)),
     help("a successor that does not serve by then is ended, and this process goes on")),
    (idle, range(Duration{}, seconds(3600)),
     help("for so long an idle connection may still begin a request; at most half of "
          "http.drain_timeout")),
    (spread, range(Duration{}, seconds(3600)),
     help("over so long WebSockets are told to come back (1012); at most half of "
          "http.drain_timeout")),
    (launcher,
     help("start a small process before the program gives up its rights, which starts successors "
          "for it; needed with process.sandbox: on, and where root becomes process.user")))

}  // namespace katana::app

namespace katana::sessions {

KATANA_DESCRIBE(MemoryStoreOptions,
                (sessions_max, range(1, 1 << 24), help("sessions that are kept at a time")),
                (bytes_max, byte_count, at_least(std::size_t{1} << 20),
                 help("memory for them; visitors who have not logged in make room")))

}  // namespace katana::sessions

namespace katana::app {

KATANA_DESCRIBE(CsrfSettings,
                (enabled, help("refuse requests of other origins that change something (403)")),
                (origins, length(0, 256), each(length(1, 300)),
                 help("origins that may send them, such as https://app.example.org")),
                (refuse_unknown,
                 help("refuse what has cookies and neither Sec-Fetch-Site nor Origin")))

KATANA_DESCRIBE(
    SecurityHeaderSettings,
    (enabled, help("fields that keep what is answered apart from other sites")),
    (content_security_policy, length(0, 2000),
     help("what pages may load and run; 'nonce' stands for that of the reply; empty: none")),
    (policy_report_only, help("browsers report what breaks it, and do not enforce it")),
    (nosniff, help("X-Content-Type-Options: nosniff")),
    (frame_options, length(0, 100), help("X-Frame-Options; empty: none")),
    (referrer_policy, length(0, 100), help("Referrer-Policy; empty: none")),
    (opener_policy, length(0, 100), help("Cross-Origin-Opener-Policy; empty: none")),
    (resource_policy, length(0, 100), help("Cross-Origin-Resource-Policy; empty: none")),
    (embedder_policy, length(0, 100), help("Cross-Origin-Embedder-Policy; empty: none")),
    (permissions_policy, length(0, 500), help("Permissions-Policy; empty: none")))

KATANA_DESCRIBE(SessionSettings,
                (store,
                 help("off; cookies: each session is its own cookie; memory: of this process; "
                      "database: in its table katana_sessions; redis: in that of `redis`")),
                (keys, secret, length(0, 8), each(length(32, 512)),
                 help("cookies: keys of 32 bytes or more; the first seals, all open")),
                (keys_file, length(0, 4000), help("a file with those keys, one in a line")),
                (cookie_name, length(1, 100), help("name of the cookie")),
                (same_site, help("which requests of other sites' pages carry it")),
                (secure, help("send it by TLS only; false wants a name without a prefix")),
                (persistent, help("the cookie outlives the browser")),
                (idle_lifetime, range(seconds(1), seconds(366 * 24 * 3600)),
                 help("a session ends without a request for so long")),
                (absolute_lifetime, range(seconds(1), seconds(366 * 24 * 3600)),
                 help("and so long after it began or its user logged in")),
                (touch_after, range(seconds(1), seconds(24 * 3600)),
                 help("how often a request writes that it was seen, at most")),
                (cookie_bytes_max, byte_count, range(64, sessions::cookie_bytes_limit),
                 help("bytes of a session that is a cookie")),
                (stored_bytes_max, byte_count, range(256, 1 << 24),
                 help("bytes of a session in a store")),
                memory, (make_table, help("database: make the table if it is not there")))

KATANA_DESCRIBE(
    AuditSettings, (file, length(0, 4000), help("JSON lines in a chain; empty: no audit log")),
    (key, secret, length(0, 512),
     help("key of the chain, 32 bytes or more; empty: it is not keyed")),
    (key_file, length(0, 4000), help("a file with that key")),
    (sync, help("flush the disk for each event before it is acknowledged, every sync_interval, "
                "or never but at rotation and end")),
    (sync_interval, range(milliseconds(1), seconds(3600)), help("how often, with interval")),
    (file_bytes_max, byte_count, at_least(std::uint64_t{64} << 10),
     help("size at which the file is rotated; none is deleted")),
    (waiting_max, range(1, 1 << 16),
     help("events that wait to be written; more are refused (503)")))

KATANA_DESCRIBE(
    QueueHandlerSettings,
    (enabled, help("false: this process does not work the queue; its jobs wait for others")),
    (concurrency, at_most(10'000), help("jobs at a time, in this process; 0: the program's")),
    (attempts_max, at_most(1000), help("then a job is a dead letter; 0: the program's")),
    (timeout, range(Duration{}, seconds(7 * 24 * 3600)),
     help("of one attempt; 0: the program's, as in what follows")),
    (lease, range(Duration{}, seconds(24 * 3600)),
     help("how long a process that dies keeps a job from the others")),
    (backoff_min, range(Duration{}, seconds(24 * 3600)), help("wait after the first failure")),
    (backoff_max, range(Duration{}, seconds(30 * 24 * 3600)),
     help("the wait doubles with each failure up to this")),
    (poll, range(Duration{}, seconds(3600)), help("between two looks for jobs of others")),
    (done_kept, range(Duration{}, seconds(std::int64_t{3660} * 24 * 3600)),
     help("how long done jobs stay in the table")),
    (dead_kept, range(Duration{}, seconds(std::int64_t{3660} * 24 * 3600)),
     help("how long dead letters do")))

KATANA_DESCRIBE(QueueSettings,
                (make_table,
                 help("make the table katana_queue_jobs when it is first needed; false: the "
                      "program's migrations have it")),
                (notify,
                 help("PostgreSQL: queue with NOTIFY, and LISTEN on one more connection; false: "
                      "workers find jobs by their polls")),
                (payload_max, range(config::ByteCount{1}, config::mebibytes(16)),
                 help("bytes of a job, which is JSON")),
                (handlers, help("queues that the program handles, by name")))

KATANA_DESCRIBE(DocsSettings,
                (enabled, help("a page to read and try out what is served: in development, "
                               "always (on), or never (off)")),
                (path, pattern("/[a-zA-Z0-9/._~-]+"), length(2, 200), help("where it is served")),
                (origins, length(0, 20), each(pattern("https?://[a-zA-Z0-9.:-]+")),
                 help("other origins that its requests go to, as the servers of the document")))

KATANA_DESCRIBE(
    HttpCacheSettings, (enabled, help("keep replies that say for how long they are good")),
    (bytes_max, byte_count, at_least(64 * 1024),
     help("memory, with all that is kept beside the replies")),
    (entries_max, range(16, 100'000'000), help("replies that are kept")),
    (reply_bytes_max, byte_count, help("content of one reply; larger ones are not kept")),
    (fresh_max, range(milliseconds(1), seconds(366 * 24 * 3600)),
     help("nothing is kept for longer, whatever its reply says")),
    (wait_max, option_rules::timeout, help("how long a request waits for the same of another one")),
    (waiting_max, help("requests that wait so; more go on to their handlers")),
    (private_fields, length(0, 64), each(length(1, 100)),
     help("header fields whose requests are never answered from it, and fill nothing")),
    (status_name, length(0, 64), help("name in Cache-Status; empty: the field is not sent")))

KATANA_DESCRIBE(NamedCacheSettings,
                (bytes_max, help("memory, with all that is kept beside the values")),
                (entries_max, help("how many are kept")), (ttl, help("how long a value is good")),
                (negative_ttl, help("how long it is remembered that there is none; 0: not at all")),
                (refresh_ahead_percent,
                 help("of the ttl: who asks in the last part begins a load, and gets the old "
                      "value")),
                (loads_max, help("loads at a time")), (load_timeout, help("of one load")),
                (second_level, help("false: without the one of cache.second_level")),
                (lock, help("one instance loads a key, the others wait for what it puts there")))

KATANA_DESCRIBE(CacheSettings, http,
                (second_level,
                 help("redis: instances share what caches loaded that are made for it")),
                (listen,
                 help("Redis tells of what other instances change (client-side caching); false: "
                      "it is seen when second_level.memory_ttl_max is over")),
                (redis, help("a Redis for caches alone; without a url that of `redis`")),
                (caches, help("caches of the program, by name")))

}  // namespace katana::app

namespace katana::idempotency {

KATANA_DESCRIBE(MemoryStoreOptions,
                (keys_max, range(1, 100'000'000),
                 help("keys that are kept; more are refused with 503")),
                (bytes_max, byte_count, at_least(64 * 1024), help("memory of keys and replies")))

}  // namespace katana::idempotency

namespace katana::app {

KATANA_DESCRIBE(
    IdempotencySettings,
    (enabled, help("requests with an Idempotency-Key are carried out once, on routes behind the "
                   "program's Idempotency")),
    (store, help("memory: of this process; database: in its table katana_idempotency, for all "
                 "instances; redis: in the Redis of the settings redis, for all instances")),
    (required, help("400 for requests of those methods without a key")),
    (scope, help("whose keys are told apart: of each principal, which wants authentication; or "
                 "everyone's are the same")),
    (methods, length(1, 16), each(length(1, 32)),
     help("requests of other methods may have a key, which is not looked at")),
    (bare_keys, help("take keys that are not in quotes, too")),
    (kept, range(seconds(1), seconds(366 * 24 * 3600)), help("how long a reply is repeated")),
    (reply_bytes_max, byte_count, range(0, 1 << 26),
     help("content of a reply; larger ones are sent, and not kept")),
    (released_statuses, length(0, 64), each(range(200, 599)),
     help("replies of these statuses, and all of 5xx, are not kept: the request may be tried "
          "again")),
    (fields_left_out, length(0, 64), each(length(1, 100)),
     help("header fields of replies that are not kept")),
    (store_timeout, range(milliseconds(1), seconds(300)), help("of one call of the store")),
    (lease_max, range(seconds(1), seconds(24 * 3600)),
     help("how long a request whose route has no timeout keeps its key from others")),
    (runs_without_store,
     help("carry requests out while the store fails, perhaps twice; false: 503")),
    (repeated_field, length(0, 100), help("field of a repeated reply; empty: none")), memory,
    (make_table, help("database: make the table if it is not there")))

KATANA_DESCRIBE(RateLimitSettings, (enabled, help("limit the requests of each client (429)")),
                (per_second, reloadable, range(0.001, 1e8),
                 help("requests of one address, on average")),
                (burst, reloadable, range(1, 1'000'000), help("the same, at once")),
                (keys_max, range(8, 1 << 24), help("addresses that are remembered")),
                (shared, help("counted by all instances together, in the Redis of `redis`")),
                (lease, range(1, 1'000'000),
                 help("requests that an instance takes at a time, so that most need no call; 1: "
                      "each asks")),
                (when_unknown,
                 help("while Redis cannot be asked: local: this instance counts alone; refuse: "
                      "503")))

KATANA_DESCRIBE(ConcurrencySettings,
                (enabled, help("limit the requests that are served at a time (503)")),
                (running_max, reloadable, at_least(1), help("of the whole process")),
                (waiting_max, reloadable, help("requests that wait for that; more are refused")),
                (wait_max, reloadable, option_rules::timeout_or_none, help("how long they wait")),
                (busy_after, reloadable, option_rules::timeout_or_none,
                 help("a queue that stands for so long is busy")),
                (busy_wait_max, reloadable, option_rules::timeout_or_none,
                 help("how long a request waits in a busy queue")))

KATANA_DESCRIBE(LoadSheddingSettings,
                (enabled, help("refuse what a reactor cannot answer in time (503)")),
                (utilisation_max, reloadable, range(0.01, 0.999),
                 help("share of its time that a reactor may be busy")),
                (window, range(milliseconds(1), seconds(60)),
                 help("the time over which that is measured")))

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
