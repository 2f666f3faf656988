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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/server/http_server_options.hpp"

namespace katana {
class Service;
}

namespace katana::server {

class RunningServer;

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
  void shutdown() noexcept;
  // The signal that began the end: SIGTERM or SIGINT; 0: shutdown() did, or the server serves. Set
  // before on_drain is called. Any thread, once started.
  int ended_by() const noexcept;

  // With TLS: reads certificates and keys again; new connections get them, and none is dropped. An
  // Error changes nothing. Any thread, once started. Returns what should be known of them.
  Result<std::vector<std::string>> reload_certificates();
  // With TLS, of the certificates as they were when it started: what should be known of them.
  std::vector<std::string> certificate_notes() const;

  // Of the first listener, once it has started: the one that was taken for port 0.
  std::uint16_t port() const noexcept;
  // Of the operations' listener, in the order of Exchange::listener().
  static engine::Listener operations_listener(const std::vector<int>& sockets,
                                              std::size_t listeners) noexcept {
    const std::size_t first = sockets.empty() ? 1 : sockets.size();
    return static_cast<engine::Listener>(first + listeners);
  }
  // "http://127.0.0.1:9100"; empty without that listener.
  std::string operations_url() const;
  std::uint16_t operations_port() const noexcept;
  // The one that runs on the caller's thread, for what belongs to the program and to no connection.
  // Once started.
  net::Reactor& first_reactor() const noexcept;
  // Stalls that were seen; see stall_threshold. Once run() has returned.
  std::uint64_t stalls() const noexcept;
  EngineKind engine() const noexcept;
  unsigned reactor_count() const noexcept;
  net::MemoryBudget memory_budget() const;
  // With `pin`, the CPUs of the reactors in their order: "0 (node 0), 1 (node 0)". Otherwise empty.
  const std::string& placement() const noexcept;
  // "http://127.0.0.1:8080", "https://[::1]:8443"
  std::string url() const;
  // Of HttpServerOptions::listeners, in their order: "http://[::1]:8081", "unix:/run/a.sock".
  std::vector<std::string> other_urls() const;
  // Of HttpServerOptions::listeners[index], once started; of a Unix socket 0.
  std::uint16_t port_of_listener(std::size_t index) const noexcept;

 private:
  const std::unique_ptr<RunningServer> running_;
};

// Raises the soft limit of open files to the hard one.
void raise_descriptor_limit() noexcept;

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
