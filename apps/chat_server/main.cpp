// chat_server: rooms of people who send lines of text to one another.
//
// docs/guides/chat.md has the protocol, the limits and their costs.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>

#include "apps/chat/host/chat_server.hpp"
#include "apps/command_line.hpp"
#include "katana/base/system/cpus.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/base/text/short_number.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/operations.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/stores/bus/subject.hpp"
#include "tls_flags.hpp"

namespace {

using namespace katana;

constexpr const char* program = "chat_server";
constexpr double mib = 1024.0 * 1024.0;

struct Flags {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9000;
  unsigned threads = usable_cpus();
  std::string engine = "epoll-edge";
  bool pin = false;
  std::string slow_reader = "drop";
  std::size_t queue_bytes_max = chat::HubOptions().queue_bytes_max;
  std::size_t held_mib = 0;
  std::uint32_t connections_max = 10'000;
  std::uint32_t rooms_max = 1024;
  std::size_t line_bytes_max = 8 * 1024;
  std::uint32_t rate_max = 0;
  std::uint32_t rate_burst = 100;
  double idle_s = 3600;
  double ping_s = 0;
  double send_timeout_s = 300;
  double drain_s = 10;
  bool notices = false;
  std::string farewell = chat::ChatOptions{}.farewell;
  int metrics_port = -1;
  std::vector<std::string> hosts;
  int websocket_port = -1;
  std::string bus_url = "memory:";
  std::string bus_prefix = "chat";
  std::string node;
  int node_slot = -1;
  std::uint32_t history = 0;
  std::size_t history_bytes_max = chat::HistoryOptions().bytes_max;
  std::string log_levels = "info";
  apps::TlsFlags tls;
};

void describe_network(CLI::App& app, Flags& flags) {
  app.add_option("--address", flags.address, "numeric address to listen on")->capture_default_str();
  app.add_option("--port", flags.port, "port to listen on; 0 lets the kernel choose")
      ->check(CLI::Range(0u, 65535u))
      ->capture_default_str();
  app.add_option("--threads", flags.threads,
                 "reactors, one thread each; default: CPUs of the affinity mask")
      ->check(CLI::Range(1u, 256u));
  app.add_option("--engine", flags.engine, server::engine_names())->capture_default_str();
  app.add_flag_callback(
      "--list-engines",
      [] {
        fmt::print("{}", server::list_engines());
        throw CLI::Success();
      },
      "print every engine and whether it runs here, and exit");
  app.add_flag("--pin", flags.pin, "pin each reactor to a CPU");
  app.add_option("--host", flags.hosts,
                 "accept this Host on the metrics port, beside localhost and the address")
      ->allow_extra_args(false);
  app.add_option("--metrics-port", flags.metrics_port,
                 "port of /metrics, /health and /ready on the same address; 0 lets the kernel "
                 "choose; default: none")
      ->check(CLI::Range(0, 65535));
  app.add_option("--websocket-port", flags.websocket_port,
                 "port of the same chat over WebSocket (/chat) and of a page for browsers (/); 0 "
                 "lets the kernel choose; default: none")
      ->check(CLI::Range(0, 65535));
  flags.tls.describe(app);
  app.add_option("--log", flags.log_levels, "level of the log, as in \"info\" or \"warn\"")
      ->capture_default_str();
}

void describe_cluster(CLI::App& app, Flags& flags) {
  app.add_option("--bus", flags.bus_url,
                 "bus to the other servers of this chat: nats://HOST:PORT,… or memory (no others)")
      ->capture_default_str();
  app.add_option("--bus-prefix", flags.bus_prefix,
                 "prefix of the subjects on the bus; servers with the same prefix are one chat")
      ->check([](const std::string& text) {
        const bool is_token = bus::is_subject(text) && text.find('.') == std::string::npos;
        return is_token ? std::string() : "must be one word without '.', '*' and '>'";
      })
      ->capture_default_str();
  app.add_option("--node", flags.node, "unique name of this server; default: host name and port")
      ->check([](const std::string& text) {
        return text.size() <= 255 ? std::string() : "must have at most 255 bytes";
      });
  app.add_option("--node-slot", flags.node_slot,
                 "last three digits of the client numbers of this server, unique among the "
                 "servers; default: chosen at the start")
      ->check(CLI::Range(0, chat::cluster::slots - 1));
  app.add_option("--history", flags.history,
                 "messages of a room that a new member receives; 0: none")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  app.add_option("--history-bytes-max", flags.history_bytes_max,
                 "most memory for the history of a room")
      ->check(CLI::Range(std::size_t{1024}, std::size_t{1} << 24))
      ->capture_default_str();
}

void describe_limits(CLI::App& app, Flags& flags) {
  app.add_option("--slow-reader", flags.slow_reader,
                 "when the queue of a client is full: drop its oldest messages and tell it how "
                 "many, or disconnect it")
      ->check(CLI::IsMember({"drop", "disconnect"}))
      ->capture_default_str();
  app.add_option("--queue-bytes-max", flags.queue_bytes_max,
                 "most memory for the queue of a client")
      ->check(CLI::Range(chat::queue_bytes_min, std::size_t{1} << 30))
      ->capture_default_str();
  app.add_option(
         "--held-mib", flags.held_mib,
         "most memory for all queues of a reactor, in MiB; 0: 16 KiB a connection, at least "
         "64; from 7/8 on the longest queues are dropped")
      ->check(CLI::Range(0u, 1u << 20))
      ->capture_default_str();
  app.add_option("--connections-max", flags.connections_max, "most open connections")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  app.add_option("--rooms-max", flags.rooms_max, "most rooms, including the lobby")
      ->check(CLI::Range(1u, 1u << 16))
      ->capture_default_str();
  app.add_option("--line-bytes-max", flags.line_bytes_max,
                 "most bytes of a line, without its line end")
      ->check(CLI::Range(std::size_t{64}, std::size_t{64 * 1024}))
      ->capture_default_str();
  app.add_option("--rate-max", flags.rate_max,
                 "lines a second that the server reads from a client; more wait; 0: no limit")
      ->check(CLI::Range(0u, 1'000'000u))
      ->capture_default_str();
  app.add_option("--rate-burst", flags.rate_burst,
                 "lines that a client may send at once above that rate")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  const CLI::Range seconds_range(0.0, 1e8);
  app.add_option("--idle-s", flags.idle_s,
                 "seconds without a line after which a client is disconnected; 0: never")
      ->check(seconds_range)
      ->capture_default_str();
  app.add_option("--ping-s", flags.ping_s,
                 "seconds without a line after which the server sends a ping; 0: never")
      ->check(seconds_range)
      ->capture_default_str();
  app.add_option("--send-timeout-s", flags.send_timeout_s,
                 "seconds after which a client that reads nothing is disconnected")
      ->check(CLI::Range(0.1, 1e8))
      ->capture_default_str();
  app.add_option("--drain-s", flags.drain_s,
                 "seconds after SIGTERM in which clients may read what is queued")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_flag("--notices", flags.notices,
               "tell the members of a room when a client joins or leaves");
  app.add_option("--farewell", flags.farewell, "last line when the server stops; empty: none")
      ->check([](const std::string& text) {
        const bool fits = text.size() <= 1024 && text.find('\n') == std::string::npos;
        return fits ? std::string() : "must be one line of at most 1024 bytes";
      })
      ->capture_default_str();
}

Duration duration_of(double seconds_wanted) {
  return nanoseconds(static_cast<std::int64_t>(seconds_wanted * 1e9));
}

// With a port that the kernel chooses it is another one after each start.
std::string default_node(std::uint16_t port) {
  std::array<char, 200> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return {};
  return port != 0 ? fmt::format("{}:{}", host.data(), port)
                   : fmt::format("{}#{}", host.data(), ::getpid());
}

Result<chat::ChatServerOptions> options_from(const Flags& flags, server::EngineKind engine) {
  chat::ChatServerOptions options;
  auto secure = flags.tls.options();
  if (!secure) return std::unexpected(secure.error());
  options.tls = *std::move(secure);
  options.reactor.opening_timeout = flags.tls.handshake_timeout();
  options.address = flags.address;
  options.port = flags.port;
  options.reactors = flags.threads;
  options.engine = engine;
  options.pin = flags.pin;
  options.drain_timeout = duration_of(flags.drain_s);
  options.connections_max = flags.connections_max;
  options.rooms_max = flags.rooms_max;
  options.hosts = flags.hosts;
  options.cluster.url = flags.bus_url;
  options.cluster.prefix = flags.bus_prefix;
  options.cluster.node = flags.node.empty() ? default_node(flags.port) : flags.node;
  if (flags.node_slot >= 0) {
    options.cluster.cluster.slot = static_cast<std::uint16_t>(flags.node_slot);
  }
  options.history = {flags.history, flags.history_bytes_max};
  if (flags.metrics_port >= 0) {
    options.metrics_port = static_cast<std::uint16_t>(flags.metrics_port);
  }
  if (flags.websocket_port >= 0) {
    options.websocket_port = static_cast<std::uint16_t>(flags.websocket_port);
  }
  options.reactor.held_bytes_max = flags.held_mib * 1024 * 1024;
  options.reactor.send_timeout = duration_of(flags.send_timeout_s);
  // A client that takes anything at all is alive: its queue is bounded in any case.
  options.reactor.rate_min_bytes_per_s = 1;
  chat::HubOptions& hub = options.chat.hub;
  hub.slow_reader =
      flags.slow_reader == "drop" ? chat::SlowReader::drop : chat::SlowReader::disconnect;
  hub.fit_queue(flags.queue_bytes_max);
  hub.notices = flags.notices;
  options.chat.limits.line_bytes_max = flags.line_bytes_max;
  options.chat.limits.idle_timeout = duration_of(flags.idle_s);
  options.chat.limits.ping_after = duration_of(flags.ping_s);
  options.chat.rate_max_per_s = flags.rate_max;
  options.chat.rate_burst = flags.rate_burst;
  options.chat.farewell = flags.farewell;
  return options;
}

int fail(int status, std::string_view message) {
  return command_line::fail(program, status, message);
}

int fail(const Error& error) {
  return fail(error.code() == Code::invalid_argument ? 2 : 1, error.describe());
}

void log_budget(const log::Logger& log, const chat::ChatServer& server, const Flags& flags) {
  const chat::ChatBudget budget = server.budget();
  const auto in_mib = [](auto bytes) { return static_cast<double>(bytes) / mib; };
  log.info(
      "address space reserved: {:.1f} MiB (memory is used only under load): relays {:.1f} MiB; "
      "each of {} reactors: connections {:.1f} MiB, input {:.1f} MiB, output {:.1f} MiB, queues "
      "{:.1f} MiB, engine {:.2f} MiB, shared {:.1f} MiB",
      in_mib(budget.total), in_mib(budget.relays), flags.threads,
      in_mib(budget.reactor.connections), in_mib(budget.reactor.carry),
      in_mib(budget.reactor.output), in_mib(budget.reactor.held), in_mib(budget.reactor.engine),
      in_mib(budget.reactor.shared));
}

int serve(const Flags& flags, const server::EngineChoice& engine,
          std::chrono::steady_clock::time_point start) {
  log::Options log_options;
  log_options.sinks = {log::console()};
  auto started_log = log::Log::start(log_options);
  if (!started_log) return fail(started_log.error());
  log::Log& all_logs = **started_log;
  if (auto set = all_logs.set_levels(flags.log_levels); !set) return fail(set.error());
  const log::Logger log = all_logs.logger("chat");
  if (!engine.note.empty()) log.info("{}", engine.note);

  server::raise_descriptor_limit();
  auto given = options_from(flags, engine.kind);
  if (!given) return fail(given.error());
  chat::ChatServerOptions options = *std::move(given);
  options.log = log;
  auto made = chat::ChatServer::make(options);
  if (!made) return fail(made.error());
  chat::ChatServer& server = **made;
  if (auto started = server.start(); !started) return fail(started.error());
  log_budget(log, server, flags);
  if (options.metrics_port) {
    log.info("listening on http://{}:{}/metrics", flags.address, server.metrics_port());
    if (!server::is_loopback(flags.address)) {
      log.warn("every client that reaches port {} is shown the metrics", server.metrics_port());
    }
  }
  if (options.websocket_port) {
    const char* const s = options.tls ? "s" : "";
    log.info("listening on ws{}://{}:{}/chat, with a page on http{}://{}:{}/", s, flags.address,
             server.websocket_port(), s, flags.address, server.websocket_port());
  }
  const double took_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  log.info("listening on {}", server.url(), log::field("engine", server::engine_name(engine.kind)),
           log::field("reactors", flags.threads));
  // For scripts, which read the port; where the log stands too, its line is enough.
  if (!log.enabled(log::Level::info) || !same_output(STDOUT_FILENO, STDERR_FILENO)) {
    all_logs.flush(seconds(1));  // behind the line, the log has the records above
    print_soon(STDOUT_FILENO, fmt::format("{}: listening on {} (engine {}, {} reactors) in {} ms\n",
                                          program, server.url(), server::engine_name(engine.kind),
                                          flags.threads, short_number(took_ms)));
  }

  const chat::ChatReport report = server.run();
  log.info("stopped after {} {}", report.messages, report.messages == 1 ? "message" : "messages",
           log::field("messages", report.messages), log::field("connections", report.connections),
           log::field("deliveries", report.delivered), log::field("dropped", report.dropped),
           log::field("cut_off", report.cut_off));
  all_logs.flush();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const auto start = std::chrono::steady_clock::now();
  CLI::App app("Send lines of text from each client to all others in its room.", program);
  app.set_version_flag("--version", fmt::format("{} {}", program, KATANA_VERSION));
  Flags flags;
  describe_network(app, flags);
  describe_limits(app, flags);
  describe_cluster(app, flags);
  if (const auto status = command_line::parse(app, count, arguments)) return *status;
  const auto engine = server::choose_engine(flags.engine);
  if (!engine) return fail(engine.error());
  try {
    return serve(flags, *engine, start);
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}

// SPDX-License-Identifier: Apache-2.0
