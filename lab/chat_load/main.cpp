// chat_load: load for a chat server, and a check of every message that it delivers.
//
//   chat_load HOST PORT [conns] [duration_s] [msg_bytes] [rate_per_s] [do_recv] [burst]
//             [--target HOST:PORT …]
//
// A message carries its sender, its number and the moment at which it was due. The program
// therefore knows which messages are missing, duplicated, out of order or late.
#include <fmt/format.h>
#include <netdb.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "apps/command_line.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "lab/chat_load/report.hpp"
#include "lab/chat_load/worker.hpp"

namespace {

using namespace katana::chat_load;

constexpr const char* program = "chat_load";
constexpr double connect_limit_s = 30;
constexpr double probe_limit_s = 10;
constexpr std::size_t targets_max = 64;

int fail(int status, std::string_view message) {
  std::string line(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "{}: {}\n", program, line);
  return status;
}

unsigned usable_cpus() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
}

struct Flags {
  ChatPlan plan;
  std::vector<std::string> more_targets;
  double quiet_s = 0;
  std::string json;
  bool quiet = false;
};

std::optional<Target> read_target(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  Target target{std::string(text.substr(0, colon)), 0};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + colon + 1, end, target.port);
  if (error != std::errc{} || at != end || target.port == 0) return std::nullopt;
  return target;
}

void describe(CLI::App& app, Flags& flags) {
  ChatPlan& plan = flags.plan;
  app.set_version_flag("--version", fmt::format("{} {}", program, KATANA_VERSION));
  app.add_option("HOST,--host", plan.targets[0].host, "name or address of the server")->required();
  app.add_option("PORT,--port", plan.targets[0].port, "its port")
      ->required()
      ->check(CLI::Range(1, 65535));
  app.add_option("--target", flags.more_targets,
                 "HOST:PORT of one more server of the same chat; connections go to them in turn")
      ->allow_extra_args(false);
  app.add_option("conns,--conns", plan.connections, "connections")
      ->check(CLI::Range(1u, (1u << 24) - 1))
      ->capture_default_str();
  app.add_option("duration_s,--duration-s", plan.duration_s, "seconds of sending")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  app.add_option("msg_bytes,--msg-bytes", plan.message_bytes,
                 "bytes of a message with its line feed: 35 at least, for its stamp")
      ->check(CLI::Range(static_cast<unsigned>(message_bytes_min), 1u << 20))
      ->capture_default_str();
  app.add_option("rate_per_s,--rate-per-s", plan.rate_per_s, "messages of each sender in a second")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("do_recv,--do-recv", plan.receive, "1: receivers read and check; 0: nobody reads")
      ->capture_default_str();
  app.add_option("burst,--burst", plan.burst,
                 "1: a second's messages of all senders at once; 0: evenly")
      ->capture_default_str();
  app.add_option("--senders", plan.senders, "only the first so many connections send");
  app.add_option("--receivers", plan.receivers, "only the last so many connections receive");
  app.add_option("--threads", plan.threads, "threads; default: CPUs of the affinity mask")
      ->check(CLI::Range(1u, 256u));
  app.add_option("--settle-s", plan.settle_s, "longest wait for what is on its way at the end")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--quiet-s", flags.quiet_s,
                 "without a delivery for so long nothing more is waited for; default: 1, and 6 "
                 "with several servers, which need as long to know that one has died")
      ->check(CLI::Range(0.1, 3600.0));
  app.add_option("--json", flags.json, "file for the figures");
  app.add_flag("--quiet", flags.quiet, "print nothing");
}

struct Addresses {
  addrinfo* first = nullptr;
  ~Addresses() {
    if (first != nullptr) freeaddrinfo(first);
  }
};

// The first Ctrl-C ends the sending, and the report is of the load so far. A second one ends the
// program.
volatile std::sig_atomic_t interrupted = 0;
void hear_interrupt() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  (void)sigaction(SIGINT, &action, nullptr);
}

