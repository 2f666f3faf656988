// HttpServer: reactors, listeners, signals and shutdown of a program that serves HTTP.
//
// Owns       one reactor, protocol and dispatcher per thread. The first reactor runs on the
//            caller's thread. A server with one reactor is thus a process with one thread. Its
//            system calls need no shared descriptor table.
// Borrows    the Service, which must outlive it.
// Thread     one; blocks SIGINT and SIGTERM from construction on.
// Fails      start() names the address or resource; run() ends by a signal.
// Invariant  on SIGTERM or SIGINT no accepted request is lost before drain_timeout: requests in
//            progress are finished. A second signal ends the process at once. With restart.enabled
//            SIGUSR2 starts another process that serves before this one ends, and no connection is
//            refused.
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

  // Listens. From then on the kernel accepts connections, and run() serves them. Before that it
  // fails with every mistake in the options.
  Result<void> start();
  // Serves until a signal ends it. Throws std::system_error when no thread is available.
  ServerReport run();

  // Ends run() as SIGTERM does, but of this server only; a second call does nothing. Any thread,
  // once started.
  void shutdown() noexcept;
  // The signal that began the shutdown: SIGTERM or SIGINT; 0: shutdown() began it, or the server
  // still serves. Set before on_drain is called. Any thread, once started.
  int ended_by() const noexcept;

  // With TLS: reads certificates and keys again; new connections use them, and none is dropped. An
  // Error changes nothing. Returns remarks about the certificates. Any thread, once started.
  Result<std::vector<std::string>> reload_certificates();
  // With TLS: remarks about the certificates that it started with.
  std::vector<std::string> certificate_notes() const;

  // The port of the first listener, once it has started; for port 0 the one that the kernel chose.
  std::uint16_t port() const noexcept;
  // The number of the operations' listener, as Exchange::listener() returns it.
  static engine::Listener operations_listener(const std::vector<int>& sockets,
                                              std::size_t listeners) noexcept {
    const std::size_t first = sockets.empty() ? 1 : sockets.size();
    return static_cast<engine::Listener>(first + listeners);
  }
  // "http://127.0.0.1:9100"; empty without a listener for operations.
  std::string operations_url() const;
  std::uint16_t operations_port() const noexcept;
  // The reactor that runs on the caller's thread, for work of the program that belongs to no
  // connection. Once started.
  net::Reactor& first_reactor() const noexcept;
  // The number of stalls; see stall_threshold. Valid once run() has returned.
  std::uint64_t stalls() const noexcept;
  EngineKind engine() const noexcept;
  unsigned reactor_count() const noexcept;
  net::MemoryBudget memory_budget() const;
  // With `pin`, the CPUs of the reactors in their order: "0 (node 0), 1 (node 0)". Otherwise empty.
  const std::string& placement() const noexcept;
  // "http://127.0.0.1:8080", "https://[::1]:8443"
  std::string url() const;
  // The URLs of HttpServerOptions::listeners, in their order: "http://[::1]:8081",
  // "unix:/run/a.sock".
  std::vector<std::string> other_urls() const;
  // The port of HttpServerOptions::listeners[index], once started; 0 for a Unix socket.
  std::uint16_t port_of_listener(std::size_t index) const noexcept;

 private:
  const std::unique_ptr<RunningServer> running_;
};

// Raises the soft limit of open files to the hard one.
void raise_descriptor_limit() noexcept;

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
