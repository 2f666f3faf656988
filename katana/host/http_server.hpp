// HttpServer: reactors, listeners, signals and the end of a program that serves HTTP.
//
// Owns       one reactor, protocol and dispatcher per thread. The first reactor runs on the
//            caller's thread, so a server with one reactor is a process with one thread, whose
//            system calls need no shared descriptor table.
// Borrows    the Service, which must outlive it.
// Thread     one; blocks SIGINT and SIGTERM from construction on.
// Fails      start() names the address or resource; run() ends by a signal.
// Invariant  on SIGTERM or SIGINT nothing that was accepted is lost before drain_timeout: what
//            is in flight is finished. A second signal ends the process at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/result.hpp"
#include "katana/core/reactor.hpp"
#include "katana/host/engines.hpp"
#include "katana/host/reactor_group.hpp"
#include "katana/service/router.hpp"
#include "katana/session/http1_protocol.hpp"
#include "katana/tls/credentials.hpp"
#include "katana/tls/options.hpp"

namespace katana::host {

class Observability;

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // numeric
  std::uint16_t port = 8080;          // 0: the kernel chooses
  unsigned reactors = 0;              // 0: one for each CPU that this process may use
  EngineKind engine = EngineKind::epoll_edge;
  bool pin = false;  // reactor n to the n-th CPU that this process may use
  Duration drain_timeout = seconds(10);
  core::ReactorOptions reactor = {};
  session::HttpOptions http = {};
  // Serves HTTPS; none: HTTP. TlsOptions::protocols is the server's to say.
  std::optional<tls::TlsOptions> tls = {};
  // With TLS: for how long browsers shall come back by TLS only (RFC 6797). Zero: not said.
  Duration hsts = {};
  // Where the reactors report to; none: nowhere. Borrowed, and must outlive the server.
  Observability* observability = nullptr;
};

// What was done by the time that run() returned.
struct ServerReport {
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;
  std::uint64_t cut_off = 0;   // connections that drain_timeout or a second signal ended
  std::uint64_t failures = 0;  // handlers that threw or failed
};

class HttpServer {
 public:
  HttpServer(const HttpServerOptions& options, const Service& service);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Listens. Connections are accepted by the kernel from here on and served from run() on.
  Result<void> start();
  // Serves until a signal says to stop. Throws std::system_error when there is no thread to be had.
  ServerReport run();

  // With TLS: reads certificates and keys again; new connections get them, and none is dropped. An
  // Error changes nothing. Any thread, once started. Returns what should be known of them.
  Result<std::vector<std::string>> reload_certificates();
  // With TLS, of the certificates as they were when it started: what should be known of them.
  std::vector<std::string> certificate_notes() const;

  std::uint16_t port() const noexcept { return port_; }
  unsigned reactor_count() const noexcept { return static_cast<unsigned>(workers_.size()); }
  core::MemoryBudget memory_budget() const;
  // "http://127.0.0.1:8080", "https://[::1]:8443"
  std::string url() const;

 private:
  struct Worker;

  HttpServerOptions options_;
  std::unique_ptr<tls::Credentials> credentials_;  // null: HTTP, or not started
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<ReactorGroup> group_;  // ends before what it borrows
  std::uint16_t port_ = 0;
};

// CPUs that this process may use.
unsigned usable_cpus() noexcept;
// Raises the soft limit of open files to the hard one.
void raise_descriptor_limit() noexcept;

}  // namespace katana::host
