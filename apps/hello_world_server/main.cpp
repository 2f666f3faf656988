// hello_world_server: the smallest program on KATANA, and the one that its cost is measured with.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hello_world_server/laboratory.hpp"
#include "hello_world_server/routes.hpp"
#include "katana/host/access_log.hpp"
#include "katana/host/http_server.hpp"
#include "katana/host/observability.hpp"
#include "katana/host/operations.hpp"
#include "katana/log/log.hpp"
#include "katana/service/middleware/compression.hpp"
#include "tls_flags.hpp"

namespace {

constexpr const char* program = "hello_world_server";

struct Flags {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  unsigned threads = katana::host::usable_cpus();
  std::string engine = "epoll-edge";
  bool pin = false;
  bool close_after_each = false;
  bool http2_only = false;
  std::uint32_t connections_max = 16 * 1024;
  std::uint64_t output_mib = 256;
  std::uint64_t held_mib = 0;
  double drain_s = 10;
  std::vector<std::string> hosts;
  std::string access_log;  // empty: none
  std::string files;       // a folder; empty: none
  bool compress = false;
  std::vector<std::string> laboratory;
  katana::apps::TlsFlags tls;
  double hsts_s = 0;
  std::uint64_t websocket_bytes_max = 1024 * 1024;
  bool websocket_deflate = false;
};

void describe(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", fmt::format("{} {}", program, KATANA_VERSION));
  const CLI::Validator not_empty(
      [](std::string& text) { return text.empty() ? std::string("must not be empty") : ""; }, "");
  app.add_option("--address", flags.address, "numeric address to listen on")->capture_default_str();
  app.add_option("--host", flags.hosts,
                 "one more name of this server, to which /metrics and the details of /health and "
                 "/ready answer; they do to localhost and the address")
      ->allow_extra_args(false);
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
  app.add_flag("--http2-only", flags.http2_only,
               "refuse HTTP/1.1; otherwise a connection speaks what it begins with");
  app.add_option("--connections-max", flags.connections_max, "open connections of each reactor")
      ->check(CLI::Range(1u, 1u << 24))
      ->capture_default_str();
  app.add_option("--output-mib", flags.output_mib,
                 "blocks of each reactor for what peers have yet to take, in MiB")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  app.add_option("--held-mib", flags.held_mib,
                 "contents, messages and suspended handlers of each reactor, in MiB; 0: 16 KiB a "
                 "connection, 64 MiB at least")
      ->check(CLI::Range(0u, 1u << 20))
      ->capture_default_str();
  app.add_option("--drain-s", flags.drain_s, "seconds that SIGTERM gives to requests in flight")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option(
         "--access-log", flags.access_log,
         "a record of every request: FILE (JSON lines if it ends in .jsonl, for katana-log if "
         "in .bin), or - for standard error; default: none")
      ->check(not_empty);
  app.add_option("--websocket-bytes-max", flags.websocket_bytes_max,
                 "of one message on /ws; a larger one ends its connection")
      ->check(CLI::Range(1u, 1u << 30))
      ->capture_default_str();
  app.add_flag("--websocket-deflate", flags.websocket_deflate,
               "agree to compression on /ws (permessage-deflate)");
  app.add_option("--files", flags.files,
                 "a folder whose files are served below /files; default: none")
      ->check(not_empty);
  app.add_flag("--compress", flags.compress,
               "compress files, and decode what is sent to /upload, which answers with its size");
  // Of the laboratory alone (docs/guides/laboratory.md), so --help is silent about it.
  app.add_option("--lab", flags.laboratory)->group("")->allow_extra_args(false);
}

void describe_tls(CLI::App& app, Flags& flags) {
  flags.tls.describe(app);
  app.add_option("--hsts-s", flags.hsts_s,
                 "seconds for which browsers shall come back by HTTPS only; 0: not said")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
}

void tell_reload(const katana::Result<std::vector<std::string>>& reloaded) {
  if (!reloaded) {
    fmt::print(stderr, "{}: certificates stay as they were: {}\n", program,
               reloaded.error().describe());
    return;
  }
  fmt::print(stderr, "{}: certificates read again\n", program);
  for (const std::string& note : *reloaded) fmt::print(stderr, "{}: {}\n", program, note);
}

// Null: none is wanted.
katana::Result<std::unique_ptr<katana::log::Log>> start_access_log(const std::string& file) {
  using namespace katana;
  if (file.empty()) return nullptr;
  log::Options options;
  if (file == "-") {
    options.sinks = {log::console()};
  } else {
    options.sinks = {file.ends_with(".jsonl") ? log::json_file(file)
                     : file.ends_with(".bin") ? log::binary_file(file)
                                              : log::file(file)};
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

// How much was sent, once it was decoded.
katana::Task<void> measure(katana::ContentReader content, katana::ReplyWriter reply) {
  std::size_t bytes = 0;
  for (katana::Text piece = co_await content.read(); !piece.empty();
       piece = co_await content.read()) {
    bytes += piece.size();
  }
  const katana::Text answer = katana::format_text("{} bytes", bytes);
  reply.begin(200, "text/plain", static_cast<std::int64_t>(answer.size()));
  co_await reply.write(answer.bytes());
}

// What the flags say; the rest is the defaults.
katana::Result<katana::host::HttpServerOptions> server_options(const Flags& flags,
                                                               katana::host::EngineKind engine) {
  using namespace katana;
  host::HttpServerOptions options;
  options.address = flags.address;
  options.port = flags.port;
  options.reactors = flags.threads;
  options.engine = engine;
  options.pin = flags.pin;
  options.http.requests_per_connection_max = flags.close_after_each ? 1 : 0;
  options.http2_only = flags.http2_only;
  options.reactor.engine.links_max = flags.connections_max;
  options.reactor.output_blocks_max =
      flags.output_mib * 1024 * 1024 / options.reactor.output_block_bytes;
  options.reactor.output_blocks_reserve = std::min<std::size_t>(
      options.reactor.output_blocks_reserve, options.reactor.output_blocks_max / 8);
  options.reactor.held_bytes_max = flags.held_mib * 1024 * 1024;
  options.http.websocket.limits.message_bytes_max = flags.websocket_bytes_max;
  options.http.websocket.limits.frame_bytes_max = flags.websocket_bytes_max;
  options.http.websocket.limits.fragments_max = 128 * 1024;
  options.http.websocket.deflate.enabled = flags.websocket_deflate;
  options.drain_timeout = nanoseconds(static_cast<std::int64_t>(flags.drain_s * 1e9));
  if (auto taken = hello::take_back(flags.laboratory, options); !taken) {
    return std::unexpected(taken.error());
  }
  auto secure = flags.tls.options();
  if (!secure) return std::unexpected(secure.error());
  options.tls = *std::move(secure);
  options.on_certificates = tell_reload;
  options.reactor.opening_timeout = flags.tls.handshake_timeout();
  options.hsts = nanoseconds(static_cast<std::int64_t>(flags.hsts_s * 1e9));
  return options;
}

void print_budget(const katana::core::MemoryBudget& budget) {
  constexpr double mib = 1024.0 * 1024.0;
  fmt::print(
      stderr,
      "{}: memory budget of each reactor: connections {:.1f} MiB, input {:.1f} MiB, output "
      "{:.1f} MiB, engine {:.2f} MiB, held {:.1f} MiB, shared {:.2f} MiB, in all {:.1f} MiB; "
      "reserved, and used as load asks for it\n",
      program, static_cast<double>(budget.connections) / mib,
      static_cast<double>(budget.carry) / mib, static_cast<double>(budget.output) / mib,
      static_cast<double>(budget.engine) / mib, static_cast<double>(budget.held) / mib,
      static_cast<double>(budget.shared) / mib, static_cast<double>(budget.total()) / mib);
}

int serve(const Flags& flags, katana::host::EngineKind engine,
          std::chrono::steady_clock::time_point start) {
  using namespace katana;
  auto observability = host::Observability::make();
  if (!observability) return fail(1, observability.error().describe());
  const host::OperationsGuard guard({.addresses = {flags.address}, .hosts = flags.hosts});
  auto service = hello::make_service([&](Group& routes) {
    (*observability)->mount(routes, guard);
    Group inner = routes.group("");
    if (flags.compress) inner.use(compression()).use(decompression()).post("/upload", measure);
    if (!flags.files.empty()) inner.files("/files", flags.files);
  });
  if (!service) return fail(1, service.error().describe());
  host::raise_descriptor_limit();
  auto options = server_options(flags, engine);
  if (!options) return fail(2, options.error().describe());
  options->observability = observability->get();
  auto access_log = start_access_log(flags.access_log);
  if (!access_log) return fail(1, access_log.error().describe());
  host::AccessLog access(*access_log ? (*access_log)->logger("access") : log::Logger());
  if (*access_log) options->http.observer = &access;
  host::HttpServer server(*options, *service);
  if (auto started = server.start(); !started) {
    const bool is_usage = started.error().code() == Code::invalid_argument;
    return fail(is_usage ? 2 : 1, started.error().describe());
  }

  for (const std::string& note : server.certificate_notes()) {
    fmt::print(stderr, "{}: {}\n", program, note);
  }
  print_budget(server.memory_budget());
  fmt::print("{}: ready on {} (engine {}, {} reactors) in {:.1f} ms\n", program, server.url(),
             host::engine_name(engine), server.reactor_count(), milliseconds_since(start));
  std::fflush(stdout);

  fmt::print(stderr, "{}: {}\n", program, server.run().describe());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const auto start = std::chrono::steady_clock::now();
  CLI::App app(
      "Answers GET /, /plaintext, /json, /hello/{name}, /bytes/{n}, /metrics, /health, /ready, "
      "/files/… (--files), any method on /echo, and WebSocket on /ws.",
      program);
  Flags flags;
  describe(app, flags);
  describe_tls(app, flags);
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
