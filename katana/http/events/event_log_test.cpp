#include "katana/http/events/event_log.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana {
namespace {

using Said = std::vector<std::string>;
using Keys = std::vector<std::string>;

Timestamp at(std::int64_t us) { return Timestamp(std::chrono::microseconds(us)); }
std::string id_of(std::int64_t us, std::uint64_t sequence) {
  return fmt::format("{:x}-{}", us, sequence);
}

// "data", "!lost:3", "!lost" of an unknown number.
Said told(EventLog& log, EventReader& reader) {
  Said said;
  while (true) {
    const EventLog::Taken taken = log.take(reader);
    if (taken.is_lost) {
      said.push_back(taken.lost != 0 ? fmt::format("!lost:{}", taken.lost) : "!lost");
      continue;
    }
    if (taken.octets == nullptr) return said;
    const std::size_t data = taken.octets->find("data: ") + 6;
    said.push_back(taken.octets->substr(data, taken.octets->find('\n', data) - data));
  }
}

Said told_to(EventLog& log, std::string id, std::optional<Keys> keys = std::nullopt) {
  EventReader reader{.keys = std::move(keys), .wanted_id = std::move(id)};
  return told(log, reader);
}

class LocalLog : public testing::Test {
 protected:
  void add(Bytes data, Bytes key = {}) { (void)log_.add({.data = data, .key = key}); }
  EventLog log_{{.events_max = 4}, "a"};
};

TEST_F(LocalLog, a_reader_of_keys_is_given_its_events_and_those_of_everybody) {
  EventReader reader{.keys = Keys{"ann", "all"}}, nobody{.keys = Keys{}}, everything;
  for (EventReader* const each : {&reader, &nobody, &everything})
    EXPECT_EQ(told(log_, *each), Said{});
  add("1", "ann");
  add("2", "bob");
  add("3");
  add("4", "all");
  EXPECT_EQ(told(log_, reader), (Said{"1", "3", "4"}));
  EXPECT_EQ(told(log_, nobody), Said{"3"});
  EXPECT_EQ(told(log_, everything), (Said{"1", "2", "3", "4"}));
  add("5", "an");
  add("6", "anna");
  EXPECT_EQ(told(log_, reader), Said{}) << "a key is the whole text";
}

TEST_F(LocalLog, the_id_of_an_event_of_another_key_moves_a_reader_on) {
  EventReader reader{.keys = Keys{"ann"}};
  (void)told(log_, reader);
  add("1", "ann");
  EXPECT_EQ(told(log_, reader), Said{"1"});
  EXPECT_FALSE(reader.has_passed);
  EXPECT_EQ(log_.last_id(reader), "a-1");
  for (int count = 0; count < 3; ++count) add("x", "bob");
  EXPECT_EQ(told(log_, reader), Said{});
  EXPECT_TRUE(reader.has_passed);
  EXPECT_EQ(log_.last_id(reader), "a-4");
  add("5", "ann");
  EXPECT_EQ(told_to(log_, "a-4", Keys{"ann"}), Said{"5"});
  EXPECT_EQ(told_to(log_, "a-1", Keys{"ann"}), Said{"5"});
}

TEST_F(LocalLog, a_reader_of_keys_is_told_what_of_its_own_was_lost_and_nothing_of_others) {
  EventReader ann{.keys = Keys{"ann"}}, bob{.keys = Keys{"bob"}}, carl{.keys = Keys{"carl"}};
  for (EventReader* const each : {&ann, &bob, &carl}) (void)told(log_, *each);
  for (const char* const key : {"ann", "bob", "ann", "", "bob", "bob", "bob", "bob"}) add("x", key);
  // The last four are kept, all of bob. An event without a key was lost, too.
  EXPECT_EQ(told(log_, ann), Said{"!lost:3"});
  EXPECT_EQ(told(log_, bob), (Said{"!lost:2", "x", "x", "x", "x"}));
  EXPECT_EQ(told(log_, carl), Said{"!lost:1"});
  EXPECT_EQ(told_to(log_, "a-4", Keys{"ann"}), Said{}) << "behind what was lost";
}

TEST_F(LocalLog, what_was_forgotten_even_by_its_key_is_lost_without_a_number) {
  add("x", "ann");
  for (int count = 0; count < 6000; ++count) add("y", "bob");
  EXPECT_EQ(told_to(log_, "a-1", Keys{"ann"}), Said{"!lost"});
  EXPECT_EQ(told_to(log_, "a-1"), (Said{"!lost:5996", "y", "y", "y", "y"}));
  EXPECT_EQ(told_to(log_, "a-5000", Keys{"ann"}), Said{});
}

TEST_F(LocalLog, only_a_reader_that_does_not_take_in_time_is_slow) {
  for (int count = 0; count < 10; ++count) add("x");
  EventReader late{.wanted_id = "a-1"}, slow;
  const EventLog::Taken first = log_.take(late);
  EXPECT_TRUE(first.is_lost);
  EXPECT_FALSE(first.is_slow) << "it was away";
  (void)told(log_, slow);
  for (int count = 0; count < 10; ++count) add("x");
  EXPECT_TRUE(log_.take(slow).is_slow);
}

TEST_F(LocalLog, an_event_has_the_next_number_and_what_is_kept_from_a_number_on_is_known) {
  for (std::uint64_t number = 1; number <= 10; ++number) {
    EXPECT_EQ(log_.next_number(), number);
    EXPECT_EQ(log_.add({.data = "x"}), number);
  }
  EXPECT_EQ(log_.from(0).size(), 4u);
  EXPECT_EQ(log_.from(7).size(), 4u);
  EXPECT_EQ(log_.from(8).size(), 3u);
  EXPECT_EQ(log_.from(10).size(), 1u);
  EXPECT_EQ(log_.from(11).size(), 0u);
}

TEST_F(LocalLog, a_reader_that_has_passed_nothing_has_no_last_id) {
  EventReader reader;
  (void)told(log_, reader);
  EXPECT_EQ(log_.last_id(reader), "");
  add("1");
  EXPECT_EQ(log_.last_id(reader), "") << "it has not taken it yet";
}

TEST_F(LocalLog, the_keys_of_exactly_4096_events_that_are_gone_are_remembered) {
  EventReader ann{.keys = Keys{"ann"}}, late = ann;
  for (EventReader* const each : {&ann, &late}) EXPECT_EQ(told(log_, *each), Said{});
  add("x", "ann");
  for (int count = 0; count < 4095 + 4; ++count) add("y", "bob");
  EXPECT_EQ(told(log_, ann), Said{"!lost:1"});
  add("y", "bob");
  EXPECT_EQ(told(log_, late), Said{"!lost"}) << "the oldest of 4097 may have been hers";
}

TEST(LargeLog, remembers_the_keys_of_sixteen_times_the_events_that_it_keeps) {
  EventLog log({.events_max = 512}, "a");
  for (int count = 0; count < 1 + 16 * 512 + 512; ++count) {
    (void)log.add({.data = "y", .key = "bob"});
  }
  EXPECT_EQ(told_to(log, "a-1", Keys{"ann"}), Said{}) << "nothing of hers is lost";
  (void)log.add({.data = "y", .key = "bob"});
  EXPECT_EQ(told_to(log, "a-1", Keys{"ann"}), Said{"!lost"});
}

class StreamLogOfEvents : public testing::Test {
 protected:
  bool add(std::int64_t us, std::uint64_t sequence, Bytes data, bool is_anew = false,
           Bytes key = {}) {
    return log_.add_stored({.data = data, .key = key}, sequence, at(us), is_anew);
  }
  EventLog log_{{.events_max = 4}, ""};
};

TEST_F(StreamLogOfEvents, nobody_is_placed_before_what_the_stream_had_is_there) {
  EventReader back{.wanted_id = id_of(100, 7)}, fresh;
  EXPECT_EQ(told(log_, back), Said{});
  EXPECT_EQ(told(log_, fresh), Said{});
  add(100, 7, "7");
  add(200, 8, "8");
  EXPECT_EQ(told(log_, back), Said{});
  log_.note_loaded();
  EXPECT_EQ(told(log_, back), Said{"8"});
  EXPECT_EQ(told(log_, fresh), Said{});
  add(300, 9, "9");
  EXPECT_EQ(told(log_, back), Said{"9"});
  EXPECT_EQ(told(log_, fresh), Said{"9"});
  EXPECT_EQ(log_.published(), 9u);
}

TEST_F(StreamLogOfEvents, who_came_before_what_the_stream_had_was_there_is_told_what_came_since) {
  constexpr std::int64_t second = 1'000'000;
  EventReader early{.came_at = at(10 * second)}, late{.came_at = at(20 * second)},
      first{.came_at = at(second)};
  add(8 * second, 7, "7");
  add(9 * second, 8, "8");  // the clocks of the two may differ by one second
  add(11 * second, 9, "9");
  log_.note_loaded();
  EXPECT_EQ(told(log_, early), (Said{"8", "9"}));
  EXPECT_EQ(told(log_, late), Said{});
  EXPECT_EQ(told(log_, first), (Said{"!lost", "7", "8", "9"})) << "what left it may be of then";
  add(30 * second, 10, "10");
  EXPECT_EQ(told(log_, early), Said{"10"});
  EXPECT_EQ(told(log_, late), Said{"10"});
}

TEST_F(StreamLogOfEvents, what_left_the_stream_is_counted_by_the_id_of_who_comes_again) {
  for (std::uint64_t sequence = 6; sequence <= 8; ++sequence) {
    add(static_cast<std::int64_t>(sequence * 100), sequence, std::to_string(sequence));
  }
  log_.note_loaded();
  EXPECT_EQ(told_to(log_, id_of(200, 2)), (Said{"!lost:3", "6", "7", "8"}));
  EXPECT_EQ(told_to(log_, id_of(500, 5)), (Said{"6", "7", "8"}));
  EXPECT_EQ(told_to(log_, id_of(800, 8)), Said{});
  // A reader of keys that this process never saw.
  EXPECT_EQ(told_to(log_, id_of(200, 2), Keys{"ann"}), (Said{"!lost", "6", "7", "8"}));
  EXPECT_EQ(told_to(log_, id_of(500, 5), Keys{"ann"}), (Said{"6", "7", "8"}));
}

TEST_F(StreamLogOfEvents, an_id_of_another_life_of_the_stream_is_recognised_by_its_time) {
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    add(static_cast<std::int64_t>(1000 + sequence), sequence, std::to_string(sequence));
  }
  log_.note_loaded();
  const Said all{"!lost", "1", "2", "3"};
  EXPECT_EQ(told_to(log_, id_of(500, 2)), all) << "the same sequence, another time";
  EXPECT_EQ(told_to(log_, id_of(500, 900)), all) << "it had come further";
  for (const char* const each : {"nonsense", "-", "x-1", "1-", "1-x", "ffffffffffffffff-1",
                                 "fffffffffffffffff-1", "1-99999999999999999999"}) {
    EXPECT_EQ(told_to(log_, each), (Said{"1", "2", "3"})) << each;
  }
}