// Waits until the condition is true. False: the time is over, or the user interrupts.
template <class Done>
bool wait_until(Done done, double limit_s) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  while (!done()) {
    if (interrupted != 0 || std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// The run from outside: connect, probe, begin, end. Returns what went wrong.
std::string conduct(const ChatPlan& plan, Stage& stage) {
  constexpr const char* too_early = "interrupted before the load began";
  const auto count = [](const auto& counter) { return counter.load(std::memory_order_relaxed); };
  if (!wait_until([&] { return count(stage.settled) == plan.connections; }, connect_limit_s)) {
    if (interrupted != 0) return too_early;
    return fmt::format("{} of {} connections were neither opened nor refused within {} s",
                       plan.connections - count(stage.settled), plan.connections, connect_limit_s);
  }
  if (count(stage.failed) == plan.connections) return "no connection was opened";
  stage.phase.store(Phase::probing, std::memory_order_release);
  const std::uint32_t receivers = plan.receiver_count();
  if (receivers > 0 && plan.connections > 1) {
    // Failed ones never see any; the others are in once the number stops to grow.
    std::uint32_t before = 0;
    while (count(stage.probes_seen) < receivers) {
      before = count(stage.probes_seen);
      (void)wait_until([&] { return count(stage.probes_seen) == receivers; }, probe_limit_s / 10);
      if (interrupted != 0) return too_early;
      if (count(stage.probes_seen) == before && before > 0) break;
      if (count(stage.probes_seen) == 0 && before == 0 &&
          !wait_until([&] { return count(stage.probes_seen) > 0; }, probe_limit_s)) {
        return interrupted != 0 ? too_early
                                : "no receiver gets what others say: is this a chat server?";
      }
    }
  }
  stage.begin_ns.store(katana::monotonic_now().ns + 50'000'000, std::memory_order_relaxed);
  stage.phase.store(Phase::running, std::memory_order_release);
  const double limit_s = plan.duration_s + 2 * plan.settle_s + 30;
  const auto done = [&] { return count(stage.done_receiving) == plan.threads; };
  bool ended = wait_until(done, limit_s);
  if (!ended && interrupted != 0) {
    interrupted = 0;
    stage.interrupted.store(true, std::memory_order_relaxed);
    ended = wait_until(done, limit_s);
  }
  return ended ? "" : "the run did not end in its time";
}

int run(Flags& flags) {
  ChatPlan& plan = flags.plan;
  std::vector<Addresses> found(plan.targets.size());
  std::vector<const addrinfo*> addresses;
  for (std::size_t at = 0; at < plan.targets.size(); ++at) {
    const Target& target = plan.targets[at];
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    const int error = getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints,
                                  &found[at].first);
    if (error != 0) return fail(2, fmt::format("host '{}': {}", target.host, gai_strerror(error)));
    addresses.push_back(found[at].first);
  }
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);  // a limit that is still too low shows as failures
  }
  hear_interrupt();
  Stage stage;
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint32_t index = 0; index < plan.threads; ++index) {
    workers.push_back(std::make_unique<Worker>(plan, addresses, stage, index, plan.threads));
  }
  std::vector<std::thread> threads;
  for (const auto& worker : workers) threads.emplace_back([&worker] { worker->run(); });
  const std::string problem = conduct(plan, stage);
  stage.phase.store(Phase::ended, std::memory_order_release);
  for (std::thread& each : threads) each.join();
  std::vector<SenderEnd> ends(plan.sender_count());
  for (const auto& worker : workers) worker->add_ends(ends);
  std::vector<const Statistics*> statistics;
  for (const auto& worker : workers) worker->settle_accounts(ends);
  for (const auto& worker : workers) statistics.push_back(&worker->statistics());
  const Summary summary = summarise(plan, statistics);
  if (summary.total.connected == 0) {
    return fail(1, fmt::format("no connection to {}:{}: is the server running?",
                               plan.targets[0].host, plan.targets[0].port));
  }
  if (!problem.empty()) return fail(1, problem);
  if (!flags.quiet) fmt::print("{}", to_text(plan, summary));
  if (!flags.json.empty()) {
    std::ofstream file(flags.json);
    file << to_json(plan, summary);
    if (!file.flush()) return fail(1, fmt::format("cannot write '{}'", flags.json));
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Load for a chat server, and a check of every message that it delivers.", program);
  Flags flags;
  flags.plan.threads = usable_cpus();
  flags.plan.run = static_cast<std::uint32_t>(getpid()) & 0xffff;
  describe(app, flags);
  if (const auto status = command_line::parse(app, count, arguments)) return *status;
  ChatPlan& plan = flags.plan;
  plan.threads = std::min(plan.threads, plan.connections);
  for (const std::string& text : flags.more_targets) {
    const auto target = read_target(text);
    if (!target) return fail(2, fmt::format("--target '{}': give HOST:PORT", text));
    plan.targets.push_back(*target);
  }
  if (plan.targets.size() > targets_max) {
    return fail(2, fmt::format("{} targets: give at most {}", plan.targets.size(), targets_max));
  }
  plan.quiet_s = flags.quiet_s > 0 ? flags.quiet_s : plan.targets.size() > 1 ? 6 : 1;
  try {
    return run(flags);
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}

// SPDX-License-Identifier: Apache-2.0
