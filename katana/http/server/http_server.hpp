// HttpServer: reactors, listeners, signals and the end of a program that serves HTTP.
//
// Owns       one reactor, protocol and dispatcher per thread. The first reactor runs on the
//            caller's thread, so a server with one reactor is a process with one thread, whose
//            system calls need no shared descriptor table.
// Borrows    the Service, which must outlive it.
// Thread     one; blocks SIGINT and SIGTERM from construction on.
// Fails      start() names the address or resource; run() ends by a signal.
// Invariant  on SIGTERM or SIGINT nothing that was accepted is lost before drain_timeout: what
//            is in flight is finished. A second signal ends the process at once. With
//            restart.enabled SIGUSR2 has another process serve before this one ends, and no
//            connection is refused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/network.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/certificate_watch.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/failure_log.hpp"
#include "katana/http/server/inherited_listeners.hpp"
#include "katana/http/server/listener_options.hpp"
#include "katana/http/server/reactor_group.hpp"
#include "katana/http/server/restart.hpp"
#include "katana/http/server/stall_watch.hpp"
#include "katana/http/server/unix_socket.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/net/reactor/client_limits.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/tls/credentials.hpp"
#include "katana/net/tls/options.hpp"
#include "katana/observe/log/logger.hpp"

namespace katana::server {

class Observability;

// A reactor whose sessions have at most so many bytes.
using ReactorMaker = std::function<std::unique_ptr<net::Reactor>(const net::ReactorOptions&,
                                                                 std::size_t session_bytes_max)>;

// What was done by the time that run() returned.
struct ServerReport {
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;
  std::uint64_t cut_off = 0;   // connections that drain_timeout or a second signal ended
  std::uint64_t failures = 0;  // handlers that threw or failed
  // Spawned tasks and runs of jobs that the same ended.
  std::uint64_t tasks_cancelled = 0;
  // Reactors that did not end, with what they are busy with; empty: all have ended.
  std::string stuck = {};

  // "stopped: 3 requests on 2 connections finished, …", with what is stuck.
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
  // A reactor that is busy with one turn for longer is reported; 0: nobody looks.
  Duration stall_threshold = {};
  log::Logger stall_logger = {};  // also told of connections whose peer nobody could name
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
  std::optional<log::Logger> failure_logger = {};
  // Called with every failure, on its reactor's thread: it must not block.
  OnError on_error = {};
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
  // status 1; see ReactorGroup. From a thread of its own. None: the report is written to standard
  // error, and a server with one reactor pays less for its system calls (decision 0007).
  std::function<void(const ServerReport&)> on_stuck = {};
  // SIGUSR2 has a successor started, which gets the listening sockets; once it is ready this server
  // ends as by SIGTERM, and nobody is refused (docs/guides/deploy.md).
  RestartOptions restart = {};
  // In place of start_replacement(): for who may start no program. Called on a thread of its own.
  StartReplacement start_replacement = nullptr;
  // What came of an attempt, before the drain begins; an Error: this server goes on. On that
  // thread, or the first reactor's.
  std::function<void(const Result<Replacement>&)> on_restart = {};
  // Of the program before, for what is listened on here. Borrowed until run() returns; null: none.
  InheritedListeners* inherited = nullptr;
  // Where the reactors report to; none: nowhere. Borrowed, and must outlive the server.
  Observability* observability = nullptr;
};

class HttpServer {
 public:
  HttpServer(const HttpServerOptions& options, const Service& service);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Listens. Connections are accepted by the kernel from here on and served from run() on. Fails,
  // before that, with every mistake in the options.
  Result<void> start();
  // Serves until a signal says to stop. Throws std::system_error when there is no thread to be had.
  ServerReport run();

  // Ends run() as SIGTERM does, of this server alone; called again, it does nothing. Any thread,
  // once started.
  void shutdown() noexcept { group_->shutdown(); }

  // With TLS: reads certificates and keys again; new connections get them, and none is dropped. An
  // Error changes nothing. Any thread, once started. Returns what should be known of them.
  Result<std::vector<std::string>> reload_certificates();
  // With TLS, of the certificates as they were when it started: what should be known of them.
  std::vector<std::string> certificate_notes() const;

