// Planted bugs: each is found within the seeds of its test, and the program without it holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "katana/testing/world/planted_programs_test.hpp"
#include "katana/testing/world/properties.hpp"
#include "katana/testing/world/simulate.hpp"

namespace katana::testing {
namespace {

using planted::Bug;
using planted::text_json;

template <Bug bug>
void add_program(World& world, const char* name) {
  world.add(name, planted::options(), planted::configure<bug>);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::map<std::string, std::size_t> counted(const std::vector<std::string>& lines) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& each : lines) ++counts[each];
  return counts;
}

// ---- the worlds: one for each kind of bug

template <Bug bug>
void lost_update(World& world) {
  add_program<bug>(world, "store");
  for (const char* const name : {"ada", "bob", "eve"}) {
    world.script(name, [](WorldClient& client) -> Task<void> {
      for (int seat = 1; seat <= 3; ++seat) {
        (void)co_await client.post("store", "/seats/" + std::to_string(seat),
                                   text_json(client.name()));
      }
    });
  }
  world.faults({.within = milliseconds(20), .slow_links_max = 2, .latency_max = milliseconds(5)});
  world.always("no seat is sold twice", [](World& of) -> std::string {
    std::map<std::string, std::string> sold;
    for (const Operation& each : of.history()) {
      if (!each.succeeded()) continue;
      const auto [other, is_first] = sold.emplace(each.target, each.key());
      if (!is_first) return fmt::format("{}: {} and {}", each.target, other->second, each.key());
    }
    return {};
  });
}

template <Bug bug>
void early_reply(World& world) {
  add_program<bug>(world, "store");
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    for (int id = 1; id <= 8; ++id) {
      (void)co_await ada.post("store", "/notes/" + std::to_string(id), text_json("x"));
    }
  });
  world.faults({.within = milliseconds(20),
                .kills_max = 2,
                .kills_at_call_max = 2,
                .calls_max = 10,
                .down_max = milliseconds(20)});
  world.at_end("notes are kept",
               acknowledged_are_kept(
                   {.write = [](const Operation& each) { return each.is_to("POST", "/notes/"); },
                    .id = [](const Operation& each) { return each.target.substr(7); },
                    .present =
                        [](World& of) {
                          const auto lines = lines_of(of.ask("store", "GET", "/notes").reply);
                          return std::set<std::string>(lines.begin(), lines.end());
                        }}));
}

template <Bug bug>
void number_from_memory(World& world) {
  add_program<bug>(world, "store");
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    for (int order = 1; order <= 8; ++order) {
      (void)co_await ada.post("store", "/orders", text_json("tea"));
      co_await ada.sleep(milliseconds(20));
    }
  });
  world.faults({.within = milliseconds(100), .kills_max = 2, .down_max = milliseconds(50)});
  world.always("numbers of orders are unique", [](World& of) -> std::string {
    std::set<std::string> numbers;
    for (const Operation& each : of.history()) {
      if (each.succeeded() && !numbers.insert(each.reply).second) {
        return each.key() + " got the number " + each.reply + " again";
      }
    }
    return {};
  });
}

template <Bug bug>
void stale_cache(World& world) {
  add_program<bug>(world, "store");
  add_program<bug>(world, "front");
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    for (int version = 1; version <= 5; ++version) {
      (void)co_await ada.put("front", "/cached/1", text_json(std::to_string(version)));
    }
  });
  for (const char* const name : {"bob", "eve"}) {
    world.script(name, [](WorldClient& client) -> Task<void> {
      for (int read = 1; read <= 20; ++read) (void)co_await client.get("front", "/cached/1");
    });
  }
  world.at_end("the cache has what the store has", [](World& of) -> std::string {
    const std::string cached = of.ask("front", "GET", "/cached/1").reply;
    const std::string stored = of.ask("store", "GET", "/notes/1").reply;
    return cached == stored ? "" : fmt::format("'{}' instead of '{}'", cached, stored);
  });
}

template <Bug bug>
void repeated_deposit(World& world) {
  add_program<bug>(world, "store");
  add_program<bug>(world, "front");
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    for (int id = 1; id <= 8; ++id) {
      (void)co_await ada.post("front", "/pass/" + std::to_string(id), "");
    }
  });
  world.faults({.within = milliseconds(60), .hosts = {"front", "store"}, .resets_max = 6});
  world.at_end("a deposit is made once", at_most_once([](World& of) {
                 return counted(lines_of(of.ask("store", "GET", "/deposits").reply));
               }));
}

template <Bug bug>
void double_delivery(World& world) {
  add_program<bug>(world, "store");
  add_program<bug>(world, "front");
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    for (int id = 1; id <= 5; ++id) {
      const std::string text = std::to_string(id);
      (void)co_await ada.post("front", "/letters/" + text, text_json(text));
      co_await ada.sleep(milliseconds(20));
    }
  });
  world.faults({.within = milliseconds(150),
                .nodes = {"front"},
                .kills_at_call_max = 3,
                .calls_max = 20,
                .down_max = milliseconds(20)});
  world.at_end("a letter is delivered once", at_most_once([](World& of) {
                 return counted(lines_of(of.ask("store", "GET", "/inbox").reply));
               }));
}

