// Option descriptions: names, rules and help of the options of the modules below app, for the
// configuration. They do not stand beside their structs: a program that uses one module alone shall
// not compile the descriptions (base/values/described.hpp) with every header.
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      as Config does.
// Invariant  check_options() accepts each value that a description allows. Descriptions leave out
//            members that no configuration can have (callbacks, borrowed objects, hooks of tests),
//            and members that HttpSettings has under a shorter key.
#pragma once

#include "katana/app/option_tables.hpp"
#include "katana/base/values/described.hpp"

namespace katana::app::option_rules {

// Largest limit that a counter of 16 bits can hold.
inline constexpr std::size_t counted_max = UINT16_MAX - 1;

}  // namespace katana::app::option_rules

namespace katana::server {

// The members of http.listeners.
KATANA_DESCRIBE(ListenerOptions,
                (address, length(1, unix_prefix.size() + socket_path_bytes_max),
                 help("numeric address to listen on, or unix:PATH")),
                (port, help("0: the kernel chooses; a Unix socket has none")),
                (mode, length(1, 4), help("octal mode of a Unix socket's file: who may connect")),
                (owner, length(0, 64),
                 help("USER, USER:GROUP or :GROUP of that file; empty: the program's")),
                (tls, help("serve HTTPS with the certificates of http.tls")),
                (proxy_protocol,
                 help("required: connections begin with the header of the PROXY protocol, and come "
                      "from http.trusted_proxies alone")),
                (versions, help("of HTTP: any, http1 or http2")),
                (redirect_to_https,
                 help("answer 308 to the same path by https; /health and /ready are served")),
                (redirect_port, help("port named there; 0: http.port")))

}  // namespace katana::server

