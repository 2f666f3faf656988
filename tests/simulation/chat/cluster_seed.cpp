#include "tests/simulation/chat/cluster_seed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "tests/simulation/chat/chat_client.hpp"
#include "tests/simulation/chat/cluster_world.hpp"

namespace katana::simulation {
namespace {

constexpr Bytes lobby = chat::lobby_name;

ClusterWorldOptions draw_cluster(std::uint64_t seed, Random& random) {
  ClusterWorldOptions options;
  options.server.seed = seed;
  options.server.faults = SimFaults::random(seed).lossless();
  options.server.reactors = static_cast<unsigned>(random.between(1, 2));
  options.server.reactor.send_timeout = seconds(3600);
  options.server.chat.hub.turn_bytes_max = random.below(2) == 0 ? 2 * 1024 : 16 * 1024;
  options.server.chat.hub.relay_batches_max = random.below(2) == 0 ? 2 : 64;
  if (random.below(2) == 0) options.history.messages_max = 5;
  options.bus.delay_max = microseconds(random.below(2) == 0 ? 400 : 20'000);
  return options;
}

class ClusterRun {
 public:
  explicit ClusterRun(std::uint64_t seed)
      : seed_(seed), random_(seed * 0x9e3779b97f4a7c15 + 7), world_(draw_cluster(seed, random_)) {
    text_bytes_max_ = random_.below(3) == 0 ? 3000 : 60;
    const std::size_t servers = random_.between(2, 4);
    for (std::size_t server = 0; server < servers; ++server) {
      (void)world_.start(server == 1 && seed % 4 == 0 ? name_like("s0")
                                                      : fmt::format("s{}", server));
      steady_.insert(server);
    }
    for (std::size_t server = 0; server < servers; ++server) {
      const std::uint64_t count = random_.between(1, 4);
      for (std::uint64_t client = 0; client < count; ++client) add_client(server, true);
    }
  }

  ClusterVerdict run() {
    if (!world_.run_until([this] { return knows_everybody(); }, seconds(20))) {
      complain("not everybody was known before anybody spoke");
    }
    world_.run_for(seconds(1));
    for (const auto& each : clients_) {
      if (random_.below(3) == 0) {
        each->client->peer().send(fmt::format("/nick n{}\n", random_.below(4)));
      }
      each->client->start_talking();
    }
    storm();
    heal();
    const Duration known_after = options().gone_after_max();
    world_.run_for(known_after);
    if (!knows_everybody()) complain(who_knows_what());
    deliver_all();
    check_streams();
    check_receivers();
    check_names();
    sum_up();
    world_.drain(seconds(30));
    world_.run_for(seconds(2));
    for (const std::string& each : world_.faults_at_rest()) complain(each);
    return std::move(verdict_);
  }

  std::string explain() { return world_.network().explain(); }

 private:
  struct Person {
    std::size_t server;
    bool steady;  // was there from the beginning
    std::unique_ptr<ChatClient> client;
  };

  static chat::cluster::ClusterOptions options() { return {}; }
  // Another name, whose server would give the same numbers.
  static std::string name_like(Bytes name) {
    for (int number = 0;; ++number) {
      std::string other = fmt::format("t{}", number);
      if (chat::cluster::default_slot(other) == chat::cluster::default_slot(name)) return other;
    }
  }

  void complain(std::string what) {
    if (verdict_.faults.size() < 10) verdict_.faults.push_back(std::move(what));
  }

  void add_client(std::size_t server, bool steady) {
    ChatPlan plan;
    plan.number = static_cast<std::uint32_t>(clients_.size() + 1);
    plan.text_bytes_max = text_bytes_max_;
    plan.messages = static_cast<std::uint32_t>(random_.below(40));
    plan.pause_max = milliseconds(random_.below(2) == 0 ? 5 : 300);
    const std::uint64_t habit = random_.below(8);
    plan.habit = habit < 6 ? Habit::reads : habit < 7 ? Habit::pauses : Habit::stops;
    plan.start = microseconds(static_cast<std::int64_t>(random_.below(20'000)));
    plan.waits_to_talk = steady;
    plan.talks_after = milliseconds(static_cast<std::int64_t>(random_.below(3000)));
    auto client = std::make_unique<ChatClient>(world_.network(), world_.port(server), plan,
                                               seed_ * 64 + plan.number);
    clients_.push_back(std::make_unique<Person>(Person{server, steady, std::move(client)}));
  }

  // ---- mishaps ----

  void storm() {
    const Instant end = world_.now() + seconds(static_cast<std::int64_t>(random_.between(2, 10)));
    while (world_.now() < end) {
      world_.run_for(milliseconds(static_cast<std::int64_t>(random_.between(20, 900))));
      mishap();
    }
    (void)world_.run_until([this] { return all_done_talking(); }, seconds(30));
  }

  std::string random_server() { return world_.name_of(random_.below(world_.servers())); }

  void mishap() {
    switch (random_.below(13)) {
      case 0:
      case 1: world_.buses().set_loss(static_cast<std::uint32_t>(random_.below(400))); break;
      case 2: world_.buses().set_loss(0); break;
      case 3:
      case 4: {
        const std::string one = random_server();
        const std::string other = random_server();
        if (one != other) world_.buses().cut(one, other);
        break;
      }
      case 5: world_.buses().heal_all(); break;
      case 6: isolate(random_server()); break;
      case 7: rejoin_all(); break;
      case 8: kill_one(); break;
      case 9: start_again(); break;
      default: name_one(); break;
    }
  }

  void name_one() {
    Person& person = *clients_[random_.below(clients_.size())];
    if (!person.client->over()) {
      person.client->peer().send(fmt::format("/nick n{}\n", random_.below(4)));
    }
  }
  void isolate(const std::string& name) {
    if (!is_up(name) || !isolated_.insert(name).second) return;
    world_.buses().isolate(name);
  }
  void rejoin_all() {
    for (const std::string& each : isolated_) {
      if (is_up(each)) world_.buses().rejoin(each);
    }
    isolated_.clear();
  }
  bool is_up(const std::string& name) const {
    for (std::size_t server = 0; server < world_.servers(); ++server) {
      if (world_.runs(server) && world_.name_of(server) == name) return true;
    }
    return false;
  }

  void kill_one() {
    const std::size_t server = random_.below(world_.servers());
    if (!world_.runs(server) || (steady_.contains(server) && steady_.size() == 1)) return;
    world_.kill(server);
    isolated_.erase(world_.name_of(server));
    steady_.erase(server);
    ++verdict_.kills;
  }

  void start_again() {
    const std::string name = random_server();
    if (is_up(name) || world_.servers() > 7) return;
    const std::size_t server = world_.start(name);
    add_client(server, false);
    if (random_.below(2) == 0) add_client(server, false);
  }

  void heal() {
    world_.buses().set_loss(0);
    world_.buses().heal_all();
    rejoin_all();
  }

  // ---- what must hold ----

  std::uint64_t members_in_all() {
    std::uint64_t members = 0;
    for (std::size_t server = 0; server < world_.servers(); ++server) {
      if (world_.runs(server)) members += world_.directory(server).connections();
    }
    return members;
  }
  bool knows_everybody() {
    std::uint64_t expected = 0;
    for (const auto& each : clients_) {
      if (world_.runs(each->server)) ++expected;
    }
    if (members_in_all() != expected) return false;
    for (std::size_t server = 0; server < world_.servers(); ++server) {
      if (world_.runs(server) && known_to(server) != expected) return false;
    }
    return true;
  }
  std::uint64_t known_to(std::size_t server) {
    const auto presence = world_.directory(server).who(lobby, 1000);
    return presence ? presence->members : 0;
  }
  std::string who_knows_what() {
    std::string text = fmt::format("of {} members", members_in_all());
    for (std::size_t server = 0; server < world_.servers(); ++server) {
      if (world_.runs(server)) {
        text += fmt::format(", server {} ({}) knows {}", server, world_.name_of(server),
                            known_to(server));
      }
    }
    return text;
  }

  bool all_done_talking() {
    return std::ranges::all_of(clients_, [this](const auto& each) {
      return !world_.runs(each->server) ||
             (each->client->done_talking() && each->client->peer().unsent() == 0);
    });
  }

  void deliver_all() {
    if (!all_done_talking()) complain("not everything that was said was read");
    world_.run_for(seconds(1));
    for (const auto& each : clients_) each->client->start_reading();
    const auto waits = [this] {
      std::uint64_t queued = 0;
      for (std::size_t server = 0; server < world_.servers(); ++server) {
        if (!world_.runs(server)) continue;
        queued += world_.sum(server, [](auto& counters) { return counters.queued_bytes.value(); });
      }
      return queued == 0;
    };
    (void)world_.run_until(waits, seconds(300));
    world_.run_for(seconds(1));
    for (const auto& each : clients_) {
      each->client->judge(true);
      if (!world_.runs(each->server)) continue;
      for (const std::string& fault : each->client->faults()) complain(fault);
    }
  }

  std::uint64_t said_on(std::size_t server) {
    return world_.sum(server, [](auto& counters) { return counters.messages.value(); });
  }

  void check_streams() {
    for (const std::size_t server : steady_) {
      for (std::size_t other = 0; other < world_.servers(); ++other) {
        if (other == server) continue;
        const auto heard = world_.heard(server, other, lobby);
        if (steady_.contains(other) && heard.messages() != said_on(other)) {
          complain(fmt::format("server {} has heard {} of {}'s {} messages", server,
                               heard.messages(), other, said_on(other)));
        }
        // They know of the same end; where they met it may differ, of one that was started later.
        const std::size_t first = *steady_.begin();
        const std::uint64_t next = world_.heard(first, other, lobby).next;
        if (first != other && heard.next != 0 && next != 0 && heard.next != next) {
          complain(fmt::format("server {} has heard {} up to {}, and server {} up to {}", server,
                               other, heard.next, first, next));
        }
      }
    }
  }

  void check_receivers() {
    for (const auto& each : clients_) {
      if (!each->steady || !steady_.contains(each->server)) continue;
      const ChatClient& client = *each->client;
      std::uint64_t due = said_on(each->server) - client.plan().messages;
      for (std::size_t other = 0; other < world_.servers(); ++other) {
        if (other != each->server) due += world_.heard(each->server, other, lobby).messages();
      }
      const std::uint64_t got = client.received() + client.told_dropped() + client.told_lost();
      if (got != due) {
        complain(
            fmt::format("client {} of server {}: {} due, {} received, told of {} dropped and {} "
                        "lost",
                        client.plan().number, each->server, due, client.received(),
                        client.told_dropped(), client.told_lost()));
      }
    }
  }

  void check_names() {
    const auto presence = world_.directory(*steady_.begin()).who(lobby, 1000);
    if (!presence) return complain("nobody is in the lobby");
    const std::set<std::string> names(presence->names.begin(), presence->names.end());
    if (names.size() != presence->names.size() || names.size() != presence->members) {
      complain(fmt::format("{} members have {} names: {}", presence->members, names.size(),
                           fmt::join(presence->names, ", ")));
    }
  }

  void sum_up() {
    for (const auto& each : clients_) {
      verdict_.deliveries += each->client->received();
      verdict_.told_lost += each->client->told_lost();
      verdict_.told_dropped += each->client->told_dropped();
      verdict_.renamed += each->client->renamed();
      verdict_.recalled += each->client->recalled();
    }
    for (std::size_t server = 0; server < world_.servers(); ++server) {
      if (!world_.runs(server)) continue;
      verdict_.departures += world_.bridge(server).node_counters().departures.value();
    }
  }

  std::uint64_t seed_;
  Random random_;
  ClusterWorld world_;
  std::size_t text_bytes_max_ = 0;
  std::set<std::size_t> steady_;  // servers that have run since the beginning
  std::set<std::string> isolated_;
  std::vector<std::unique_ptr<Person>> clients_;
  ClusterVerdict verdict_;
};

}  // namespace

ClusterVerdict run_cluster_seed(std::uint64_t seed, bool always_explain) {
  ClusterRun run(seed);
  ClusterVerdict verdict = run.run();
  if (!verdict.faults.empty() || always_explain) verdict.explanation = run.explain();
  return verdict;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
