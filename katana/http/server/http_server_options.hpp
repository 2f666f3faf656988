// HttpServerOptions: all options of a server, and the report of run().
//
// Owns       values.
// Borrows    sockets, InheritedListeners and Observability, until the server is gone.
// Thread     values; each function says which thread calls it.
// Allocates  texts and lists.
// Fails      HttpServer::start() names the invalid values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/inherited_listeners.hpp"
#include "katana/http/server/listener_options.hpp"
#include "katana/http/server/replacement.hpp"
#include "katana/http/session/http_options.hpp"
#include "katana/net/engine/endpoints.hpp"
#include "katana/net/reactor/reactor_options.hpp"
#include "katana/net/tls/options.hpp"
#include "katana/observe/log/logger_handle.hpp"

namespace katana {
struct Failure;
}

namespace katana::server {

class Observability;

// Makes a reactor with sessions of at most this many bytes.
using ReactorMaker = std::function<std::unique_ptr<net::Reactor>(const net::ReactorOptions&,
                                                                 std::size_t session_bytes_max)>;

// Totals at the time when run() returned.
struct ServerReport {
  std::uint64_t connections = 0;  // accepted ones
  std::uint64_t requests = 0;     // with an accepted head
  std::uint64_t cut_off = 0;      // connections that drain_timeout or a second signal ended
  std::uint64_t failures = 0;     // handlers that threw or failed
  // Spawned tasks and runs of jobs that drain_timeout or a second signal ended.
  std::uint64_t tasks_cancelled = 0;
  // Reactors that did not end, and their present work; empty: all have ended.
  std::string stuck = {};

  // "stopped after 3 requests on 2 connections", followed by cut-off, failed and stuck work, if
  // any.
  std::string describe() const;
};

// The address on which a listener accepts connections.
struct ListenerAddress {
  std::string address = "127.0.0.1";  // numeric
  std::uint16_t port = 0;             // 0: the kernel chooses
};

// All options of a server; each has a default.
struct HttpServerOptions {
  std::string address = "127.0.0.1";  // numeric
  std::uint16_t port = 8080;          // 0: the kernel chooses
  // For the first listener, or for the sockets in its place.
  ProxyProtocol proxy_protocol = ProxyProtocol::off;
  int backlog = engine::ListenOptions().backlog;  // the kernel's queue of each listener
  unsigned reactors = 0;                          // 0: usable_cpus() (base/system/cpus.hpp)
  EngineKind engine = EngineKind::epoll_edge;
  // In place of make_reactor(engine, …): for an engine that http/server does not know.
  ReactorMaker make_reactor = nullptr;
  // With make_reactor: the reactors belong to the caller, who turns them until they have stopped.
  // The server has no thread and handles no signal; shutdown() drains, and run() only reports. For
  // tests.
  bool turned_by_caller = false;
  Balance balance = Balance::connections;  // of more than one reactor
  // Binds each reactor to one of the CPUs that the constructing thread may run on. NUMA nodes
  // decide the order (place_reactors()). The memory that a reactor allocates at the start is on the
  // node of its CPU.
  bool pin = false;
  Duration drain_timeout = seconds(10);
  // Listening sockets that another program, such as systemd, opened for this one; they replace
  // address and port. Borrowed; every reactor listens on each.
  std::vector<int> sockets = {};
  // Further listeners for the same service. The first listener, of address and port, uses TLS if
  // there is `tls`; each of these uses it if its options say so. At most listeners_max.
  std::vector<ListenerOptions> listeners = {};
  // The names of this server to which ListenerOptions::redirect_to_https may redirect. Empty: any.
  std::vector<std::string> hosts = {};
  // One more listener for the operations pages (http/server/operations.hpp). The same service
  // answers there, and recognises it by Exchange::listener(). None: no such listener.
  std::optional<ListenerAddress> operations = {};
  // The time from the signal to the end of accepting; /ready answers 503 meanwhile.
  Duration drain_notice = {};
  // Called for SIGHUP, and when the server is told to end. On the first reactor's thread: they must
  // not block. Without on_reload and TLS, the server does not handle SIGHUP.
  std::function<void()> on_reload = {};
  std::function<void()> on_drain = {};
  // A reactor that is busy with one turn for longer is reported; 0: off.
  Duration stall_threshold = {};
  log::LoggerHandle stall_logger = {};  // also reports connections with an unknown address
  // Called at this interval by the first reactor, as long as every reactor answers. 0: never.
  Duration heartbeat_interval = {};
  std::function<void()> on_heartbeat = {};
  net::ReactorOptions reactor = {};
  session::HttpOptions http = {};
  // Limits of one client, on every listener but that of operations. The proxies of
  // http.trusted_proxies are exempt.
  net::ClientLimitOptions clients = {};
  // Failures of handlers are recorded here with cause, route and request; failure_log.hpp limits
  // the number. None: one line each on standard error. If HttpOptions::failures is set, it gets the
  // failures instead, and on_error is not called.
  std::optional<log::LoggerHandle> failure_logger = {};
  // Called with every failure, on its reactor's thread: it must not block.
  std::function<void(const Failure&)> on_error = {};
  HttpVersions versions = HttpVersions::any;  // of the first listener
  // Serves HTTPS; none: HTTP. The server sets TlsOptions::protocols.
  std::optional<tls::TlsOptions> tls = {};
  // With TLS: the interval at which the files of certificates and keys are checked. Changed files
  // are read again, and invalid ones change nothing. 0: only SIGHUP reads them again.
  Duration certificates_watch = {};
  // With TLS SIGHUP reads certificates and keys again, before on_reload. This gets the result, as
  // reload_certificates() returns it, and that of certificates_watch. On the first reactor's
  // thread.
  std::function<void(const Result<std::vector<std::string>>&)> on_certificates = {};
  // With TLS: the time for which browsers use only TLS for this host (RFC 6797). Zero: not sent.
  Duration hsts = {};
  // Called when a reactor is stuck in a handler that does not return. The process then ends with
  // status 1; see ReactorGroup. On a separate thread. None: the report goes to standard error, and
  // the system calls of a server with one reactor are cheaper (decision 0007).
  std::function<void(const ServerReport&)> on_stuck = {};
  // SIGUSR2 starts a successor, which gets the listening sockets. Once it is ready, this server
  // ends as by SIGTERM, and no client is refused (docs/guides/deploy.md).
  RestartOptions restart = {};
  // Replaces start_replacement(), for programs that may start no other. Called on a separate
  // thread.
  StartReplacement start_replacement = nullptr;
  // Gets the result of an attempt, before the drain begins; after an Error this server continues.
  // Called on that thread, or on the first reactor's.
  std::function<void(const Result<Replacement>&)> on_restart = {};
  // The sockets of the replaced program, for the addresses here. Borrowed until run() returns;
  // null: none.
  InheritedListeners* inherited = nullptr;
  // The reactors report their figures here; null: nowhere. Borrowed, and must outlive the server.
  Observability* observability = nullptr;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