  // Of the first listener, once it has started: the one that was taken for port 0.
  std::uint16_t port() const noexcept { return port_; }
  // Of the operations' listener, in the order of Exchange::listener().
  static engine::Listener operations_listener(const std::vector<int>& sockets,
                                              std::size_t listeners) noexcept {
    return static_cast<engine::Listener>(std::max<std::size_t>(1, sockets.size()) + listeners);
  }
  // "http://127.0.0.1:9100"; empty without that listener.
  std::string operations_url() const;
  std::uint16_t operations_port() const noexcept { return operations_port_; }
  // The one that runs on the caller's thread, for what belongs to the program and to no connection.
  // Once started.
  net::Reactor& first_reactor() const noexcept;
  // Stalls that were seen; see stall_threshold. Once run() has returned.
  std::uint64_t stalls() const noexcept { return stall_watch_ ? stall_watch_->stalls() : 0; }
  EngineKind engine() const noexcept { return options_.engine; }
  unsigned reactor_count() const noexcept { return static_cast<unsigned>(workers_.size()); }
  net::MemoryBudget memory_budget() const;
  // With `pin`, the CPUs of the reactors in their order: "0 (node 0), 1 (node 0)". Else empty.
  const std::string& placement() const noexcept { return placement_; }
  // "http://127.0.0.1:8080", "https://[::1]:8443"
  std::string url() const;
  // Of HttpServerOptions::listeners, in their order: "http://[::1]:8081", "unix:/run/a.sock".
  std::vector<std::string> other_urls() const;
  // Of HttpServerOptions::listeners[index], once started; of a Unix socket 0.
  std::uint16_t port_of_listener(std::size_t index) const noexcept { return ports_[index]; }

 private:
  struct Protocols;
  struct Plain;
  struct Worker;
  class Heartbeat;

  void place(unsigned count);
  // None: it is not bound.
  std::optional<int> cpu_of(std::size_t reactor) const noexcept {
    return reactor < cpus_.size() ? std::optional(cpus_[reactor]) : std::nullopt;
  }
  void take_inherited();
  Result<void> open_unix_sockets();
  void remove_socket_files() noexcept;
  Result<void> listen(Worker& worker);
  // On the first listener, or on the sockets that were given in its place.
  Result<void> listen_first(Worker& worker);
  Result<void> listen_others(Worker& worker);
  Result<void> listen_for_operations(Worker& worker);
  struct Kind;
  Result<net::TransformFactory*> transforms_of(Worker& worker, const Kind& kind);
  struct Place;
  Result<void> listen_on(Worker& worker, const engine::ListenOptions& listen, const Kind& kind);
  Result<void> listen_at(Worker& worker, std::size_t place, engine::ListenOptions listen,
                         const Kind& kind);
  // On the sockets of the program before that are more than the reactors.
  Result<void> listen_on_rest(Worker& worker);
  void redirect_to_https(Worker& worker);
  std::uint16_t https_port() const;
  engine::Listener listener_of(std::size_t index) const noexcept {
    return operations_listener(options_.sockets, index);
  }
  void on_restart();
  std::vector<HandedSocket> sockets_to_hand() const;
  void hand_over(const std::vector<HandedSocket>& sockets, const Result<Replacement>& replacement);
  void begin_serving() noexcept;
  // What SIGHUP does; empty: it is left alone.
  std::function<void()> reload_of_signal();
  void on_hangup();
  void read_certificates_again();
  Result<void> watch_reactors();
  // New connections go to these reactors; none, or all: to all.
  void steer_connections(std::span<const unsigned> reactors) const;
  void tell_stuck(const std::vector<unsigned>& stuck) const;
  ServerReport report() const;

  HttpServerOptions options_;
  const Result<void> checked_;                     // an Error: there are no workers
  std::unique_ptr<FailureLog> failures_;           // null: the options have one
  std::unique_ptr<tls::Credentials> credentials_;  // null: HTTP, or not started
  // Of options_.listeners, by position; null: one of IP.
  std::vector<std::unique_ptr<UnixSocket>> unix_sockets_;
  std::mutex unix_mutex_;                             // of their files
  std::vector<std::uint16_t> ports_;                  // of options_.listeners
  std::vector<std::unique_ptr<Place>> places_;        // first, options_.listeners, operations
  const NetworkSet proxies_;                          // http.trusted_proxies
  const std::unique_ptr<net::ClientLimits> clients_;  // null: nothing is limited
  std::unique_ptr<net::ConnectionBalance> balance_;   // null: the kernel's choice stays
  std::vector<int> cpus_;                             // by reactor; empty: not bound
  std::string placement_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<ReactorGroup> group_;  // ends before what it borrows
  std::unique_ptr<StallWatch> stall_watch_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::unique_ptr<CertificateWatch> certificate_watch_;
  std::unique_ptr<Restart> restart_;  // ends before all of these
  std::uint16_t port_ = 0;
  std::uint16_t operations_port_ = 0;
};

// Raises the soft limit of open files to the hard one.
void raise_descriptor_limit() noexcept;

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
