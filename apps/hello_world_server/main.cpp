// hello_world_server: the smallest program on KATANA, and the one that its cost is measured with.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "hello_world_server/routes.hpp"
#include "katana/host/access_log.hpp"
#include "katana/host/http_server.hpp"
#include "katana/host/observability.hpp"
#include "katana/log/log.hpp"

namespace {

constexpr const char* program = "hello_world_server";

struct Flags {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  unsigned threads = katana::host::usable_cpus();
  std::string engine = "epoll-edge";
  bool pin = false;
  bool close_after_each = false;
  std::uint32_t connections_max = 16 * 1024;
  double drain_s = 10;
  std::string access_log;  // empty: none
  std::uint64_t websocket_bytes_max = 1024 * 1024;
  bool websocket_deflate = false;
};

void describe(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", fmt::format("{} {}", program, KATANA_VERSION));
  const CLI::Validator not_empty(
      [](std::string& text) { return text.empty() ? std::string("must not be empty") : ""; }, "");
  app.add_option("--address", flags.address, "numeric address to listen on")->capture_default_str();
  app.add_option("--port", flags.port, "port to listen on; 0 lets the kernel choose")
      ->envname("HELLO_PORT")
      ->check(not_empty)
      ->check(CLI::Range(0u, 65535u))
      ->capture_default_str();
  app.add_option("--threads", flags.threads,
                 "reactors, one thread each; default: CPUs of the affinity mask")
      ->envname("HELLO_THREADS")
      ->check(CLI::Range(1u, 1024u));
  app.add_option("--engine", flags.engine, "epoll-edge, epoll-level, io_uring or auto")
      ->envname("HELLO_ENGINE")
      ->capture_default_str();
  app.add_flag("--pin", flags.pin, "pin each reactor to a CPU");
  app.add_flag("--close-after-each", flags.close_after_each,
               "end every connection after one request");
  app.add_option("--connections-max", flags.connections_max, "open connections of each reactor")
      ->check(CLI::Range(1u, 1u << 24))
      ->capture_default_str();
  app.add_option("--drain-s", flags.drain_s, "seconds that SIGTERM gives to requests in flight")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--access-log", flags.access_log,
                 "a record of every request: FILE (JSON lines if it ends in .jsonl), or - for "
                 "standard error; default: none")
      ->check(not_empty);
  app.add_option("--websocket-bytes-max", flags.websocket_bytes_max,
                 "of one message on /ws; a larger one ends its connection")
      ->check(CLI::Range(1u, 1u << 30))
      ->capture_default_str();
  app.add_flag("--websocket-deflate", flags.websocket_deflate,
               "agree to compression on /ws (permessage-deflate)");
}

// Null: none is wanted.
katana::Result<std::unique_ptr<katana::log::Log>> start_access_log(const std::string& file) {
  using namespace katana;
  if (file.empty()) return nullptr;
  log::Options options;
  if (file == "-") {
    options.sinks = {log::console()};
  } else {
    options.sinks = {file.ends_with(".jsonl") ? log::json_file(file) : log::file(file)};
  }
  return log::Log::start(std::move(options));
}

int fail(int status, std::string_view message) {
  // One line, whatever the library's message looks like.
  std::string line(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "{}: {}\n", program, line);
  return status;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

int serve(const Flags& flags, katana::host::EngineKind engine,
          std::chrono::steady_clock::time_point start) {
  using namespace katana;
  auto observability = host::Observability::make();
  if (!observability) return fail(1, observability.error().describe());
  auto service = hello::make_service([&](Group& routes) { (*observability)->mount(routes); });
  if (!service) return fail(1, service.error().describe());
  host::raise_descriptor_limit();
  host::HttpServerOptions options;
  options.address = flags.address;
  options.port = flags.port;
  options.reactors = flags.threads;
  options.engine = engine;
  options.pin = flags.pin;
  options.http.requests_per_connection_max = flags.close_after_each ? 1 : 0;
  options.reactor.engine.links_max = flags.connections_max;
  options.http.websocket.limits.message_bytes_max = flags.websocket_bytes_max;
  options.http.websocket.limits.frame_bytes_max = flags.websocket_bytes_max;
  options.http.websocket.limits.fragments_max = 128 * 1024;
  if (flags.websocket_deflate) options.http.websocket.deflate.inflaters_max = 32;
  options.observability = observability->get();
  options.drain_timeout = nanoseconds(static_cast<std::int64_t>(flags.drain_s * 1e9));
  auto access_log = start_access_log(flags.access_log);
  if (!access_log) return fail(1, access_log.error().describe());
  host::AccessLog access(*access_log ? (*access_log)->logger("access") : log::Logger());
  if (*access_log) options.http.observer = &access;
  host::HttpServer server(options, *service);
  if (auto started = server.start(); !started) {
    const bool is_usage = started.error().code() == Code::invalid_argument;
    return fail(is_usage ? 2 : 1, started.error().describe());
  }

  const core::MemoryBudget budget = server.memory_budget();
  constexpr double mib = 1024.0 * 1024.0;
  fmt::print(stderr,
             "{}: memory budget of each reactor: connections {:.1f} MiB, input {:.1f} MiB, output "
             "{:.1f} MiB, engine {:.2f} MiB; "
             "reserved, and used as load asks for it\n",
             program, static_cast<double>(budget.connections) / mib,
             static_cast<double>(budget.carry) / mib, static_cast<double>(budget.output) / mib,
             static_cast<double>(budget.engine) / mib);
  fmt::print("{}: ready on {} (engine {}, {} reactors) in {:.1f} ms\n", program, server.url(),
             host::engine_name(engine), server.reactor_count(), milliseconds_since(start));
  std::fflush(stdout);

  const host::ServerReport report = server.run();
  fmt::print(
      stderr,
      "{}: stopped: {} requests on {} connections finished, {} connections cut off, {} failures\n",
      program, report.requests, report.connections, report.cut_off, report.failures);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const auto start = std::chrono::steady_clock::now();
  CLI::App app(
      "Answers GET /, /plaintext, /json, /hello/{name}, /bytes/{n}, /metrics, /health, /ready and "
      "any method on /echo, and WebSocket on /ws.",
      program);
  Flags flags;
  describe(app, flags);
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(2, fmt::format("{} (see --help)", error.what()));
  }
  const auto engine = katana::host::choose_engine(flags.engine);
  if (!engine) {
    const bool is_usage = engine.error().code() == katana::Code::invalid_argument;
    return fail(is_usage ? 2 : 1, engine.error().describe());
  }
  if (!engine->note.empty()) fmt::print(stderr, "{}: {}\n", program, engine->note);
  try {
    return serve(flags, engine->kind, start);
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}