TEST_F(StreamLogOfEvents, what_another_process_has_sent_already_is_not_sent_again) {
  add(100, 1, "1");
  log_.note_loaded();
  EventReader reader{.wanted_id = id_of(300, 3)};
  EXPECT_EQ(told(log_, reader), Said{});
  add(200, 2, "2");
  add(300, 3, "3");
  add(400, 4, "4");
  EXPECT_EQ(told(log_, reader), Said{"4"});
}

TEST_F(StreamLogOfEvents, an_empty_stream_is_a_loss_for_who_has_seen_an_event_of_it) {
  log_.note_loaded();
  EXPECT_EQ(told_to(log_, id_of(300, 3)), Said{"!lost"});
  EXPECT_EQ(told_to(log_, ""), Said{});
  EventReader fresh;
  EXPECT_EQ(told(log_, fresh), Said{});
  add(900, 8, "8");  // events that the stream numbered before are not lost
  EXPECT_EQ(told(log_, fresh), Said{"8"});
}

TEST_F(StreamLogOfEvents, events_that_come_twice_are_kept_once) {
  EXPECT_TRUE(add(100, 1, "1"));
  EXPECT_TRUE(add(200, 2, "2"));
  EXPECT_FALSE(add(100, 1, "1"));
  EXPECT_FALSE(add(200, 2, "2"));
  EXPECT_EQ(log_.size(), 2u);
}

