// A second level that works, fails, stalls and lies. Values are loaded all the same, and no wrong
// value is served.
#include "katana/stores/cache/second_level.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "katana/base/values/random.hpp"
#include "katana/stores/cache/cache_fixture_test.hpp"
#include "katana/stores/cache/envelope.hpp"

namespace katana::cache {
namespace {

// A second level that several instances share. Its clock is that of the calling reactor.
class FakeLevel final : public SecondLevel {
 public:
  Task<Result<std::optional<std::string>>> get(std::string key) override {
    ++gets;
    co_await delay();
    if (fails) co_return fail(Code::unavailable, "connection refused");
    if (throws) throw std::runtime_error("a defect");
    if (lie) co_return lie(key);
    const auto found = kept.find(key);
    if (found == kept.end() || net::Reactor::current()->now() >= found->second.until) {
      co_return std::nullopt;
    }
    co_return found->second.octets;
  }
  Task<Result<void>> put(std::string key, std::string octets, Duration ttl) override {
    ++puts;
    co_await delay();
    if (fails) co_return fail(Code::unavailable, "connection refused");
    kept[key] = {std::move(octets), net::Reactor::current()->now() + ttl};
    co_return {};
  }
  Task<Result<void>> remove(std::string key) override {
    ++removals;
    co_await delay();
    if (fails || removals_fail) co_return fail(Code::unavailable, "connection refused");
    kept.erase(key);
    for (const auto& [prefix, weak] : listeners) {
      const auto listener = weak.lock();
      if (listener != nullptr && key.starts_with(prefix)) listener->on_changed(key);
    }
    co_return {};
  }
  Task<Result<std::optional<Lease>>> try_lock(std::string key, Duration lease) override {
    ++locks;
    co_await delay();
    if (fails) co_return fail(Code::unavailable, "connection refused");
    const Instant now = net::Reactor::current()->now();
    auto& until = leases[key];
    if (now < until) co_return std::nullopt;
    until = now + lease;
    co_return Lease{.token = ++tokens};
  }
  Task<Result<void>> unlock(std::string key, Lease lease) override {
    co_await delay();
    if (lease.token == tokens) leases.erase(key);
    co_return {};
  }
  bool has_tags() const noexcept override { return tagged; }
  Task<Result<std::uint64_t>> tag_mark(std::string) override {
    ++marks;
    co_await delay();
    if (fails) co_return fail(Code::unavailable, "connection refused");
    co_return clock;
  }
  Task<Result<bool>> put_tagged(std::string key, std::string octets, Duration ttl,
                                std::string prefix, std::vector<std::string> tags,
                                std::uint64_t mark) override {
    co_await delay();
    if (fails) co_return fail(Code::unavailable, "connection refused");
    for (const std::string& tag : tags) {
      if (removed[prefix + tag] > mark) co_return false;
      with_tag[prefix + tag].insert(key);
    }
    kept[key] = {std::move(octets), net::Reactor::current()->now() + ttl};
    co_return true;
  }
  Task<Result<void>> remove_tag(std::string prefix, std::string tag) override {
    ++removals;
    co_await delay();
    if (fails) co_return fail(Code::unavailable, "connection refused");
    removed[prefix + tag] = ++clock;
    for (const std::string& key : with_tag[prefix + tag]) kept.erase(key);
    with_tag.erase(prefix + tag);
    for (const auto& [of, weak] : listeners) {
      const auto listener = weak.lock();
      if (listener != nullptr && of == prefix) listener->on_tag_removed(tag);
    }
    co_return {};
  }
  bool listen(std::string prefix, std::weak_ptr<ChangeListener> listener) override {
    if (tells) listeners.emplace_back(std::move(prefix), std::move(listener));
    return tells;
  }
  Result<void> health() const override {
    if (fails) return fail(Code::unavailable, "connection refused");
    return {};
  }

  struct Kept {
    std::string octets;
    Instant until;
  };
  std::map<std::string, Kept> kept;
  std::map<std::string, Instant> leases;
  std::map<std::string, std::uint64_t> removed;  // when a tag was
  std::map<std::string, std::set<std::string>> with_tag;
  std::uint64_t clock = 1;
  bool tagged = false;
  std::vector<std::pair<std::string, std::weak_ptr<ChangeListener>>> listeners;
  std::function<std::optional<std::string>(const std::string& key)> lie;
  Duration takes = {};
  bool fails = false, removals_fail = false;
  bool throws = false;
  bool tells = false;
  std::uint64_t tokens = 0;
  int gets = 0, puts = 0, removals = 0, locks = 0, marks = 0;

