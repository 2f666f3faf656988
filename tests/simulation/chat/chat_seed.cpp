#include "tests/simulation/chat/chat_seed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tests/simulation/chat/chat_client.hpp"

namespace katana::simulation {
namespace {

constexpr const char* farewell = "* The server is stopping. Goodbye.";

bool is_steady(std::uint64_t seed) { return seed % 2 == 0; }

ChatWorldOptions draw_options(std::uint64_t seed, Random& random) {
  ChatWorldOptions options;
  options.seed = seed;
  options.faults = SimFaults::random(seed);
  if (is_steady(seed)) options.faults = options.faults.lossless();
  options.reactors = static_cast<unsigned>(random.between(1, 3));
  options.chat.hub.turn_bytes_max = random.below(2) == 0 ? 2 * 1024 : 16 * 1024;
  options.chat.hub.relay_batches_max = random.below(2) == 0 ? 1 : 64;
  // A client that reads a byte now and then must not be cut off in the middle of the proof.
  options.reactor.send_timeout = is_steady(seed) ? seconds(3600) : seconds(5);
  if (is_steady(seed)) return options;
  options.chat.hub.slow_reader =
      random.below(2) == 0 ? chat::SlowReader::drop : chat::SlowReader::disconnect;
  options.chat.hub.notices = random.below(4) == 0;
  options.connections_max = random.below(4) == 0 ? 5 : 100;
  options.rooms_max = random.below(4) == 0 ? 1 : 4;
  if (random.below(3) == 0) {
    options.chat.rate_max_per_s = 50;
    options.chat.rate_burst = 5;
  }
  if (random.below(3) == 0) {
    options.chat.limits.ping_after = milliseconds(300);
    options.chat.limits.idle_timeout = seconds(1);
  }
  return options;
}

ChatPlan draw_plan(std::uint64_t seed, std::uint32_t number, std::size_t text_bytes_max,
                   Random& random) {
  ChatPlan plan;
  plan.number = number;
  plan.text_bytes_max = text_bytes_max;
  plan.messages = static_cast<std::uint32_t>(random.below(30));
  plan.slice_bytes_max = random.below(4) == 0 ? random.between(1, 40) : 0;
  plan.pause_max = microseconds(random.below(2) == 0 ? 10 : 3000);
  plan.garbage_per_1024 = random.below(3) == 0 ? 200 : 0;
  const std::uint64_t habit = random.below(8);
  plan.habit = habit < 5 ? Habit::reads : habit < 7 ? Habit::pauses : Habit::stops;
  plan.start = microseconds(static_cast<std::int64_t>(random.below(20'000)));
  if (is_steady(seed)) return plan;
  plan.commands_per_1024 = random.below(2) == 0 ? 200 : 0;
  plan.leaving = static_cast<Leaving>(random.below(5));
  plan.talks_after = microseconds(static_cast<std::int64_t>(random.below(50'000)));
  return plan;
}

class SeedRun {
 public:
  explicit SeedRun(std::uint64_t seed)
      : seed_(seed), random_(seed * 0x9e3779b97f4a7c15 + 1), world_(draw_options(seed, random_)) {
    const std::size_t text_bytes_max = random_.below(3) == 0 ? 7000 : 60;
    const auto count = static_cast<std::uint32_t>(random_.between(2, 10));
    for (std::uint32_t number = 1; number <= count; ++number) {
      ChatPlan plan = draw_plan(seed, number, text_bytes_max, random_);
      plan.waits_to_talk = is_steady(seed);
      clients_.push_back(std::make_unique<ChatClient>(world_, plan, seed * 64 + number));
    }
  }

  ChatVerdict run() {
    if (is_steady(seed_)) {  // all clients are in before one speaks
      world_.run_until([this] { return world_.directory().connections() == clients_.size(); });
      for (const auto& each : clients_) each->start_talking();
    }
    world_.run_until([this] { return all([](auto& each) { return each.done_talking(); }); },
                     seconds(120));
    if (is_steady(seed_)) deliver_all();
    world_.drain(seconds(30));
    // Bytes that the kernel has taken are still on their way.
    world_.run_for(seconds(2));
    for (const auto& each : clients_) each->start_reading();
    world_.run_for(seconds(2));
    ChatVerdict verdict;
    verdict.faults = world_.faults_at_rest();
    for (const auto& each : clients_) {
      each->judge(true);
      std::ranges::copy(each->faults(), std::back_inserter(verdict.faults));
    }
    std::uint64_t received = 0;
    for (const auto& each : clients_) received += each->received();
    verdict.deliveries = received;
    verdict.dropped = world_.sum([](auto& counters) { return counters.lost(); });
    verdict.relayed = world_.sum([](auto& counters) { return counters.relayed.value(); });
    const std::uint64_t delivered =
        world_.sum([](auto& counters) { return counters.delivered.value(); });
    // Messages under way when their connection was lost count as lost, and may have arrived.
    const std::uint64_t gone = world_.sum([](auto& counters) {
      return counters.lost() - counters.of(chat::Loss::slow_reader).value();
    });
    if (received > delivered + gone) {
      verdict.faults.push_back(
          fmt::format("{} received, {} delivered, {} gone", received, delivered, gone));
    }
    if (is_steady(seed_)) check_steady(verdict, delivered);
    return verdict;
  }

  std::string explain() const { return const_cast<ChatWorld&>(world_).network().explain(); }

 private:
  bool all(const std::function<bool(ChatClient&)>& holds) {
    return std::ranges::all_of(clients_, [&](const auto& each) { return holds(*each); });
  }

  // All lines have been read by the server, and those who did not read begin to.
  void deliver_all() {
    world_.run_until([this] { return all([](auto& each) { return each.peer().unsent() == 0; }); });
    world_.run_for(milliseconds(500));
    for (const auto& each : clients_) each->start_reading();
    const auto waits = [this] {
      return world_.sum([](auto& counters) { return counters.queued_bytes.value(); }) == 0;
    };
    world_.run_until(waits, seconds(300));
    world_.run_for(seconds(1));
  }

  void check_steady(ChatVerdict& verdict, std::uint64_t delivered) {
    std::uint64_t messages = 0;
    for (const auto& each : clients_) messages += each->plan().messages;
    const std::uint64_t accepted =
        world_.sum([](auto& counters) { return counters.messages.value(); });
    const auto require = [&verdict](bool holds, std::string what) {
      if (!holds) verdict.faults.push_back(std::move(what));
    };
    require(accepted == messages, fmt::format("{} sent, {} accepted", messages, accepted));
    std::uint64_t received = 0;
    for (const auto& each : clients_) {
      received += each->received();
      const std::uint64_t due = messages - each->plan().messages;
      require(each->received() + each->told_dropped() == due,
              fmt::format("client {}: {} due, {} received, told of {} dropped", each->plan().number,
                          due, each->received(), each->told_dropped()));
      require(each->last_line() == farewell,
              fmt::format("client {}: the last line is '{}'", each->plan().number,
                          each->last_line().substr(0, 60)));
    }
    require(received == delivered, fmt::format("{} received, {} delivered", received, delivered));
  }

  std::uint64_t seed_;
  Random random_;
  ChatWorld world_;
  std::vector<std::unique_ptr<ChatClient>> clients_;
};

}  // namespace

ChatVerdict run_chat_seed(std::uint64_t seed, bool always_explain) {
  SeedRun run(seed);
  ChatVerdict verdict = run.run();
  if (!verdict.faults.empty() || always_explain) verdict.explanation = run.explain();
  return verdict;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