TEST_F(StreamLogOfEvents, a_gap_lies_in_its_place_and_takes_nothing_from_slow_readers) {
  add(100, 1, "1");
  log_.note_loaded();
  EventReader reader{.wanted_id = id_of(1, 1)}, behind;
  (void)told(log_, reader);
  (void)told(log_, behind);
  add(200, 2, "2");
  EXPECT_EQ(told(log_, reader), Said{"2"});
  add(600, 6, "6");
  EXPECT_EQ(told(log_, reader), (Said{"!lost:3", "6"}));
  EXPECT_EQ(told(log_, behind), (Said{"2", "!lost:3", "6"}));
  EventReader ann{.keys = Keys{"ann"}, .wanted_id = id_of(200, 2)};
  EXPECT_EQ(told(log_, ann), (Said{"!lost", "6"})) << "whose they were nobody knows";
  EXPECT_EQ(log_.published(), 6u);
  EXPECT_EQ(log_.size(), 3u) << "a gap is no event";
  EXPECT_EQ(log_.from(1).size(), 3u);
}

TEST_F(StreamLogOfEvents, a_stream_that_began_anew_goes_on_for_who_is_connected) {
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    add(static_cast<std::int64_t>(100 * sequence), sequence, std::to_string(sequence));
  }
  log_.note_loaded();
  EventReader reader{.wanted_id = id_of(200, 2)}, behind{.wanted_id = id_of(200, 2)};
  EXPECT_EQ(told(log_, reader), Said{"3"});
  log_.add_gap(0);
  EXPECT_EQ(told(log_, reader), Said{"!lost"}) << "at once, not with the next event";
  add(900, 1, "new 1", true);
  add(950, 2, "new 2");
  EXPECT_EQ(told(log_, reader), (Said{"new 1", "new 2"}));
  EXPECT_EQ(told(log_, behind), (Said{"3", "!lost", "new 1", "new 2"}));
  EXPECT_EQ(told_to(log_, id_of(900, 1)), Said{"new 2"});
  EXPECT_EQ(told_to(log_, id_of(300, 3)), (Said{"!lost", "new 1", "new 2"}));
}

