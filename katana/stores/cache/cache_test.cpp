#include "katana/stores/cache/cache.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <thread>

#include "katana/stores/cache/cache_fixture_test.hpp"

namespace katana::cache {
namespace {

TEST_F(CacheTest, what_was_put_is_found_until_its_time_is_over) {
  const Users users = make_users({.ttl = seconds(60)});
  node.turn();
  EXPECT_FALSE(users.get(7).is_known());
  EXPECT_TRUE(users.put(7, {.id = 7, .name = "ada", .roles = {"editor"}}));
  const Cached<User> found = users.get(7);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "ada");
  EXPECT_EQ(found->roles, std::vector<std::string>{"editor"});
  node.turn(milliseconds(59'999));
  EXPECT_TRUE(users.get(7));
  node.turn(milliseconds(1));
  EXPECT_FALSE(users.get(7).is_known());
  EXPECT_EQ(users.statistics().expired, 1u);
  EXPECT_EQ(users.statistics().entries, 0u);
}

TEST_F(CacheTest, who_has_a_value_keeps_it_when_the_cache_does_not) {
  const Users users = make_users();
  users.put(1, {.id = 1, .name = "ada", .roles = {}});
  const std::shared_ptr<const User> kept = users.get(1).share();
  EXPECT_TRUE(users.remove(1));
  EXPECT_FALSE(users.remove(1));
  EXPECT_EQ(kept->name, "ada");
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(CacheTest, keys_are_text_numbers_and_described_structs) {
  const auto by_text = *Cache<std::string, std::string>::make({});
  by_text.put("a", "1");
  by_text.put("", "empty");
  by_text.put(std::string("a\0b", 3), "2");
  EXPECT_EQ(*by_text.get("a"), "1");
  EXPECT_EQ(*by_text.get(""), "empty");
  EXPECT_EQ(*by_text.get(std::string("a\0b", 3)), "2");
  const auto by_number = *Cache<int, int>::make({});
  by_number.put(-1, 5);
  EXPECT_EQ(*by_number.get(-1), 5);
  EXPECT_FALSE(by_number.get(1));
  const auto by_struct = *Cache<User, int>::make({});
  by_struct.put({.id = 1, .name = "x", .roles = {}}, 8);
  EXPECT_EQ(*by_struct.get({.id = 1, .name = "x", .roles = {}}), 8);
  EXPECT_FALSE(by_struct.get({.id = 1, .name = "y", .roles = {}}));
}

TEST_F(CacheTest, a_load_is_made_once_for_all_who_ask_on_every_reactor) {
  const Users users = make_users();
  std::vector<Asker> askers;
  for (int count = 0; count < 5; ++count) askers.push_back(begin(node, users, 7));
  for (int count = 0; count < 5; ++count) askers.push_back(begin(other, users, 7));
  EXPECT_EQ(source.loads, 1);
  pass(milliseconds(9));
  for (const Asker& asker : askers) EXPECT_EQ(asker.says(), "waits");
  pass(milliseconds(1));
  for (const Asker& asker : askers) EXPECT_EQ(asker.says(), "ada");
  EXPECT_EQ(source.loads, 1);
  const Statistics statistics = users.statistics();
  EXPECT_EQ(statistics.loads, 1u);
  EXPECT_EQ(statistics.joined, 9u);
  EXPECT_EQ(statistics.misses, 10u);
  EXPECT_EQ(statistics.loads_running, 0u);
  const Asker later = begin(other, users, 7);
  EXPECT_EQ(later.says(), "ada");
  EXPECT_EQ(users.statistics().hits, 1u);
}

TEST_F(CacheTest, a_load_that_ends_at_once_does_not_suspend_who_asked) {
  const Users users = make_users();
  source.takes = {};
  EXPECT_EQ(begin(node, users, 7).says(), "ada");
}

TEST_F(CacheTest, a_failure_reaches_all_who_wait_and_is_not_kept) {
  const Users users = make_users();
  source.error = Error(Code::unavailable, "the database is down");
  const Asker first = begin(node, users, 7), second = begin(other, users, 7);
  pass(milliseconds(10));
  EXPECT_EQ(first.says(), "the database is down");
  EXPECT_EQ(second.says(), "the database is down");
  EXPECT_EQ(users.statistics().load_failures, 1u);
  EXPECT_EQ(users.statistics().entries, 0u);
  source.error.reset();
  const Asker third = begin(node, users, 7);
  pass(milliseconds(10));
  EXPECT_EQ(third.says(), "ada");
}

TEST_F(CacheTest, an_exception_of_the_loader_reaches_all_who_wait) {
  const Users users = make_users();
  source.throws = true;
  Asker first = begin(node, users, 7), second = begin(other, users, 7);
  pass(milliseconds(10));
  EXPECT_THROW(first.task->result(), std::runtime_error);
  EXPECT_THROW(second.task->result(), std::runtime_error);
}

TEST_F(CacheTest, that_there_is_none_is_remembered_for_a_time_of_its_own) {
  const Users users = make_users({.ttl = seconds(60), .negative_ttl = seconds(5)});
  source.exists = false;
  const Asker first = begin(node, users, 7);
  pass(milliseconds(10));
  EXPECT_EQ(first.says(), "none");
  EXPECT_EQ(begin(node, users, 7).says(), "none");
  EXPECT_TRUE(users.get(7).is_absent());
  EXPECT_FALSE(users.get(7));
  EXPECT_EQ(users.statistics().negative_hits, 3u);
  pass(seconds(5));
  EXPECT_FALSE(users.get(7).is_known());
  EXPECT_EQ(source.loads, 1);
  const Users forgetful = make_users({.negative_ttl = {}});
  const Asker second = begin(node, forgetful, 7);
  pass(milliseconds(10));
  EXPECT_EQ(second.says(), "none");
  EXPECT_FALSE(forgetful.get(7).is_known());
}

TEST_F(CacheTest, that_there_is_none_is_not_found_out_again_before_its_time) {
  const Users users = make_users({.negative_ttl = seconds(100), .refresh_ahead_percent = 50});
  source.exists = false;
  source.takes = {};
  EXPECT_EQ(begin(node, users, 7).says(), "none");
  pass(seconds(99));
  EXPECT_EQ(begin(node, users, 7).says(), "none");
  EXPECT_EQ(source.loads, 1);
}

TEST_F(CacheTest, a_load_that_fails_for_nobody_is_no_failed_refresh) {
  const Users users = make_users();
  source.error = Error(Code::unavailable, "the database is down");
  begin(node, users, 7).task.reset();
  pass(milliseconds(10));
  EXPECT_EQ(source.loads, 1);
  EXPECT_TRUE(node.failures.lines.empty());
}

TEST_F(CacheTest, of_few_entries_has_one_shard_and_keeps_all_of_them) {
  const auto numbers = *Cache<int, int>::make({.bytes_max = 256 << 20, .entries_max = 600});
  for (int number = 0; number < 600; ++number) numbers.put(number, number);
  for (int number = 0; number < 600; ++number) EXPECT_TRUE(numbers.get(number)) << number;
}

TEST_F(CacheTest, without_a_second_level_is_healthy) { EXPECT_TRUE(make_users().health()); }

TEST_F(CacheTest, who_is_cancelled_leaves_the_others_to_wait) {
  const Users users = make_users();
  Asker first = begin(node, users, 7);
  Asker second = begin(node, users, 7);
  const Asker third = begin(other, users, 7);
  first.task.reset();  // its request was the one that began the load
  second.task.reset();
  pass(milliseconds(10));
  EXPECT_EQ(third.says(), "ada");
  EXPECT_EQ(source.loads, 1);
}

TEST_F(CacheTest, a_load_that_nobody_waits_for_any_more_is_kept_all_the_same) {
  const Users users = make_users();
  begin(node, users, 7).task.reset();
  EXPECT_EQ(source.running, 1);
  pass(milliseconds(10));
  EXPECT_EQ(source.running, 0);
  EXPECT_EQ(users.get(7)->name, "ada");
}

TEST_F(CacheTest, who_is_destroyed_after_it_was_woken_does_not_go_on) {
  const Users users = make_users();
  Asker here = begin(other, users, 7), there = begin(node, users, 7);
  node.turn();
  // The load ends on the other node; its messages are on the way.
  other.turn(milliseconds(10));
  here.task.reset();
  there.task.reset();
  pass({});
  EXPECT_EQ(users.get(7)->name, "ada");
}

Task<std::string> ask_slow(Cache<std::int64_t, User> users, int& loads) {
  auto load = [&loads](std::int64_t id) -> Task<User> {
    ++loads;
    co_await net::sleep_for(milliseconds(100));
    co_return User{.id = id, .name = "ada", .roles = {}};
  };
  const auto answer = co_await users.get_or_load(1, load);
  co_return answer ? (*answer)->name : answer.error().describe();
}
// Asks with a timeout of `time`. The cache's error may come first.
Task<void> ask_within(Cache<std::int64_t, User> users, int& loads, Duration time,
                      std::string& says) {
  const Result<std::string> answer = co_await net::with_timeout(ask_slow(users, loads), time);
  says = answer ? *answer : answer.error().describe();
}

TEST_F(CacheTest, a_deadline_ends_the_wait_of_who_has_it_and_not_the_load) {
  const Users users = make_users();
  int loads = 0;
  std::string hasty, patient;
  node.turn();
  Task<void> first = ask_within(users, loads, milliseconds(20), hasty);
  first.start();
  Task<void> second = ask_within(users, loads, milliseconds(500), patient);
  second.start();
  pass(milliseconds(20));
  EXPECT_TRUE(hasty == "not done within 20 ms" ||
              hasty == "a value of cache 'users' was not loaded within the caller's time")
      << hasty;
  EXPECT_EQ(patient, "");
  pass(milliseconds(80));
  EXPECT_EQ(patient, "ada");
  EXPECT_EQ(loads, 1);
}

TEST_F(CacheTest, who_has_no_timer_of_its_own_ends_by_the_deadline_of_its_route) {
  const Users users = make_users();
  int loads = 0;
  node.turn();
  Task<std::string> asker = ask_slow(users, loads);
  {
    const DeadlineScope route(net::Reactor::current()->now() + milliseconds(20));
    asker.start();
  }
  pass(milliseconds(20));
  ASSERT_TRUE(asker.done());
  EXPECT_EQ(asker.result(), "a value of cache 'users' was not loaded within the caller's time");
  EXPECT_EQ(loads, 1);
  pass(milliseconds(80));
  EXPECT_TRUE(users.get(1));
}

TEST_F(CacheTest, a_load_moves_to_another_reactor_when_its_own_ends) {
  const Users users = make_users();
  Asker first = begin(other, users, 7);
  const Asker second = begin(node, users, 7), third = begin(node, users, 7);
  pass(milliseconds(5));
  first.task.reset();
  other.end();
  EXPECT_EQ(source.running, 0);
  node.turn();
  EXPECT_EQ(source.running, 1) << "it begins anew";
  EXPECT_EQ(second.says(), "waits");
  node.turn(milliseconds(10));
  node.turn();
  EXPECT_EQ(second.says(), "ada");
  EXPECT_EQ(third.says(), "ada");
  EXPECT_EQ(source.loads, 2);
  EXPECT_EQ(users.statistics().loads_moved, 1u);
}

TEST_F(CacheTest, a_load_moves_on_when_who_was_to_take_it_is_gone) {
  const Users users = make_users();
  Asker first = begin(other, users, 7);
  Asker second = begin(node, users, 7);
  const Asker third = begin(node, users, 7);
  first.task.reset();
  other.end();          // the second was told
  second.task.reset();  // and goes
  node.turn();
  node.turn(milliseconds(10));
  node.turn();
  EXPECT_EQ(third.says(), "ada");
}

TEST_F(CacheTest, a_load_that_nobody_waits_for_ends_with_its_reactor) {
  const Users users = make_users();
  begin(other, users, 7).task.reset();
  other.end();
  EXPECT_EQ(source.running, 0);
  const Asker next = begin(node, users, 7);
  pass(milliseconds(10));
  EXPECT_EQ(next.says(), "ada");
  EXPECT_EQ(source.loads, 2);
}

TEST_F(CacheTest, loads_that_ended_with_their_reactor_take_no_place) {
  const Users users = make_users({.loads_max = 1, .loads_waiting_max = 1});
  for (std::int64_t id = 0; id < 5; ++id) {
    begin(other, users, id).task.reset();
    other.end();
    other.reset();
  }
  const Asker next = begin(node, users, 7);
  pass(milliseconds(10));
  EXPECT_EQ(next.says(), "ada");
}

TEST_F(CacheTest, no_more_loads_run_than_are_allowed_and_no_more_wait) {
  const Users users = make_users({.loads_max = 2, .loads_waiting_max = 3});
  std::vector<Asker> askers;
  for (std::int64_t id = 0; id < 6; ++id) {
    askers.push_back(begin(id % 2 == 0 ? node : other, users, id));
  }
  EXPECT_EQ(source.running, 2);
  EXPECT_EQ(askers[5].says(),
            "cache 'users': 2 loads run and 3 wait, which is the limit (loads_max, "
            "loads_waiting_max)");
  for (int round = 0; round < 4; ++round) pass(milliseconds(10));
  for (std::size_t index = 0; index < 5; ++index) EXPECT_EQ(askers[index].says(), "ada") << index;
  EXPECT_EQ(source.running_max, 2);
  EXPECT_EQ(users.statistics().loads_refused, 1u);
}

TEST_F(CacheTest, a_load_that_was_given_up_gives_its_place_to_the_next) {
  const Users users = make_users({.loads_max = 1, .load_timeout = milliseconds(50)});
  source.takes = seconds(1000);
  const Asker first = begin(node, users, 1);
  const Asker second = begin(other, users, 2);
  source.takes = milliseconds(1);
  pass(milliseconds(50));
  EXPECT_EQ(first.says(), "load a value of cache 'users': not done within 50 ms");
  pass(milliseconds(1));
  pass({});
  EXPECT_EQ(second.says(), "ada");
}

TEST_F(CacheTest, what_was_removed_while_it_was_loaded_is_not_kept) {
  const Users users = make_users();
  const Asker first = begin(node, users, 7);
  source.name = "grace";
  users.remove(7);
  const Asker second = begin(node, users, 7);  // asks after the change: its own load
  EXPECT_EQ(source.loads, 2);
  pass(milliseconds(10));
  EXPECT_EQ(second.says(), "grace");
  EXPECT_EQ(users.get(7)->name, "grace");
}

TEST_F(CacheTest, an_old_load_that_ends_last_is_not_kept) {
  const Users users = make_users();
  source.takes = milliseconds(100);
  const Asker first = begin(node, users, 7);
  pass(milliseconds(10));
  users.put(7, {.id = 7, .name = "put", .roles = {}});
  pass(milliseconds(90));
  EXPECT_EQ(first.says(), "ada");
  EXPECT_EQ(users.get(7)->name, "put");
  const Asker second = begin(node, users, 8);
  users.clear();
  pass(milliseconds(100));
  EXPECT_EQ(second.says(), "ada");
  EXPECT_FALSE(users.get(8));
}

TEST_F(CacheTest, tags_and_prefixes_remove_what_has_them) {
  const auto pages = *Cache<std::string, std::string>::make({});
  pages.put("/a", "1", {.ttl = {}, .tags = {"user:1", "list"}});
  pages.put("/b", "2", {.ttl = {}, .tags = {"user:2", "list", "list"}});
  pages.put("/ab", "3");
  EXPECT_EQ(pages.remove_tag("user:1"), 1u);
  EXPECT_FALSE(pages.get("/a"));
  EXPECT_TRUE(pages.get("/b"));
  EXPECT_EQ(pages.remove_tag("list"), 1u);
  EXPECT_EQ(pages.remove_tag("list"), 0u);
  pages.put("/a", "4");
  EXPECT_EQ(pages.remove_prefix("/a"), 2u);
  EXPECT_EQ(pages.clear(), 0u);
}

Task<void> ask_tagged(Cache<std::string, std::string> pages, std::string key, std::string tag) {
  auto load = [tag](std::string) -> Task<Loaded<std::string>> {
    co_await net::sleep_for(milliseconds(10));
    Loaded<std::string> loaded;
    loaded.value = "text";
    loaded.ttl = seconds(1);
    loaded.tags.push_back(tag);
    co_return loaded;
  };
  (void)co_await pages.get_or_load(key, load);
}

TEST_F(CacheTest, a_load_whose_tag_was_removed_meanwhile_is_not_kept) {
  const auto pages = *Cache<std::string, std::string>::make({.ttl_jitter_percent = 0});
  node.turn();
  Task<void> first = ask_tagged(pages, "a", "red");
  first.start();
  Task<void> second = ask_tagged(pages, "b", "blue");
  second.start();
  pages.remove_tag("red");
  pass(milliseconds(10));
  EXPECT_FALSE(pages.get("a"));
  EXPECT_TRUE(pages.get("b"));
  pass(seconds(1));
  EXPECT_FALSE(pages.get("b")) << "a ttl of its own";
  // More tags are removed than are remembered: the first ones are forgotten.
  Task<void> third = ask_tagged(pages, "c", "green");
  third.start();
  for (int count = 0; count < 2000; ++count) pages.remove_tag(std::to_string(count));
  pass(milliseconds(10));
  EXPECT_FALSE(pages.get("c"));
}

TEST_F(CacheTest, what_was_found_out_before_its_tag_was_removed_is_not_put) {
  for (const int earlier : {0, 1, 5, 1022, 1023, 1024, 1025, 3000}) {
    for (const int later : {0, 1, 500, 1022}) {
      const auto pages = *Cache<std::string, std::string>::make({.ttl_jitter_percent = 0});
      const auto remove = [&pages](int count) {
        for (; count > 0; --count) pages.remove_tag("other");
      };
      remove(earlier);
      PutOptions red{.ttl = {}, .tags = {"red"}, .mark = pages.mark()};
      pages.remove_tag("red");
      remove(later);
      EXPECT_FALSE(pages.put("a", "x", red)) << earlier << " " << later;
      EXPECT_FALSE(pages.get("a"));
      red.tags = {"blue"};
      EXPECT_TRUE(pages.put("a", "x", red));
      red.mark = pages.mark();
      red.tags = {"red"};
      EXPECT_TRUE(pages.put("a", "x", red));
      pages.clear();
      EXPECT_FALSE(pages.put("a", "x", red)) << "everything was removed since";
    }
  }
}

TEST_F(CacheTest, a_value_is_loaded_again_before_its_end_by_one_of_those_who_ask) {
  const Users users = make_users({.ttl = seconds(100), .refresh_ahead_percent = 20});
  source.takes = {};
  EXPECT_EQ(begin(node, users, 7).says(), "ada");
  source.takes = milliseconds(10);
  source.name = "grace";
  pass(seconds(79));
  EXPECT_EQ(begin(node, users, 7).says(), "ada");
  EXPECT_EQ(source.loads, 1);
  pass(seconds(11));
  for (int count = 0; count < 20; ++count) {
    EXPECT_EQ(begin(count % 2 == 0 ? node : other, users, 7).says(), "ada") << "nobody waits";
  }
  EXPECT_EQ(source.loads, 2);
  pass(milliseconds(10));
  EXPECT_EQ(begin(node, users, 7).says(), "grace");
  EXPECT_EQ(users.statistics().refreshes, 1u);
  EXPECT_EQ(users.statistics().misses, 1u);
  EXPECT_TRUE(node.failures.lines.empty() && other.failures.lines.empty());
}

TEST_F(CacheTest, a_refresh_that_fails_is_reported_and_tried_again_later) {
  const Users users = make_users({.ttl = seconds(100), .refresh_ahead_percent = 20});
  source.takes = {};
  EXPECT_EQ(begin(node, users, 7).says(), "ada");
  pass(seconds(92));
  source.error = Error(Code::unavailable, "the database is down");
  for (int count = 0; count < 5; ++count) EXPECT_EQ(begin(node, users, 7).says(), "ada");
  EXPECT_EQ(source.loads, 2);
  ASSERT_EQ(node.failures.lines.size(), 1u);
  EXPECT_EQ(node.failures.lines[0],
            "cache 'users': a refresh of a value failed: the database is down");
  pass(seconds(5));  // more than half of what was left
  EXPECT_EQ(begin(node, users, 7).says(), "ada");
  EXPECT_EQ(source.loads, 3);
  pass(seconds(3));
  EXPECT_EQ(begin(node, users, 7).says(), "the database is down");
}

TEST_F(CacheTest, times_are_spread_and_never_longer_than_they_may_be) {
  const auto numbers = *Cache<int, int>::make({.ttl = seconds(100), .ttl_jitter_percent = 20});
  node.turn();
  for (int key = 0; key < 1000; ++key) numbers.put(key, key);
  int left_before = 1000;
  for (int second = 1; second <= 100; ++second) {
    node.turn(seconds(1));
    int left = 0;
    for (int key = 0; key < 1000; ++key) left += numbers.get(key) ? 1 : 0;
    EXPECT_TRUE(second >= 80 || left == 1000) << second;
    EXPECT_LT(left_before - left, 120) << second;
    left_before = left;
  }
  EXPECT_EQ(left_before, 0);
}

TEST_F(CacheTest, a_value_that_is_too_large_is_given_and_not_kept) {
  const auto texts =
      *Cache<std::string, std::string>::make({.bytes_max = std::size_t{1} << 20, .shards = 1});
  EXPECT_FALSE(texts.put("large", std::string(600 * 1024, 'x')));
  EXPECT_FALSE(texts.get("large"));
  EXPECT_EQ(texts.statistics().refused, 1u);
  EXPECT_TRUE(texts.put("less", std::string(500 * 1024, 'x')));
  EXPECT_TRUE(texts.get("less"));
  EXPECT_EQ(texts.value_bytes_max(), 512u * 1024);
}

TEST_F(CacheTest, options_that_are_wrong_are_named) {
  const auto words = [](Options options) {
    const auto made = Cache<int, int>::make(options);
    return made ? std::string() : made.error().describe();
  };
  EXPECT_NE(words({.name = "a:b"}).find("name"), std::string::npos);
  EXPECT_NE(words({.bytes_max = 5}).find("bytes_max"), std::string::npos);
  EXPECT_NE(words({.ttl = {}}).find("ttl"), std::string::npos);
  EXPECT_NE(words({.bytes_max = 1 << 20, .shards = 64}).find("shards"), std::string::npos);
  EXPECT_NE(words({.entries_max = 16, .shards = 32}).find("entries_max"), std::string::npos);
  EXPECT_EQ(words({.bytes_max = 1 << 20, .shards = 3}), "");
  EXPECT_EQ(words({.bytes_max = 64 << 10, .shards = 1}), "");
  EXPECT_EQ(words({.bytes_max = 128 << 10, .shards = 2}), "");
  EXPECT_NE(words({.bytes_max = (128 << 10) - 1, .shards = 2}).find("64 KiB each"),
            std::string::npos);
  EXPECT_EQ(words({.entries_max = 32, .shards = 32}), "");
}

TEST_F(CacheTest, a_name_has_letters_digits_and_three_signs) {
  const std::string taken = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  for (int byte = 1; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool is_taken = check({.name = std::string("a") + c}).has_value();
    EXPECT_EQ(is_taken, taken.find(c) != std::string::npos) << byte;
  }
}

TEST(CacheThreads, without_a_reactor_it_gives_and_takes_and_a_load_says_what_to_do) {
  const auto numbers = *Cache<int, int>::make({});
  std::thread([&] {
    numbers.put(1, 10);
    EXPECT_EQ(*numbers.get(1), 10);
    auto load = [](int key) -> Task<int> { co_return key; };
    auto asks = [](Cache<int, int> from, auto loader) -> Task<void> {
      (void)co_await from.get_or_load(2, loader);
    };
    Task<void> task = asks(numbers, load);
    task.start();
    EXPECT_THROW(task.result(), std::logic_error);
    auto hits = [](Cache<int, int> from, auto loader) -> Task<void> {
      EXPECT_EQ(**(co_await from.get_or_load(1, loader)), 10);
    };
    Task<void> hit = hits(numbers, load);
    EXPECT_TRUE(hit.start());
    hit.result();
  }).join();
}

}  // namespace
}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