template <Bug bug>
void missing_fence(World& world) {
  add_program<bug>(world, "store");
  for (const char* const name : {"ada", "bob"}) {
    world.script(name, [](WorldClient& client) -> Task<void> {
      for (int round = 0; round < 4; ++round) {
        const Operation lease = co_await client.post("store", "/leases", "");
        co_await client.sleep(milliseconds(150));
        if (!lease.succeeded()) continue;
        for (int write = 0; write < 3; ++write) {
          (void)co_await client.post("store", "/log/" + lease.reply, "");
        }
      }
    });
  }
  world.faults({.within = seconds(1),
                .partitions_max = 3,
                .partition_max = milliseconds(600),
                .slow_links_max = 3,
                .latency_max = milliseconds(150)});
  world.at_end("only the holder of the lease writes", [](World& of) -> std::string {
    std::int64_t newest = 0;
    for (const std::string& each : lines_of(of.ask("store", "GET", "/log").reply)) {
      std::int64_t token = 0;
      std::from_chars(each.data(), each.data() + each.size(), token);
      if (token < newest) return fmt::format("token {} wrote after token {}", token, newest);
      newest = token;
    }
    return {};
  });
}

// Two requests of one payment have the same key.
template <Bug bug>
void payment_checked(World& world) {
  add_program<bug>(world, "store");
  world.users({"ada", "bob"}, [](WorldClient& client) -> Task<void> {
    for (int payment = 1; payment <= 5; ++payment) {
      (void)co_await client.post("store", "/payments/p" + std::to_string(payment), "");
    }
  });
  world.faults({.within = milliseconds(30), .slow_links_max = 2, .resets_max = 2});
  world.at_end("a payment is made once", at_most_once([](World& of) {
                 return counted(lines_of(of.ask("store", "GET", "/payments").reply));
               }));
}

template <Bug bug>
void half_transfer(World& world) {
  add_program<bug>(world, "store");
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    for (int each = 1; each <= 8; ++each) (void)co_await ada.post("store", "/transfers", "");
  });
  world.faults({.within = milliseconds(20),
                .kills_max = 1,
                .kills_at_call_max = 3,
                .calls_max = 10,
                .down_max = milliseconds(20)});
  world.at_end("no money is made or lost", [](World& of) -> std::string {
    const std::string sum = of.ask("store", "GET", "/accounts").reply;
    return sum == "200" ? "" : "the accounts have " + sum;
  });
}

template <Bug bug>
void session_revived(World& world) {
  add_program<bug>(world, "store");
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    (void)co_await ada.post("store", "/sessions/s1", "");
    co_await ada.sleep(milliseconds(5));
    (void)co_await ada.delete_("store", "/sessions/s1");
  });
  world.script("bob", [](WorldClient& bob) -> Task<void> {
    for (int use = 1; use <= 10; ++use) (void)co_await bob.get("store", "/sessions/s1");
  });
  world.always("no session lives after the logout", [](World& of) -> std::string {
    const Operation* logout = nullptr;
    for (const Operation& each : of.history()) {
      if (each.method == "DELETE" && each.succeeded()) logout = &each;
      if (logout != nullptr && each.method == "GET" && each.succeeded() &&
          each.invoked > logout->returned) {
        return each.key() + " was served after the logout";
      }
    }
    return {};
  });
}

// ---- each is found, and the mended program holds

struct PlantedKind {
  const char* name;
  WorldFunction with_bug;
  WorldFunction mended;
  std::uint64_t seeds;  // within which the bug is found
};

std::ostream& operator<<(std::ostream& to, const PlantedKind& kind) { return to << kind.name; }

class PlantedBug : public ::testing::TestWithParam<PlantedKind> {};

TEST_P(PlantedBug, is_found_and_the_mended_program_holds) {
  const PlantedKind& kind = GetParam();
  const Simulated found = simulate(
      {.seeds = kind.seeds, .twice_every = 0, .shrink_runs_max = 30, .reads_environment = false},
      kind.with_bug);
  ASSERT_FALSE(found.holds) << found;
  EXPECT_NE(found.finding->property, "exception") << found;
  EXPECT_LE(found.finding->events, 20u) << found;
  RecordProperty("seed", std::to_string(found.finding->seed));
  RecordProperty("events", std::to_string(found.finding->events));
  // KATANA_SEEDS runs more.
  const Simulated mended =
      simulate({.seeds = 2, .twice_every = 0, .shrink_runs_max = 0}, kind.mended);
  EXPECT_TRUE(mended.holds) << mended;
}

#define KIND(NAME, SEEDS) \
  PlantedKind { #NAME, NAME<Bug::NAME>, NAME<Bug::none>, SEEDS }
INSTANTIATE_TEST_SUITE_P(Kinds, PlantedBug,
                         ::testing::Values(KIND(lost_update, 50), KIND(early_reply, 200),
                                           KIND(number_from_memory, 50), KIND(stale_cache, 100),
                                           KIND(repeated_deposit, 100), KIND(double_delivery, 200),
                                           KIND(missing_fence, 100), KIND(payment_checked, 100),
                                           KIND(half_transfer, 200), KIND(session_revived, 50)),
                         [](const auto& each) { return std::string(each.param.name); });
#undef KIND

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
