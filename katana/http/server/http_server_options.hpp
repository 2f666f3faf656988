// HttpServerOptions: everything that a server may be made with, and what run() reports.
//
// Owns       values.
// Borrows    sockets, InheritedListeners and Observability, until the server is gone.
// Thread     values; each function says which thread calls it.
// Allocates  texts and lists.
// Fails      HttpServer::start() names what is wrong with the values.
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

// A reactor whose sessions have at most so many bytes.
using ReactorMaker = std::function<std::unique_ptr<net::Reactor>(const net::ReactorOptions&,
                                                                 std::size_t session_bytes_max)>;

// What was done by the time that run() returned.
struct ServerReport {
  std::uint64_t connections = 0;  // accepted ones
  std::uint64_t requests = 0;     // whose head was accepted
  std::uint64_t cut_off = 0;      // connections that drain_timeout or a second signal ended
  std::uint64_t failures = 0;     // handlers that threw or failed
  // Spawned tasks and runs of jobs that the same ended.
  std::uint64_t tasks_cancelled = 0;
  // Reactors that did not end, with what they are busy with; empty: all have ended.
  std::string stuck = {};

  // "stopped after 3 requests on 2 connections", then what was cut off, failed or is stuck, if any.
  std::string describe() const;
};

// Where a listener accepts connections.
struct ListenerAddress {
  std::string address = "127.0.0.1";  // numeric
  std::uint16_t port = 0;             // 0: the kernel chooses
};

// Everything that a server may be made with; each member has its default.
struct HttpServerOptions {
  std::string address = "127.0.0.1";  // numeric
  std::uint16_t port = 8080;          // 0: the kernel chooses
  // Of the first listener, or of the sockets in its place.
  ProxyProtocol proxy_protocol = ProxyProtocol::off;
  int backlog = engine::ListenOptions().backlog;  // the kernel's queue of each listener
  unsigned reactors = 0;                          // 0: usable_cpus() (base/system/cpus.hpp)
  EngineKind engine = EngineKind::epoll_edge;
  // In place of make_reactor(engine, …): for an engine that http/server does not know.
  ReactorMaker make_reactor = nullptr;
  // With make_reactor: the reactors belong to the caller, who turns them until they have stopped.
  // The server has no thread and looks at no signal; shutdown() drains, and run() only reports. For
  // tests.
  bool turned_by_caller = false;
  Balance balance = Balance::connections;  // of more than one reactor
  // Each reactor to one of the CPUs that the constructing thread may run on, chosen by NUMA nodes
  // (place_reactors()), and what it allocates at the start on the node of that CPU.
  bool pin = false;
  Duration drain_timeout = seconds(10);
  // Listening sockets that were opened for this program, as by systemd; instead of address and
  // port. Borrowed; every reactor listens on each.
  std::vector<int> sockets = {};
  // More listeners, of the same service: the first, of address and port, speaks TLS if there is
  // `tls`, and each of these if it says so. At most listeners_max.
  std::vector<ListenerOptions> listeners = {};
  // Names of this server: those that ListenerOptions::redirect_to_https leads to. Empty: any.
  std::vector<std::string> hosts = {};
  // One more listener, for the pages of those who run the server (http/server/operations.hpp); the
  // same service answers there, and tells by Exchange::listener(). None: no such listener.
  std::optional<ListenerAddress> operations = {};
  // From the signal to the end of accepting; /ready answers 503 meanwhile.
  Duration drain_notice = {};
  // SIGHUP came, and the server was told to end. On the first reactor's thread: they must not
  // block. Without on_reload and TLS SIGHUP is left alone.
  std::function<void()> on_reload = {};
  std::function<void()> on_drain = {};
  // A reactor that is busy with one turn for longer is reported; 0: this is off.
  Duration stall_threshold = {};
  log::LoggerHandle stall_logger = {};  // also told of connections whose address is unknown
  // Called so often by the first reactor, as long as every reactor answers. 0: never.
  Duration heartbeat_interval = {};
  std::function<void()> on_heartbeat = {};
  net::ReactorOptions reactor = {};
  session::HttpOptions http = {};
  // What one client may have, on every listener but that of operations. The proxies of
  // http.trusted_proxies are exempt.
  net::ClientLimitOptions clients = {};
  // Handlers that failed are recorded here: cause, route, request; see failure_log.hpp, which says
  // how many. None: one line each on standard error. HttpOptions::failures, if it is set, has them
  // instead, and on_error is not called.
  std::optional<log::LoggerHandle> failure_logger = {};
  // Called with every failure, on its reactor's thread: it must not block.
  std::function<void(const Failure&)> on_error = {};
  HttpVersions versions = HttpVersions::any;  // of the first listener
  // Serves HTTPS; none: HTTP. TlsOptions::protocols is the server's to say.
  std::optional<tls::TlsOptions> tls = {};
  // With TLS: how often the files of certificates and keys are looked at. Those that changed are
  // read again, and what cannot be used changes nothing. 0: only SIGHUP has them read.
  Duration certificates_watch = {};
  // With TLS SIGHUP reads certificates and keys again, before on_reload: what came of it, or of
  // certificates_watch, as reload_certificates() says it. On the first reactor's thread.
  std::function<void(const Result<std::vector<std::string>>&)> on_certificates = {};
  // With TLS: for how long browsers shall come back by TLS only (RFC 6797). Zero: not said.
  Duration hsts = {};
  // A reactor is stuck in a handler that does not return, and the process is about to end with
  // status 1; see ReactorGroup. From a separate thread. None: the report is written to standard
  // error, and a server with one reactor pays less for its system calls (decision 0007).
  std::function<void(const ServerReport&)> on_stuck = {};
  // SIGUSR2 has a successor started, which gets the listening sockets; once it is ready this server
  // ends as by SIGTERM, and no client is refused (docs/guides/deploy.md).
  RestartOptions restart = {};
  // In place of start_replacement(): for programs that may start no other. Called on a separate
  // thread.
  StartReplacement start_replacement = nullptr;
  // What came of an attempt, before the drain begins; an Error: this server goes on. On that
  // thread, or the first reactor's.
  std::function<void(const Result<Replacement>&)> on_restart = {};
  // Of the program before, for what is listened on here. Borrowed until run() returns; null: none.
  InheritedListeners* inherited = nullptr;
  // Where the reactors report to; none: nowhere. Borrowed, and must outlive the server.
  Observability* observability = nullptr;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