TEST_F(StreamLogOfEvents, what_a_restored_store_gives_again_is_not_told_again) {
  for (std::uint64_t sequence = 1; sequence <= 6; ++sequence) {
    add(static_cast<std::int64_t>(100 * sequence), sequence, std::to_string(sequence));
  }
  log_.note_loaded();
  EventReader reader{.wanted_id = id_of(600, 6)};
  EXPECT_EQ(told(log_, reader), Said{});
  log_.add_gap(0);
  // The state after the fourth; the first two are no longer kept.
  for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) {
    EXPECT_FALSE(add(static_cast<std::int64_t>(100 * sequence), sequence, "again", sequence == 1));
  }
  EXPECT_TRUE(add(700, 5, "other 5"));
  EXPECT_TRUE(add(800, 6, "other 6"));
  EXPECT_EQ(told(log_, reader), (Said{"!lost", "other 5", "other 6"}));
}

TEST_F(StreamLogOfEvents, gaps_that_are_kept_no_more_are_counted_with_what_was_lost_in_them) {
  add(100, 1, "1");
  log_.note_loaded();
  add(500, 5, "5");
  for (std::uint64_t sequence = 6; sequence <= 9; ++sequence) {
    add(static_cast<std::int64_t>(100 * sequence), sequence, std::to_string(sequence));
  }
  EXPECT_EQ(told_to(log_, id_of(100, 1)), (Said{"!lost:4", "6", "7", "8", "9"}));
  EXPECT_EQ(told_to(log_, id_of(100, 1), Keys{"x"}), (Said{"!lost", "6", "7", "8", "9"}));
  log_.add_gap(0);
  for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) {
    add(static_cast<std::int64_t>(1000 + sequence), sequence, "new", sequence == 1);
  }
  EXPECT_EQ(told_to(log_, id_of(900, 9)), (Said{"!lost", "new", "new", "new", "new"}));
  for (int count = 0; count < 10; ++count) log_.add_gap(0);
  EXPECT_EQ(log_.size(), 0u) << "gaps are bounded, too";
}

TEST_F(StreamLogOfEvents, one_event_that_is_missing_is_a_gap_of_one) {
  add(100, 1, "1");
  log_.note_loaded();
  EventReader reader{.wanted_id = id_of(100, 1)};
  EXPECT_EQ(told(log_, reader), Said{});
  add(300, 3, "3");
  EXPECT_EQ(told(log_, reader), (Said{"!lost:1", "3"}));
}

TEST_F(StreamLogOfEvents, what_a_restored_store_adds_between_known_events_is_told) {
  for (std::uint64_t sequence = 1; sequence <= 6; ++sequence) {
    add(static_cast<std::int64_t>(100 * sequence), sequence, std::to_string(sequence));
  }
  log_.note_loaded();
  EventReader reader{.wanted_id = id_of(600, 6)};
  EXPECT_EQ(told(log_, reader), Said{});
  log_.add_gap(0);
  EXPECT_FALSE(add(100, 1, "1", true)) << "older than the first that is kept: it was here";
  EXPECT_FALSE(add(299, 2, "2"));
  EXPECT_TRUE(add(300, 9, "new")) << "as old as the first that is kept, and not it";
  EXPECT_TRUE(add(450, 10, "between"));
  EXPECT_FALSE(add(500, 5, "5")) << "sequences below the last one are duplicates";
  EXPECT_EQ(told(log_, reader), (Said{"!lost", "new", "between"}));
}

