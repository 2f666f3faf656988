// RunningServer: the implementation of HttpServer: its options, listeners, reactors and watches. It
// is separate so that programs that serve need none of the headers below.
//
// Owns       everything that HttpServer owns, and the objects that start() makes.
// Borrows    the Service, which must outlive it.
// Thread     as HttpServer, which forwards its calls.
// Allocates  at construction and in start().
// Fails      start() names the address or resource.
#pragma once

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
#include "katana/http/server/failure_log.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/inherited_listeners.hpp"
#include "katana/http/server/reactor_group.hpp"
#include "katana/http/server/restart.hpp"
#include "katana/http/server/stall_watch.hpp"
#include "katana/http/server/unix_socket.hpp"
#include "katana/net/reactor/client_limits.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/tls/credentials.hpp"

namespace katana::server {

// Each member does the same as the member of HttpServer with its name.
class RunningServer {
 public:
  RunningServer(const HttpServerOptions& options, const Service& service);
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  // The functions of HttpServer.
  Result<void> start();
  ServerReport run();
  void shutdown() noexcept { group_->shutdown(); }
  int ended_by() const noexcept { return group_->ended_by(); }
  Result<std::vector<std::string>> reload_certificates();
  std::vector<std::string> certificate_notes() const;
  std::uint16_t port() const noexcept { return port_; }
  std::string operations_url() const;
  std::uint16_t operations_port() const noexcept { return operations_port_; }
  net::Reactor& first_reactor() const noexcept;
  std::uint64_t stalls() const noexcept { return stall_watch_ ? stall_watch_->stalls() : 0; }
  EngineKind engine() const noexcept { return options_.engine; }
  unsigned reactor_count() const noexcept { return static_cast<unsigned>(workers_.size()); }
  net::MemoryBudget memory_budget() const;
  const std::string& placement() const noexcept { return placement_; }
  std::string url() const;
  std::vector<std::string> other_urls() const;
  std::uint16_t port_of_listener(std::size_t index) const noexcept { return ports_[index]; }

 private:
  struct Protocols;
  struct Plain;
  struct Worker;
  class Heartbeat;

  void place(unsigned count);
  // Empty: the reactor is not bound.
  std::optional<int> cpu_of(std::size_t reactor) const noexcept {
    return reactor < cpus_.size() ? std::optional(cpus_[reactor]) : std::nullopt;
  }
  void take_inherited();
  Result<void> open_unix_sockets();
  void remove_socket_files() noexcept;
  Result<void> listen(Worker& worker);
  // Listens on the first address, or on the sockets that were given in its place.
  Result<void> listen_first(Worker& worker);
  Result<void> listen_others(Worker& worker);
  Result<void> listen_for_operations(Worker& worker);
  struct Kind;
  Result<net::TransformFactory*> transforms_of(Worker& worker, const Kind& kind);
  struct Place;
  Result<void> listen_on(Worker& worker, const engine::ListenOptions& listen, const Kind& kind);
  Result<void> listen_at(Worker& worker, std::size_t place, engine::ListenOptions listen,
                         const Kind& kind);
  // Listens on the inherited sockets that exceed the number of reactors.
  Result<void> listen_on_rest(Worker& worker);
  void redirect_to_https(Worker& worker);
  std::uint16_t https_port() const;
  engine::Listener listener_of(std::size_t index) const noexcept {
    return HttpServer::operations_listener(options_.sockets, index);
  }
  void on_restart();
  std::vector<HandedSocket> sockets_to_hand() const;
  void hand_over(const std::vector<HandedSocket>& sockets, const Result<Replacement>& replacement);
  void begin_serving() noexcept;
  // The work for SIGHUP; empty: it is not handled.
  std::function<void()> reload_of_signal();
  void on_hangup();
  void read_certificates_again();
  Result<void> watch_reactors();
  // Sends new connections to these reactors; none, or all of them: to all.
  void steer_connections(std::span<const unsigned> reactors) const;
  void tell_stuck(const std::vector<unsigned>& stuck) const;
  ServerReport report() const;

  HttpServerOptions options_;
  const Result<void> checked_;                     // an Error: there are no workers
  std::unique_ptr<FailureLog> failures_;           // null: the options have one
  std::unique_ptr<tls::Credentials> credentials_;  // null: HTTP, or not started
  // The Unix sockets of options_.listeners, by position; null: an IP listener.
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
  std::unique_ptr<ReactorGroup> group_;  // ends before the objects that it borrows
  std::unique_ptr<StallWatch> stall_watch_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::unique_ptr<CertificateWatch> certificate_watch_;
  std::unique_ptr<Restart> restart_;  // ends before all of these
  std::uint16_t port_ = 0;
  std::uint16_t operations_port_ = 0;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