namespace katana::net {

// The members of http.clients.
KATANA_DESCRIBE(
    ClientLimitOptions,
    (connections_max, help("connections of one client that are open; 0: no limit, here and below")),
    (connections_per_s, at_most(clients_counted_max), help("new ones, on average")),
    (connections_burst, range(1, clients_counted_max), help("the same, at once")),
    (handshakes_max, help("handshakes of TLS in progress")),
    (requests_max, help("requests in progress, streams of HTTP/2 included (429)")),
    (received_bytes_per_s, byte_count, at_most(received_bytes_max),
     help("bytes that are read of one client")),
    (received_bytes_burst, byte_count, range(1, received_bytes_max), help("the same, at once")),
    (v4_bits, range(1, 32), help("bits of an IPv4 address that make a client")),
    (v6_bits, range(1, 128), help("the same of IPv6; 64 is what one subscriber has")),
    (clients_max, range(8, 1 << 24), help("clients that are counted; more of them share")),
    (allow, length(0, 65'536), help("networks, or unix, that alone may connect; empty: everybody")),
    (deny, length(0, 65'536), help("those that may not, whatever allow says")),
    (exempt, length(0, 1024), help("those that are not limited, as trusted_proxies are not")))

}  // namespace katana::net

namespace katana::http1 {

KATANA_DESCRIBE(
    Limits,
    (request_line_bytes_max, byte_count, at_most(head_bytes_limit - 4),
     help("request line of HTTP/1.1 (414); at least 4 less than head_bytes_max")),
    (head_bytes_max, byte_count, range(5, head_bytes_limit),
     help("request line and fields of HTTP/1.1 (431)")),
    (fields_max, range(1, http::fields_capacity), help("fields of a request (431)")),
    (chunk_line_bytes_max, byte_count, at_most(app::option_rules::counted_max),
     help("size line of one chunk, with its extensions (400)")),
    (chunk_overhead_bytes_max, byte_count, at_most(UINT32_MAX - 1),
     help("extensions, white space and leading zeros of all chunks of a request (400)")),
    (trailer_bytes_max, byte_count, at_most(app::option_rules::counted_max),
     help("trailer fields (431)")),
    (trailer_fields_max, at_most(app::option_rules::counted_max),
     help("number of trailer fields (431)")),
    (content_bytes_max, byte_count, at_most(INT64_MAX),
     help("content of a request (413); routes allow less")),
    (rate_min_bytes_per_s, at_least(1),
     help("slowest content: each byte extends http.content_timeout by its part of a second")))

}  // namespace katana::http1

namespace katana::http2 {

KATANA_DESCRIBE(
    Limits, (streams_max, range(1, UINT32_MAX), help("concurrent streams; more are refused")),
    (head_bytes_max, byte_count, at_most(head_bytes_limit),
     help("a request head, 32 bytes for each field included (431)")),
    (fields_max, range(1, http::fields_capacity), help("fields of a request (431)")),
    (head_decoded_bytes_max, byte_count,
     help("a head that is too large may decode to so much; beyond it the connection ends; at "
          "least head_bytes_max")),
    (block_bytes_max, byte_count, at_least(frame_bytes_max),
     help("a header block as sent, over all its frames")),
    (continuations_max, help("CONTINUATION frames of one header block")),
    (content_bytes_max, byte_count, at_most(INT64_MAX),
     help("content of a request (413); routes allow less")),
    (stream_window_bytes, byte_count, range(default_window_bytes, window_bytes_max),
     help("content that a client may send ahead on a stream")),
    (connection_window_bytes, byte_count, range(default_window_bytes, window_bytes_max),
     help("content that a client may send ahead on a connection")),
    (resets_max, help("budget of streams that were reset")),
    (resets_per_s, help("how fast that budget is refilled")),
    (idle_frames_max, range(64, 1'000'000), help("budget of frames that move nothing")),
    (idle_frames_per_s, at_most(1'000'000), help("how fast that budget is refilled")),
    (idle_frames_per_use, at_most(1'000), help("what a request or a DATA frame adds to it")),
    (idle_timeout, app::option_rules::timeout, help("close a connection without a stream")),
    (head_timeout, app::option_rules::timeout,
     help("the preface, a frame or a header block must be complete by then")),
    (settings_timeout, app::option_rules::timeout,
     help("the client must acknowledge our SETTINGS by then")))

}  // namespace katana::http2

namespace katana::ws {

KATANA_DESCRIBE(
    Limits,
    (message_bytes_max, byte_count, help("a message, decompressed; larger: closed with 1009")),
    (frame_bytes_max, byte_count, help("a frame as sent")),
    (fragments_max, at_least(1), help("frames of one message")),
    (message_timeout, app::option_rules::timeout_or_none,
     help("a message must be complete so long after its first byte; 0: never")),
    (ping_after, app::option_rules::timeout_or_none,
     help("silence after which a client is sent a ping; 0: never")),
    (pong_timeout, app::option_rules::timeout, help("silence after a ping that ends it")),
    (close_timeout, app::option_rules::timeout, help("how long the client's close is awaited")))

KATANA_DESCRIBE(DeflateOptions, (enabled, help("permessage-deflate (RFC 7692)")),
                (window_bits, range(9, 15), help("of what is sent: memory is 2^(bits + 3)")),
                (level, range(1, 9), help("1 is the fastest, 9 the smallest")),
                (threshold_bytes, byte_count, help("shorter messages are not compressed")))

}  // namespace katana::ws

namespace katana::session {

// subscriptions_max is http.websocket_subscriptions_max.
KATANA_DESCRIBE(WebSocketOptions, limits, deflate,
                (queue_bytes_max, byte_count, help("output waiting for one connection")),
                (slow_peer, help("what happens to a message for a connection whose queue is full")),
                (posted_bytes_max, byte_count,
                 help("messages of other threads that a reactor has not taken yet")))

KATANA_DESCRIBE(
    Http2Options, (enabled, help("accept HTTP/2: by ALPN, and by prior knowledge without TLS")),
    limits, (websocket, help("WebSocket over HTTP/2 (RFC 8441)")),
    (content_held_bytes_max, byte_count,
     help("contents and messages collected for one connection; then one stream at a time")),
    (held_bytes_max, byte_count,
     help("replies of one connection held back by closed windows; then its requests wait")),
    (stall_timeout, app::option_rules::timeout,
     help("reset a stream whose reply waits for its window so long")))

}  // namespace katana::session

namespace katana::tls {

KATANA_DESCRIBE(
    Certificate,
    (chain_file, named("certificate"),
     help("PEM file: the server's certificate first, then those that lead to the root")),
    (key_file, named("key"), help("PEM file of its private key, without a pass phrase")),
    (chain_text, named("certificate_pem"), help("the certificate itself, in place of a file")),
    (key_text, named("key_pem"), secret, help("the key itself, in place of a file")))

KATANA_DESCRIBE(
    ClientTlsOptions, (system_authorities, help("trust the authorities of this machine")),
    (authorities_file, help("PEM file of additional authorities; empty: none")),
    (authorities_text, named("authorities_pem"), help("these authorities themselves")),
    (dangerously_accept_any_certificate,
     help("DANGEROUS: anybody on the way can read and change everything; for tests only")),
    (version_min, help("oldest version of TLS")),
    (session_lifetime, app::option_rules::timeout_or_none,
     help("how long a session may be resumed; 0: never")),
    (certificate, help("shown to servers that ask for one")),
    (ciphers_1_2, help("of TLS 1.2; empty: OpenSSL's with forward secrecy and AEAD")),
    (ciphers_1_3, help("of TLS 1.3; empty: those of RFC 8446")),
    (groups, help("for the key exchange; empty: X25519, P-256, P-384")))

}  // namespace katana::tls

namespace katana::client {

KATANA_DESCRIBE(RetryOptions,
                (transient, help("also retry 429, 502, 503, 504 and lost connections")),
                (share_percent, at_most(100), help("retries and hedges per requests to an origin")),
                (per_second_min, at_most(1'000'000), help("retries allowed in any case")))
KATANA_DESCRIBE(BreakerOptions,
                (failures_percent, at_most(100), help("share that opens the breaker; 0: none")),
                (requests_min, help("requests in the window before it may open")),
                (window, app::option_rules::timeout, help("time over which failures are counted")),
                (pause, app::option_rules::timeout, help("until one request is let through")))
KATANA_DESCRIBE(ProxyOptions, (url, length(0, 2048), help("http://host:port; empty: no proxy")),
                (user, help("for Basic credentials, sent to the proxy in plaintext")),
                (password, secret, help("for Basic credentials")),
                (except, help("hosts that are asked directly")))

KATANA_DESCRIBE(
    HttpClientOptions,
    (connections_max, range(1, 1 << 20), help("connections to one origin, per reactor")),
    (idle_max, help("idle connections kept for one origin")),
    (waiting_max, help("requests that may wait for a connection; others fail")),
    (idle_timeout, app::option_rules::timeout, help("close a connection idle for so long")),
    (origins_max, range(1, 1 << 20), help("origins known at a time, per reactor")),
    (http2, help("when HTTP/2 is used")),
    (streams_max, range(1, 1000), help("concurrent requests on a connection of HTTP/2")),
    (connect_timeout, app::option_rules::timeout, help("for each address of the host")),
    (tls_timeout, app::option_rules::timeout, help("for the TLS handshake")),
    (timeout, app::option_rules::timeout, help("for a whole request, retries included")),
    (continue_timeout, app::option_rules::timeout,
     help("how long content waits for 100 Continue, when that is asked for")),
    (head_bytes_max, byte_count, range(64, 65'535), help("head of a response")),
    (content_bytes_max, byte_count, help("content that fetch() returns")),
    (stream_bytes_max, byte_count, at_least(65'535),
     help("unread content that a streamed response holds")),
    (retries_max, at_most(100), help("how often a request is sent again")),
    (backoff_min, range(milliseconds(1), seconds(60)), help("pause before the second retry")),
    (backoff_max, range(milliseconds(1), seconds(600)), help("longest pause before a retry")),
    (retry_after_max, range(Duration{}, seconds(3600)),
     help("also retry a 503 whose Retry-After is at most this; 0: never")),
    retry, breaker,
    (hedge_after, app::option_rules::timeout_or_none,
     help("send an idempotent request again after so long without a reply; 0: never")),
    (redirects_max, at_most(100), help("redirects that are followed; 0: none")),
    (redirects_to_plaintext, help("follow a redirect from https to http")),
    (tokens_in_plaintext, help("send Bearer tokens to http URLs of other machines")),
    (secret_fields, help("fields that a redirect never takes to another origin")),
    (decode, help("ask for compressed replies, and decode them")),
    (codings, help("those asked for, of gzip and what the program adds; empty: all")),
    (user_agent, length(0, 256), help("value of User-Agent; empty: no field")),
    (trace_context, help("send traceparent, tracestate and baggage where a trace is current")), tls,
    proxy, (hosts, help("numeric addresses by host name, in place of name resolution")),
    (addresses_kept, range(Duration{}, seconds(24 * 3600)),
     help("how long a resolved name is reused")),
    (failures_kept, range(Duration{}, seconds(3600)),
     help("how long a name that was not resolved fails at once")),
    (names_max, range(1, 1 << 20), help("resolved names that are kept")))

}  // namespace katana::client

namespace katana::http {

KATANA_DESCRIBE(MultipartLimits, (part_bytes_max, byte_count, help("content of one part (413)")),
                (parts_max, range(1, 1'000'000), help("parts of a form (413)")),
                (head_bytes_max, byte_count, range(64, 1 << 20), help("head of one part (413)")),
                (head_fields_max, range(1, 1000), help("fields of that head (413)")),
                (preamble_bytes_max, byte_count, at_most(1 << 20),
                 help("what may stand before the first part (413)")))

}  // namespace katana::http

namespace katana {

KATANA_DESCRIBE(RouteDefaults,
                (content_bytes_max, byte_count,
                 help("content collected for a handler whose route says nothing else (413)")),
                (streamed_bytes_max, byte_count,
                 help("the same of a handler that reads it in pieces (413)")),
                (check_steps_max, range(1, std::uint64_t{1} << 40),
                 help("steps of checking a request, or a reply, by an OpenAPI description; each of "
                      "its bytes brings 4 more (422)")))

// files_max is http.form_files_max.
KATANA_DESCRIBE(FormLimits, part, (bytes_max, byte_count, help("contents of a form (413)")),
                (part_memory_bytes_max, byte_count,
                 help("a part in memory; more goes to the form's file")),
                (memory_bytes_max, byte_count, help("the same for a whole form")),
                (folder, length(1, 4000), help("where those files are, without names")))

KATANA_DESCRIBE(FilesOptions, (index, length(0, 255), help("file for a folder; empty: none")),
                (cache_control, length(0, 256), help("Cache-Control; empty: no field")),
                (precompressed, help("serve x.br, x.zst or x.gz for x where accepted")),
                (hidden, help("serve names that begin with a dot")),
                (types, help("media types by extension, without the dot")),
                (recheck, range(Duration{}, seconds(3600)),
                 help("how long an open file is taken to be unchanged")),
                (open_files_max, range(1, 1 << 20), help("files each reactor keeps open")))

KATANA_DESCRIBE(DecompressionOptions,
                (bytes_max, byte_count,
                 help("decoded content of a request, beside what its route allows (413)")),
                (ratio_max, at_least(1),
                 help("decoded bytes for each coded one, beyond the first 64 KiB (413)")))

}  // namespace katana

namespace katana::database {

KATANA_DESCRIBE(
    SqliteLimits, (reads_waiting_max, at_least(1), help("reads that wait for the pool")),
    (writes_waiting_max, at_least(1), help("writes that wait for the writer")),
    (writer_linger, range(Duration{}, seconds(1)), help("the writer spins before it sleeps")),
    (writer_gathers, range(Duration{}, seconds(1)), help("a group waits for further writes")),
    (busy_wait, range(Duration{}, seconds(3600)), help("wait for the lock of another process")),
    (rows_max, at_least(1), help("rows of one result; more are for a stream")),
    (statements_max, at_least(1), help("statements kept prepared, for each connection")),
    (read_budget, range(microseconds(1), seconds(3600)),
     help("time of a read on the reactor; then it goes to the pool")),
    (slow_reads_remembered, help("times that a slow statement then goes to the pool at once")),
    (reads_per_turn_max, at_least(1), help("reads on the reactor in one turn")),
    (transaction_hold, app::option_rules::timeout,
     help("a transaction without a statement for so long is rolled back")),
    (streams_max, range(1, 256), help("streams at a time; each holds a connection")),
    (stream_idle, app::option_rules::timeout, help("a stream without a reader is closed")),
    (checkpoint_pages, at_least(1), help("pages of the log before it is written back")),
    (probe_interval, range(milliseconds(1), seconds(3600)),
     help("how often a file that was lost is looked for")))

KATANA_DESCRIBE(
    PostgresLimits,
    (pipeline_depth, range(1, 10'000), help("statements on their way on one connection")),
    (reads_per_sync, range(1, 10'000), help("plain reads of a turn that share a sync; 1: none do")),
    (slow_after, range(microseconds(1), seconds(3600)),
     help("no other statement goes behind one that takes longer")),
    (connect_timeout, app::option_rules::timeout, help("deadline of one attempt to connect")),
    (idle_timeout, app::option_rules::timeout, help("a connection without work is closed")),
    (backoff_min, app::option_rules::timeout, help("pause after an attempt that failed")),
    (backoff_max, app::option_rules::timeout, help("the same, after many")),
    (probe_interval, app::option_rules::timeout,
     help("how often an idle connection is asked whether the server answers")),
    (probe_timeout, app::option_rules::timeout,
     help("without an answer for so long the database is unusable")),
    (waiting_max, at_least(1), help("calls of each reactor that wait for a connection")),
    (rows_max, at_least(1), help("rows of one result; more are for a stream")),
    (replica_lag_max, range(Duration{}, seconds(24 * 3600)),
     help("how far behind a replica may be that replica() reads from; 0: none is read from")),
    (prepared_statements,
     help("false behind a pooler of transactions, such as pgbouncer: keep none")),
    (statements_max, at_least(1), help("statements kept prepared, for each connection")),
    (transaction_hold, app::option_rules::timeout,
     help("a transaction without a statement for so long is rolled back")),
    (streams_max, range(1, 1000), help("streams at a time; each holds a connection")),
    (stream_idle, app::option_rules::timeout, help("a stream without a reader is closed")))

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