 private:
  net::Sleep delay() const { return net::sleep_for(takes); }
};

// Virtual wall time beside the nodes'.
class WallClock final : private VirtualWallClock {
 public:
  explicit WallClock(const Node& node) : node_(node), before_(enter(this)) {}
  ~WallClock() { enter(before_); }
  Duration skew = {};

 private:
  Timestamp current_time() const noexcept override {
    return Timestamp(std::chrono::seconds(1'700'000'000) +
                     std::chrono::microseconds((node_.world.now.ns + skew.ns) / 1000));
  }
  const Node& node_;
  const VirtualWallClock* const before_;
};

class SecondLevelTest : public CacheTest {
 protected:
  Users instance(Options options = {}) { return make_users(options, level); }
  // Both ask, one after the other, each in its own instance; with all messages delivered.
  void deliver() {
    for (int count = 0; count < 4; ++count) pass({});
  }

  std::shared_ptr<FakeLevel> level = std::make_shared<FakeLevel>();
  WallClock wall{node};
};

TEST_F(SecondLevelTest, what_one_instance_loaded_another_one_finds) {
  const Users here = instance(), there = instance();
  const Asker first = begin(node, here, 7);
  pass(milliseconds(10));
  EXPECT_EQ(first.says(), "ada");
  deliver();
  EXPECT_EQ(level->puts, 1);
  const Asker second = begin(other, there, 7);
  deliver();
  EXPECT_EQ(second.says(), "ada");
  EXPECT_EQ(source.loads, 1);
  EXPECT_EQ(there.statistics().second_hits, 1u);
  EXPECT_EQ(here.statistics().second_misses, 1u);
}

TEST_F(SecondLevelTest, that_there_is_none_is_shared_as_well) {
  const Users here = instance(), there = instance();
  source.exists = false;
  begin(node, here, 7);
  pass(milliseconds(10));
  deliver();
  const Asker second = begin(other, there, 7);
  deliver();
  EXPECT_EQ(second.says(), "none");
  EXPECT_EQ(source.loads, 1);
}

TEST_F(SecondLevelTest, times_go_on_from_instance_to_instance) {
  const Users here = instance({.ttl = seconds(10)});
  const Users there = instance({.ttl = seconds(10), .second_level = {.memory_ttl_max = {}}});
  source.takes = {};
  begin(node, here, 7);
  deliver();
  pass(seconds(8));
  EXPECT_EQ(begin(other, there, 7).says(), "ada");
  pass(milliseconds(1999));
  EXPECT_TRUE(there.get(7));
  pass(milliseconds(1));
  EXPECT_FALSE(there.get(7)) << "ten seconds after the load";
}

TEST_F(SecondLevelTest, memory_forgets_sooner_where_nobody_tells_of_changes) {
  const Users deaf = instance({.second_level = {.memory_ttl_max = seconds(2)}});
  level->tells = true;
  const Users hearing = instance({.second_level = {.memory_ttl_max = seconds(2)}});
  source.takes = {};
  begin(node, deaf, 7);
  begin(node, hearing, 7);
  deliver();
  pass(seconds(2));
  EXPECT_FALSE(deaf.get(7));
  EXPECT_TRUE(hearing.get(7));
}

TEST_F(SecondLevelTest, a_change_elsewhere_is_forgotten_here_and_a_load_under_way_is_not_kept) {
  level->tells = true;
  const Users here = instance(), there = instance();
  source.takes = {};
  begin(node, here, 7);
  deliver();
  ASSERT_TRUE(here.get(7));
  source.takes = milliseconds(10);
  const Asker slow = begin(node, here, 8);
  there.remove(7);
  there.remove(8);
  deliver();
  EXPECT_FALSE(here.get(7));
  pass(milliseconds(10));
  EXPECT_EQ(slow.says(), "ada");
  EXPECT_FALSE(here.get(8)) << "it was loaded before the change, perhaps";
  deliver();
  EXPECT_TRUE(level->kept.empty()) << "nor is it there";
  begin(node, here, 9);
  pass(milliseconds(10));
  ASSERT_TRUE(here.get(9));
  for (const auto& [prefix, listener] : level->listeners) listener.lock()->on_all_changed();
  EXPECT_FALSE(here.get(9)) << "messages may have been missed";
}

TEST_F(SecondLevelTest, one_that_fails_is_not_seen_by_those_who_ask) {
  level->fails = true;
  const Users users = instance({.second_level = {.failures_max = 3, .pause_min = seconds(1)}});
  source.takes = {};
  for (std::int64_t id = 0; id < 50; ++id) {
    const Asker asker = begin(node, users, id);
    deliver();
    EXPECT_EQ(asker.says(), "ada");
  }
  EXPECT_EQ(source.loads, 50);
  EXPECT_LE(level->gets + level->puts, 3) << "it is left alone";
  ASSERT_EQ(node.failures.lines.size(), 1u) << "and that is said once";
  EXPECT_EQ(node.failures.lines[0],
            "cache 'users': the second level fails, and values are loaded instead: connection "
            "refused");
  EXPECT_FALSE(users.health());
  // One call tries after a pause, which doubles while it fails.
  pass(seconds(1));
  const int before = level->gets + level->puts;
  for (std::int64_t id = 100; id < 110; ++id) {
    begin(node, users, id);
    deliver();
  }
  EXPECT_EQ(level->gets + level->puts, before + 1);
  pass(seconds(1));
  begin(node, users, 200);
  deliver();
  EXPECT_EQ(level->gets + level->puts, before + 1) << "two seconds by now";
  EXPECT_EQ(node.failures.lines.size(), 1u) << "the same outage is not said again";
  level->fails = false;
  pass(seconds(1));
  begin(node, users, 201);
  deliver();
  begin(node, users, 202);
  deliver();
  EXPECT_EQ(level->gets + level->puts, before + 5) << "all is well again";
  EXPECT_TRUE(users.health());
}

TEST_F(SecondLevelTest, one_that_fails_now_and_then_is_used_all_the_same) {
  const Users users = instance({.second_level = {.failures_max = 3}});
  source.takes = {};
  for (std::int64_t id = 0; id < 20; ++id) {
    level->fails = id % 2 == 0;  // a read and a write fail, and the next ones do not
    begin(node, users, id);
    deliver();
  }
  EXPECT_EQ(users.statistics().second_failures, 20u);
  EXPECT_EQ(users.statistics().second_skipped, 0u);
  EXPECT_TRUE(node.failures.lines.empty());
}

TEST_F(SecondLevelTest, one_that_stalls_costs_its_timeout_and_then_nothing) {
  level->takes = seconds(1000);
  const Users users = instance({.second_level = {.timeout = milliseconds(50), .failures_max = 2}});
  source.takes = {};
  const Asker first = begin(node, users, 1);
  pass(milliseconds(49));
  EXPECT_EQ(first.says(), "waits");
  pass(milliseconds(1));
  EXPECT_EQ(first.says(), "ada");
  pass(milliseconds(50));  // the put
  deliver();
  const Asker second = begin(node, users, 2);
  EXPECT_EQ(second.says(), "ada") << "at once";
  EXPECT_EQ(users.statistics().second_failures, 2u);
}

TEST_F(SecondLevelTest, an_outage_does_not_bring_more_loads_at_a_time_than_are_allowed) {
  level->takes = seconds(1000);
  const Users users = instance({.loads_max = 4, .second_level = {.timeout = milliseconds(50)}});
  std::vector<Asker> askers;
  for (std::int64_t id = 0; id < 100; ++id) {
    askers.push_back(begin(id % 2 == 0 ? node : other, users, id));
  }
  pass(milliseconds(50));
  for (int round = 0; round < 40; ++round) pass(milliseconds(10));
  for (const Asker& asker : askers) EXPECT_EQ(asker.says(), "ada");
  EXPECT_EQ(source.running_max, 4);
  EXPECT_EQ(source.loads, 100);
}

TEST_F(SecondLevelTest, one_that_throws_has_failed) {
  level->throws = true;
  const Users users = instance();
  source.takes = {};
  EXPECT_EQ(begin(node, users, 1).says(), "ada");
  EXPECT_EQ(users.statistics().second_failures, 1u);
}

TEST_F(SecondLevelTest, one_that_lies_is_not_believed) {
  const Users users = instance();
  source.takes = {};
  source.name = "grace";
  begin(node, users, 1);
  deliver();
  const std::string octets = level->kept.at(std::string("users:\1\0\0\0\0\0\0\0", 14)).octets;
  std::vector<std::string> lies = {"", "x", "KC1", octets + "x", std::string(1 << 20, 'v'), octets};
  for (std::size_t cut = 0; cut < octets.size(); ++cut) lies.push_back(octets.substr(0, cut));
  // Each byte is changed once, but for those of the name: another name cannot be recognised as
  // a lie.
  const std::size_t name_at = octets.find("grace");
  for (std::size_t index = 0; index < octets.size(); ++index) {
    if (index >= name_at && index < name_at + 5) continue;
    lies.push_back(octets);
    lies.back()[index] = static_cast<char>(lies.back()[index] ^ 0x55);
  }
  Random random(5);
  for (int count = 0; count < 200; ++count) {
    lies.emplace_back(random.below(100), '\0');
    for (char& c : lies.back()) c = static_cast<char>(random.next());
  }
  source.name = "ada";
  for (const std::string& lie : lies) {
    level->lie = [&lie](const std::string&) { return std::optional(lie); };
    const Users fresh = instance();
    const Asker asker = begin(node, fresh, 2);  // and all of them are of user 1
    deliver();
    EXPECT_EQ(asker.says(), "ada");
  }
}

TEST_F(SecondLevelTest, a_time_that_is_over_is_a_lie_too) {
  const Users users = instance({.ttl = seconds(10)});
  source.takes = {};
  begin(node, users, 1);
  deliver();
  const auto kept = level->kept;
  level->lie = [&kept](const std::string& key) { return std::optional(kept.at(key).octets); };
  pass(seconds(10));
  source.name = "grace";
  const Users fresh = instance();
  EXPECT_EQ(begin(node, fresh, 1).says(), "grace");
  EXPECT_EQ(fresh.statistics().second_invalid, 1u);
}

TEST_F(SecondLevelTest, what_could_not_be_removed_there_is_not_read_there) {
  const Users users = instance({.second_level = {.failures_max = 1, .pause_min = seconds(1)}});
  source.takes = {};
  begin(node, users, 7);
  deliver();
  level->fails = true;
  source.name = "grace";
  users.remove(7);
  deliver();
  EXPECT_EQ(users.statistics().owed, 1u);
  level->fails = false;  // and what is there is the old value
  EXPECT_EQ(begin(node, users, 7).says(), "grace");
  pass(seconds(1));
  // The next call that succeeds has the removal made up for.
  begin(node, users, 8);
  deliver();
  EXPECT_EQ(users.statistics().owed, 0u);
  EXPECT_FALSE(level->kept.contains(std::string("users:\7\0\0\0\0\0\0\0", 14)));
}

TEST_F(SecondLevelTest, what_is_owed_is_not_read_there_though_the_second_level_is_not_left_alone) {
  const Users users = instance({.second_level = {.failures_max = 10}});
  source.takes = {};
  begin(node, users, 7);
  deliver();
  level->fails = true;
  source.name = "grace";
  users.remove(7);
  deliver();
  level->fails = false;  // and what is there is the old value
  const Asker asker = begin(node, users, 7);
  deliver();
  EXPECT_EQ(asker.says(), "grace");
}

TEST_F(SecondLevelTest, a_load_that_fails_tells_so_and_puts_nothing_there) {
  const Users users = instance();
  source.takes = {};
  source.error = Error(Code::unavailable, "the database is down");
  const Asker asker = begin(node, users, 7);
  deliver();
  EXPECT_EQ(asker.says(), "the database is down");
  EXPECT_EQ(level->puts, 0);
}

TEST_F(SecondLevelTest, what_cannot_be_made_up_for_stays_owed) {
  const Users users = instance({.second_level = {.failures_max = 10}});
  source.takes = {};
  level->removals_fail = true;
  node.turn();
  users.remove(7);
  deliver();
  EXPECT_EQ(users.statistics().owed, 1u);
  begin(node, users, 8);  // a success, after which the removal is tried again
  deliver();
  EXPECT_EQ(users.statistics().owed, 1u);
  level->removals_fail = false;
  begin(node, users, 9);
  deliver();
  EXPECT_EQ(users.statistics().owed, 0u);
}

TEST_F(SecondLevelTest, what_is_owed_is_made_up_for_after_each_outage) {
  const Users users = instance({.second_level = {.failures_max = 1, .pause_min = seconds(1)}});
  source.takes = {};
  begin(node, users, 7);
  deliver();
  for (int outage = 0; outage < 3; ++outage) {
    level->fails = true;
    users.remove(7);
    deliver();
    EXPECT_EQ(users.statistics().owed, 1u) << outage;
    level->fails = false;
    pass(seconds(40));
    begin(node, users, 100 + outage);
    deliver();
    EXPECT_EQ(users.statistics().owed, 0u) << outage;
  }
}

TEST_F(SecondLevelTest, a_value_that_could_not_be_put_there_is_owed) {
  const Users users = instance({.second_level = {.failures_max = 1, .pause_min = seconds(1)}});
  node.turn();
  level->fails = true;
  users.put(7, {.id = 7, .name = "put", .roles = {}});
  deliver();
  EXPECT_EQ(users.statistics().owed, 1u) << "what is there is of before";
}

TEST_F(SecondLevelTest, a_value_that_was_put_is_read_there_when_memory_has_forgotten_it) {
  const Users users =
      instance({.ttl = seconds(60), .second_level = {.memory_ttl_max = seconds(5)}});
  node.turn();
  users.put(7, {.id = 7, .name = "put", .roles = {}});
  deliver();
  pass(seconds(6));
  EXPECT_FALSE(users.get(7));
  const Asker asker = begin(node, users, 7);
  deliver();
  EXPECT_EQ(asker.says(), "put");
  EXPECT_EQ(source.loads, 0);
}

TEST_F(SecondLevelTest, more_removals_than_can_be_owed_end_the_trust_in_all_that_is_there) {
  const Users users = instance({.ttl = seconds(30),
                                .second_level = {.failures_max = 1,
                                                 .pause_min = milliseconds(10),
                                                 .pause_max = milliseconds(10),
                                                 .owed_max = 5}});
  source.takes = {};
  for (std::int64_t id = 0; id < 10; ++id) {
    begin(node, users, id);
    deliver();
  }
  level->fails = true;
  for (std::int64_t id = 0; id < 10; ++id) users.remove(id);
  deliver();
  EXPECT_EQ(users.statistics().owed, 5u);
  level->fails = false;
  source.name = "grace";
  pass(seconds(1));
  for (std::int64_t id = 0; id < 10; ++id) {
    const Asker asker = begin(node, users, id);
    deliver();
    EXPECT_EQ(asker.says(), "grace");
  }
}

Task<void> remove_then(Cache<std::int64_t, User> users, std::int64_t id,
                       std::optional<Result<void>>& removed) {
  removed.emplace(co_await users.remove_everywhere(id));
}

TEST_F(SecondLevelTest, remove_everywhere_says_whether_it_is_gone_there) {
  const Users users = instance();
  source.takes = {};
  begin(node, users, 7);
  deliver();
  level->takes = milliseconds(5);
  std::optional<Result<void>> removed;
  Task<void> removal = remove_then(users, 7, removed);
  removal.start();
  EXPECT_FALSE(users.get(7));
  EXPECT_FALSE(removed);
  pass(milliseconds(5));
  ASSERT_TRUE(removed);
  EXPECT_TRUE(*removed);
  EXPECT_TRUE(level->kept.empty());
  level->takes = {};
  level->fails = true;
  Task<void> again = remove_then(users, 7, removed);
  again.start();
  EXPECT_EQ(removed->error().describe(), "connection refused");
}

TEST_F(SecondLevelTest, what_was_put_is_there_for_all) {
  const Users here = instance(), there = instance();
  node.turn();
  here.put(7, {.id = 7, .name = "put", .roles = {}});
  deliver();
  EXPECT_EQ(begin(other, there, 7).says(), "put");
  EXPECT_EQ(source.loads, 0);
}

TEST_F(SecondLevelTest, tags_are_refused_because_they_are_not_found_there) {
  const Users users = instance();
  const auto value = std::make_shared<const User>();
  EXPECT_THROW(users.put(1, value, {.ttl = {}, .tags = {"red"}}), std::logic_error);
}

class TaggedTest : public SecondLevelTest {
 protected:
  using Pages = Cache<std::string, std::string>;
  TaggedTest() {
    level->tagged = true;
    level->tells = true;
  }
  Pages pages() { return *Pages::make({.name = "pages", .ttl_jitter_percent = 0}, level); }
  Task<void> ask_for(Pages of, std::string key, std::string& answer) {
    auto load = [this](std::string) -> Task<Loaded<std::string>> {
      Loaded<std::string> loaded{.value = text, .tags = {"red", "all"}};
      ++loads;
      co_await net::sleep_for(takes);
      co_return loaded;
    };
    const auto got = co_await of.get_or_load(key, load);
    answer = got && *got ? **got : "nothing";
  }
  std::string ask(Node& on, const Pages& of, const std::string& key) {
    on.turn();
    std::string answer = "waits";
    Task<void> task = ask_for(of, key, answer);
    task.start();
    deliver();
    return answer;
  }

