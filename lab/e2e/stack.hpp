// Stack: a server put together from the seven systems, or from as many of them as are asked for.
//
// Owns       every system it was told to have.
// Thread     one; serve() runs the reactors.
// Allocates  when made.
// Fails      make() says which part did not start.
// Invariant  parts are made in the order of `phases`, and end in reverse.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/registry/registry.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/http/server/access_log.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/operations.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/database/database.hpp"
#include "lab/process/server_process.hpp"

namespace e2e {

// `binary`: in the background, into a file that katana-log prints.
enum class Logging : std::uint8_t { off, background, binary, synchronous };

struct StackOptions {
  std::uint16_t port = 0;
  unsigned reactors = 1;
  std::string engine = "epoll-edge";
  std::string folder;  // for the log and the database
  bool configuration = false;
  Logging logging = Logging::off;
  bool metrics = false;
  unsigned pool_threads = 0;  // 0: no pool
  bool database = false;
  unsigned readers = 4;
  bool pool_reads = false;  // none on the reactor: every read is the pool's
  bool durable = true;
  std::int64_t rows = 10'000;
  bool registry = false;
  bool count_heap = false;
};

// A server with the first `count` systems, 1 to 7, and the name of the last of them. The order is
// that in which they are made. The network is the first: without it, no request can be sent.
StackOptions with_systems(int count);
const char* system_added(int count);

// From "KEY=VALUE" each, and back; systems=N is with_systems(N), before the others are set.
katana::Result<StackOptions> read_options(const std::vector<std::string>& settings);
// A line for each key.
std::string options_help();
std::vector<std::string> to_arguments(const StackOptions& options);
// This program, serving.
katana::lab::ServerCommand serving(const StackOptions& options);

struct Phase {
  std::string name;
  double ms = 0;
};
// The line "phase NAME MS" that a server prints of each before it is ready, and back.
std::string to_line(const Phase& phase);
std::vector<Phase> phases_in(const std::string& output);

class Stack {
 public:
  static katana::Result<std::unique_ptr<Stack>> make(const StackOptions& options);
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  katana::server::HttpServer& server() noexcept { return *server_; }
  const std::vector<Phase>& phases() const noexcept { return phases_; }

 private:
  explicit Stack(const StackOptions& options) : options_(options) {}
  katana::Result<void> start();
  template <class Start>
  katana::Result<void> phase(const char* name, bool wanted, Start begin_part);
  katana::Result<void> read_configuration();
  katana::Result<void> start_log();
  katana::Result<void> start_metrics();
  katana::Result<void> start_pool();
  katana::Result<void> open_database();
  katana::Result<void> seal_registry();
  katana::Result<void> start_server();
  std::string statistics() const;

  StackOptions options_;
  std::vector<Phase> phases_;
  std::unique_ptr<katana::log::Log> log_;
  std::unique_ptr<katana::server::AccessLog> access_;
  std::unique_ptr<katana::server::Observability> observability_;
  const katana::server::OperationsGuard guard_{{.addresses = {"127.0.0.1"}}};
  std::unique_ptr<katana::thread::Pool> pool_;
  std::unique_ptr<katana::database::Database> database_;
  std::unique_ptr<katana::registry::Services> services_;
  std::unique_ptr<katana::Service> service_;
  std::unique_ptr<katana::server::HttpServer> server_;
};

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