TEST_F(StreamLogOfEvents, the_size_of_a_very_large_gap_that_is_gone_is_a_lower_bound) {
  add(100, 1, "1");
  log_.note_loaded();
  EventReader reader{.wanted_id = id_of(100, 1)};
  EXPECT_EQ(told(log_, reader), Said{});
  const std::uint64_t far = std::uint64_t{1} << 33;
  for (std::uint64_t next = 0; next < 5; ++next) add(200, far + next, "x");
  const std::string least = std::to_string((std::uint64_t{1} << 32) - 2 + 1);
  EXPECT_EQ(told(log_, reader), (Said{"!lost:" + least, "x", "x", "x", "x"}));
}

TEST_F(StreamLogOfEvents, a_gap_in_front_is_told_together_with_what_was_lost_before_it) {
  add(100, 1, "1");
  log_.note_loaded();
  EventReader slow{.wanted_id = id_of(1, 1)}, of_keys{.keys = Keys{"ann"}};
  EXPECT_EQ(told(log_, slow), (Said{"!lost", "1"})) << "an id of another life";
  EXPECT_EQ(told(log_, of_keys), Said{});
  add(150, 2, "2");
  for (std::uint64_t sequence = 5; sequence <= 8; ++sequence) {
    add(static_cast<std::int64_t>(100 * sequence), sequence, std::to_string(sequence));
  }
  EXPECT_EQ(told(log_, slow), (Said{"!lost:3", "5", "6", "7", "8"})) << "2, and the gap of 3 and 4";
  EXPECT_EQ(told(log_, of_keys), (Said{"!lost", "5", "6", "7", "8"}));
  EXPECT_EQ(told_to(log_, id_of(50, 0)), (Said{"!lost:4", "5", "6", "7", "8"}));
}

TEST_F(StreamLogOfEvents, a_gap_of_unknown_size_makes_the_whole_loss_unknown) {
  add(100, 1, "1");
  log_.note_loaded();
  EventReader slow{.wanted_id = id_of(100, 1)};
  EXPECT_EQ(told(log_, slow), Said{});
  add(200, 2, "2");
  log_.add_gap(0);
  for (std::uint64_t next = 1; next <= 4; ++next) {
    add(static_cast<std::int64_t>(1000 + next), next, "new", next == 1);
  }
  EXPECT_EQ(told(log_, slow), (Said{"!lost", "new", "new", "new", "new"}));
}

TEST_F(StreamLogOfEvents, a_process_that_is_behind_sends_nothing_up_to_the_id_not_even_a_gap) {
  add(100, 1, "1");
  log_.note_loaded();
  add(300, 3, "3");
  EventReader reader{.wanted_id = id_of(900, 9)};
  EXPECT_EQ(told(log_, reader), Said{});
  EXPECT_FALSE(reader.has_passed);
  for (std::uint64_t sequence = 4; sequence <= 10; ++sequence) {
    add(static_cast<std::int64_t>(100 * sequence), sequence, std::to_string(sequence));
  }
  EXPECT_EQ(told_to(log_, id_of(900, 9)), Said{"10"});
}

TEST_F(StreamLogOfEvents, a_reader_of_keys_is_placed_by_what_this_process_saw) {
  add(100, 1, "1", false, "ann");
  log_.note_loaded();
  add(200, 2, "2", false, "bob");
  for (std::uint64_t sequence = 3; sequence <= 6; ++sequence) {
    add(static_cast<std::int64_t>(100 * sequence), sequence, "x", false, "bob");
  }
  EXPECT_EQ(told_to(log_, id_of(100, 1), Keys{"ann"}), Said{}) << "what is gone was not hers";
  EXPECT_EQ(told_to(log_, id_of(100, 1), Keys{"bob"}), (Said{"!lost:1", "x", "x", "x", "x"}));
  EXPECT_EQ(told_to(log_, id_of(50, 0), Keys{"ann"}), Said{"!lost:1"});
}

TEST_F(StreamLogOfEvents, the_last_id_is_that_of_the_event_before_a_gap) {
  add(100, 1, "1");
  log_.note_loaded();
  EventReader reader{.wanted_id = id_of(50, 0)};
  EXPECT_EQ(told(log_, reader), Said{"1"});
  log_.add_gap(0);
  EXPECT_EQ(told(log_, reader), Said{"!lost"});
  EXPECT_EQ(log_.last_id(reader), id_of(100, 1));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