  std::string text = "one";
  Duration takes = {};
  int loads = 0;
};

TEST_F(TaggedTest, what_has_a_tag_is_gone_everywhere_with_it) {
  const Pages here = pages(), there = pages();
  EXPECT_EQ(ask(node, here, "first"), "one") << "which is not there: no mark had been asked for";
  EXPECT_EQ(ask(node, here, "a"), "one");
  EXPECT_EQ(ask(node, here, "b"), "one");
  EXPECT_EQ(ask(other, there, "a"), "one");
  EXPECT_EQ(ask(other, there, "b"), "one");
  EXPECT_EQ(loads, 3) << "the other instance has found two";
  text = "two";
  EXPECT_EQ(here.remove_tag("red"), 3u);
  deliver();
  EXPECT_TRUE(level->kept.empty());
  EXPECT_FALSE(there.get("a")) << "it was told, and the value came with its tags";
  EXPECT_EQ(ask(other, there, "a"), "two");
  EXPECT_EQ(ask(node, here, "a"), "two");
  EXPECT_EQ(loads, 4);
}

TEST_F(TaggedTest, no_mark_is_asked_for_while_the_second_level_is_left_alone) {
  const Pages here = *Pages::make(
      {.name = "pages", .ttl_jitter_percent = 0, .second_level = {.failures_max = 1}}, level);
  EXPECT_EQ(ask(node, here, "a"), "one");
  level->fails = true;
  EXPECT_EQ(ask(node, here, "b"), "one");
  const int marks = level->marks;
  EXPECT_EQ(ask(node, here, "c"), "one");
  EXPECT_EQ(level->marks, marks);
}

TEST_F(TaggedTest, a_load_that_began_before_its_tag_was_removed_elsewhere_is_kept_nowhere) {
  level->tells = false;  // so that only the mark tells
  const Pages here = pages(), there = pages();
  EXPECT_EQ(ask(node, here, "first"), "one");
  takes = milliseconds(10);
  node.turn();
  std::string answer;
  Task<void> slow = ask_for(here, "a", answer);
  slow.start();
  deliver();
  other.turn();
  there.remove_tag("all");
  deliver();
  pass(milliseconds(10));
  deliver();
  EXPECT_EQ(answer, "one") << "who waited has it";
  EXPECT_FALSE(here.get("a"));
  EXPECT_FALSE(level->kept.contains("pages:a"));
}

TEST_F(TaggedTest, a_tag_whose_removal_failed_is_owed_and_nothing_is_read_before_it_is_gone) {
  const Pages here = pages(), there = pages();
  EXPECT_EQ(ask(node, here, "first"), "one");
  EXPECT_EQ(ask(node, here, "a"), "one");
  ASSERT_TRUE(level->kept.contains("pages:a"));
  level->fails = true;
  text = "two";
  node.turn();
  Task<Result<void>> gone = here.remove_tag_everywhere("red");
  gone.start();
  deliver();
  ASSERT_TRUE(gone.done());
  EXPECT_FALSE(gone.result());
  EXPECT_EQ(here.statistics().owed, 1u);
  level->fails = false;
  EXPECT_EQ(ask(node, here, "a"), "two") << "what is there is not believed";
  deliver();
  EXPECT_EQ(here.statistics().owed, 0u) << "the write was a success, and what is owed followed";
}

TEST_F(TaggedTest, more_tags_than_can_be_owed_are_not_kept_and_what_is_there_is_not_believed) {
  const Pages here = *Pages::make({.name = "pages",
                                   .ttl = seconds(30),
                                   .ttl_jitter_percent = 0,
                                   .second_level = {.failures_max = 1,
                                                    .pause_min = milliseconds(10),
                                                    .pause_max = milliseconds(10),
                                                    .owed_max = 2}},
                                  level);
  EXPECT_EQ(ask(node, here, "first"), "one");
  EXPECT_EQ(ask(node, here, "a"), "one");
  level->fails = true;
  node.turn();
  for (const char* const tag : {"t0", "t1", "t2", "t3", "all"}) here.remove_tag(tag);
  deliver();
  EXPECT_EQ(here.statistics().owed, 2u);
  level->fails = false;
  text = "two";
  pass(seconds(1));
  EXPECT_EQ(ask(node, here, "b"), "two");
  deliver();
  EXPECT_EQ(here.statistics().owed, 0u);
  EXPECT_EQ(ask(node, here, "a"), "two") << "its tag was not among those that are owed";
}

TEST_F(TaggedTest, a_value_that_is_put_has_its_tags_there_and_without_tags_no_mark_is_asked_for) {
  const Pages here = pages(), there = pages();
  node.turn();
  here.put("plain", "x");
  deliver();
  EXPECT_EQ(ask(node, there, "plain"), "x");
  EXPECT_EQ(level->marks, 0);
  node.turn();
  here.put("a", "put", {.tags = {"red"}});
  deliver();
  EXPECT_EQ(ask(other, there, "a"), "put");
  EXPECT_EQ(there.remove_tag("red"), 1u);
  deliver();
  EXPECT_FALSE(here.get("a"));
  EXPECT_FALSE(level->kept.contains("pages:a"));
}

TEST_F(TaggedTest, more_tags_than_an_envelope_has_are_refused) {
  const Pages here = pages();
  node.turn();
  const PutOptions many{.tags = std::vector<std::string>(65, "x")};
  EXPECT_THROW(here.put("a", "x", many), std::logic_error);
  const PutOptions large{.tags = {std::string(201, 'x')}};
  EXPECT_THROW(here.put("a", "x", large), std::logic_error);
}

TEST_F(SecondLevelTest, with_a_lock_one_instance_loads_for_all) {
  const Options options{.second_level = {.lock = true, .lock_poll = milliseconds(20)}};
  const Users here = instance(options), there = instance(options);
  const Asker first = begin(node, here, 7);
  const Asker second = begin(other, there, 7);
  pass(milliseconds(10));
  EXPECT_EQ(first.says(), "ada");
  EXPECT_EQ(second.says(), "waits");
  deliver();
  pass(milliseconds(10));
  deliver();
  EXPECT_EQ(second.says(), "ada");
  EXPECT_EQ(source.loads, 1);
  EXPECT_TRUE(level->leases.empty());
}

TEST_F(SecondLevelTest,
       a_holder_of_the_lock_that_is_gone_holds_nobody_up_for_longer_than_its_lease) {
  const Options options{.second_level = {.lock = true, .lease = seconds(1)}};
  const Users here = instance(options), there = instance(options);
  source.takes = seconds(1000);
  begin(other, here, 7).task.reset();
  other.end();  // with the lock
  source.takes = {};
  const Asker second = begin(node, there, 7);
  for (int count = 0; count < 60; ++count) pass(milliseconds(20));
  EXPECT_EQ(second.says(), "ada");
  EXPECT_LE(source.loads, 2);
}

TEST_F(SecondLevelTest, an_instance_that_goes_away_in_the_midst_leaves_nothing_behind) {
  level->takes = milliseconds(10);
  {
    const Users users = instance();
    begin(other, users, 7);
    users.put(8, {.id = 8, .name = "x", .roles = {}});
  }
  other.end();
  pass(milliseconds(100));
}

TEST(Envelope, opens_what_it_sealed_and_nothing_else) {
  using namespace detail;
  const Timestamp now(std::chrono::seconds(1000));
  const std::string value = "octets\0with zero";
  const std::string sealed = seal("key", {"red", ""}, &value, now + std::chrono::seconds(5));
  const auto opened = open(sealed, "key", now);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->value, value);
  EXPECT_EQ(opened->left, seconds(5));
  EXPECT_FALSE(opened->absent);
  EXPECT_FALSE(open(sealed, "kez", now));
  EXPECT_FALSE(open(sealed, "ke", now));
  EXPECT_FALSE(open(sealed, "key", now + std::chrono::seconds(5)));
  const std::string none = seal("key", {}, nullptr, now + std::chrono::seconds(5));
  ASSERT_TRUE(open(none, "key", now));
  EXPECT_TRUE(open(none, "key", now)->absent);
  EXPECT_FALSE(open(none + "x", "key", now));
}

}  // namespace
}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
