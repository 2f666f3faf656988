#include "katana/stores/bus/memory_streams.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "katana/stores/bus/bus_fixture_test.hpp"

namespace katana::bus {
namespace {

using Said = std::vector<std::string>;

class StreamsTest : public BusTest {
 protected:
  StreamsTest() {
    on(0);
    ensure({.name = "orders", .subjects = {"orders.>"}});
  }
  Streams& streams() { return *bus().streams(); }
  template <class T>
  T done(Task<T> task) {
    task.start();
    settle();
    EXPECT_TRUE(task.done());
    return task.result();
  }
  void ensure(StreamOptions options) {
    const auto ensured = done(streams().ensure(options));
    EXPECT_TRUE(ensured) << ensured.error().describe();
  }
  Stored store(std::string subject, std::string payload, std::string id = {}) {
    const StoreOptions once{.id = std::move(id)};
    const auto stored = done(streams().store(std::move(subject), std::move(payload), once));
    EXPECT_TRUE(stored) << stored.error().describe();
    return stored.value_or(Stored{});
  }
  std::unique_ptr<Consumer> consume(ConsumeOptions options) {
    options.stream = "orders";
    auto consumer = done(streams().consume(options));
    EXPECT_TRUE(consumer) << consumer.error().describe();
    return *std::move(consumer);
  }
  // The message that comes at once; "-": none comes.
  std::string next(Consumer& consumer, bool acknowledge = true) {
    auto task = consumer.next();
    task.start();
    if (!task.done()) return "-";
    const auto message = task.result();
    if (!message) return "end";
    if (!*message) return (*message).error().describe();
    if (acknowledge) consumer.acknowledge(**message);
    return std::to_string((*message)->sequence) + "=" + std::string((*message)->message.payload());
  }
  static Said texts_of(const Result<std::vector<StoredMessage>>& messages) {
    Said said;
    for (const StoredMessage& each : *messages) said.emplace_back(each.message.payload());
    return said;
  }
};

TEST_F(StreamsTest, what_is_stored_is_read_from_any_position) {
  for (int number = 1; number <= 5; ++number) {
    EXPECT_EQ(store("orders.new", std::to_string(number)).sequence,
              static_cast<std::uint64_t>(number));
  }
  auto first = consume({});
  EXPECT_EQ(next(*first), "1=1");
  EXPECT_EQ(next(*first), "2=2");
  auto fourth = consume({.start = StartAt::sequence, .start_sequence = 4});
  EXPECT_EQ(next(*fourth), "4=4");
  auto last = consume({.start = StartAt::last});
  EXPECT_EQ(next(*last), "5=5");
  EXPECT_EQ(next(*last), "-");
  auto behind = consume({.start = StartAt::next});
  EXPECT_EQ(next(*behind), "-");
  store("orders.new", "6");
  EXPECT_EQ(next(*behind), "6=6");
}

TEST_F(StreamsTest, subscribers_and_plain_publications_have_part_in_it) {
  Said said;
  on(0);
  auto a = subscribe("orders.*", said);
  store("orders.new", "stored");
  publish("orders.new", "published");
  settle();
  EXPECT_EQ(said, (Said{"orders.new=stored", "orders.new=published"}));
  auto reader = consume({});
  EXPECT_EQ(next(*reader), "1=stored");
  EXPECT_EQ(next(*reader), "2=published");
}

TEST_F(StreamsTest, of_one_id_one_is_stored_within_the_window) {
  EXPECT_FALSE(store("orders.new", "a", "id-1").is_duplicate);
  const Stored again = store("orders.new", "a", "id-1");
  EXPECT_TRUE(again.is_duplicate);
  EXPECT_EQ(again.sequence, 1u);
  EXPECT_EQ(store("orders.new", "b", "id-2").sequence, 2u);
  pass(seconds(121));
  on(0);
  EXPECT_EQ(store("orders.new", "a", "id-1").sequence, 3u);
}

TEST_F(StreamsTest, what_is_not_acknowledged_comes_again) {
  store("orders.new", "a");
  store("orders.new", "b");
  auto reader = consume({.ack_wait = seconds(10)});
  EXPECT_EQ(next(*reader, false), "1=a");
  EXPECT_EQ(next(*reader), "2=b");
  EXPECT_EQ(next(*reader), "-");
  auto task = reader->next();
  task.start();
  pass(seconds(9));
  EXPECT_FALSE(task.done());
  pass(seconds(2));
  ASSERT_TRUE(task.done());
  const auto again = task.result();
  EXPECT_EQ((*again)->deliveries, 2u);
  EXPECT_EQ((*again)->message.payload(), "a");
  on(0);
  reader->reject(**again, seconds(1));
  EXPECT_EQ(next(*reader), "-");
  pass(seconds(2));
  on(0);
  EXPECT_EQ(next(*reader), "1=a");
  pass(seconds(60));
  on(0);
  EXPECT_EQ(next(*reader), "-");
}

TEST_F(StreamsTest, deliveries_end_at_their_limit) {
  store("orders.new", "a");
  auto reader = consume({.ack_wait = seconds(1), .deliveries_max = 2});
  EXPECT_EQ(next(*reader, false), "1=a");
  pass(seconds(2));
  on(0);
  EXPECT_EQ(next(*reader, false), "1=a");
  pass(seconds(2));
  on(0);
  EXPECT_EQ(next(*reader, false), "-");
}

TEST_F(StreamsTest, unacknowledged_messages_are_bounded) {
  for (int number = 0; number < 5; ++number) store("orders.new", "x");
  auto reader = consume({.unacknowledged_max = 2});
  auto first = reader->next();
  first.start();
  EXPECT_EQ(next(*reader, false), "2=x");
  EXPECT_EQ(next(*reader, false), "-");
  reader->acknowledge(**first.result());
  EXPECT_EQ(next(*reader, false), "3=x");
}

TEST_F(StreamsTest, a_durable_position_is_shared_and_outlives_its_readers) {
  for (int number = 0; number < 4; ++number) store("orders.new", std::to_string(number));
  {
    auto reader = consume({.durable = "billing"});
    EXPECT_EQ(next(*reader), "1=0");
  }
  auto one = consume({.durable = "billing"});
  on(1);
  auto other = consume({.durable = "billing"});
  on(0);
  EXPECT_EQ(next(*one), "2=1");
  on(1);
  EXPECT_EQ(next(*other), "3=2");
  on(0);
  EXPECT_EQ(next(*one), "4=3");
}

TEST_F(StreamsTest, a_filter_passes_over_other_subjects) {
  store("orders.new", "a");
  store("orders.paid", "b");
  store("orders.new", "c");
  auto reader = consume({.filter = "orders.paid"});
  EXPECT_EQ(next(*reader), "2=b");
  EXPECT_EQ(next(*reader), "-");
  auto last = consume({.start = StartAt::last_per_subject});
  EXPECT_EQ(next(*last), "2=b");
  EXPECT_EQ(next(*last), "3=c");
  store("orders.new.eu", "d");
  auto some = consume({.filter = "orders.*", .start = StartAt::last_per_subject});
  EXPECT_EQ(next(*some), "2=b");
  EXPECT_EQ(next(*some), "3=c");
  EXPECT_EQ(next(*some), "-") << "a filter may have wildcards";
}

TEST_F(StreamsTest, the_history_of_a_subject_and_what_came_after) {
  for (int number = 0; number < 6; ++number) {
    store(number % 2 == 0 ? "orders.even" : "orders.odd", std::to_string(number));
  }
  EXPECT_EQ(texts_of(done(streams().last("orders", "orders.even", 2))), (Said{"2", "4"}));
  EXPECT_EQ(texts_of(done(streams().last("orders", "orders.none", 2))), Said{});
  EXPECT_EQ(texts_of(done(streams().after("orders", "orders.*", 3, 10))), (Said{"3", "4", "5"}));
  EXPECT_EQ(texts_of(done(streams().after("orders", "orders.*", 3, 2))), (Said{"3", "4"}));
  EXPECT_EQ(done(streams().last("none", "orders.even", 2)).error().code(), Code::not_found);
}

TEST_F(StreamsTest, bounds_let_the_oldest_go) {
  ensure({.name = "small",
          .subjects = {"s.*"},
          .messages_max = 3,
          .messages_per_subject_max = 2,
          .age_max = seconds(60)});
  for (int number = 0; number < 4; ++number) store("s.a", std::to_string(number));
  EXPECT_EQ(texts_of(done(streams().after("small", ">", 0, 10))), (Said{"2", "3"}));
  store("s.b", "4");
  store("s.b", "5");
  EXPECT_EQ(texts_of(done(streams().after("small", ">", 0, 10))), (Said{"3", "4", "5"}));
  ensure({.name = "small", .subjects = {"s.*"}, .messages_per_subject_max = 1});
  EXPECT_EQ(texts_of(done(streams().after("small", ">", 0, 10))), (Said{"3", "5"}))
      << "a bound that is lowered holds at once";
  ensure({.name = "small", .subjects = {"s.*"}, .age_max = seconds(60)});
  pass(seconds(61));
  on(0);
  EXPECT_EQ(texts_of(done(streams().after("small", ">", 0, 10))), Said{});
  ensure({.name = "tiny", .subjects = {"t"}, .bytes_max = 4096});
  for (int number = 0; number < 10; ++number) store("t", std::string(1000, 'x'));
  EXPECT_LE(done(streams().after("tiny", ">", 0, 10))->size(), 2u);
}

TEST_F(StreamsTest, what_is_wrong_is_refused_with_a_reason) {
  const auto refused = [&](StreamOptions options) {
    return done(streams().ensure(options)).error().code();
  };
  EXPECT_EQ(refused({.name = "a.b", .subjects = {"x"}}), Code::invalid_argument);
  EXPECT_EQ(refused({.name = "a", .subjects = {}}), Code::invalid_argument);
  EXPECT_EQ(refused({.name = "a", .subjects = {"x..y"}}), Code::invalid_argument);
  EXPECT_EQ(refused({.name = "orders", .subjects = {"other"}}), Code::already_exists);
  ensure({.name = "orders", .subjects = {"orders.>"}, .messages_max = 5});
  EXPECT_EQ(done(streams().store("elsewhere", "x")).error().code(), Code::not_found);
  const ConsumeOptions none{.stream = "none"};
  EXPECT_EQ(done(streams().consume(none)).error().code(), Code::not_found);
}

TEST_F(StreamsTest, a_reader_waits_and_ends_when_it_is_closed) {
  auto reader = consume({});
  auto waiting = reader->next();
  waiting.start();
  EXPECT_FALSE(waiting.done());
  on(1);
  publish("orders.new", "a");  // from another reactor
  settle();
  ASSERT_TRUE(waiting.done());
  EXPECT_EQ((**waiting.result()).message.payload(), "a");
  on(0);
  auto ending = reader->next();
  ending.start();
  reader->close();
  settle();
  ASSERT_TRUE(ending.done());
  EXPECT_FALSE(ending.result());
}

TEST_F(StreamsTest, what_is_submitted_before_there_is_a_stream_is_stored_when_it_is_made) {
  std::vector<std::string> heard;
  auto subscribed = subscribe("later.*", heard);
  for (const char* const each : {"1", "2"}) {
    EXPECT_TRUE(streams().submit({.subject = "later.x", .payload = each}));
  }
  EXPECT_EQ(bus().statistics().submitted, 2u);
  settle();
  EXPECT_EQ(heard, (Said{"later.x=1", "later.x=2"})) << "subscribers have it at once, and once";
  ensure({.name = "later", .subjects = {"later.>"}});
  EXPECT_EQ(bus().statistics().submitted, 0u);
  EXPECT_TRUE(streams().submit({.subject = "later.y", .payload = "3"}));
  EXPECT_EQ(texts_of(done(streams().after("later", "later.>", 0, 10))), (Said{"1", "2", "3"}));
  settle();
  EXPECT_EQ(heard.size(), 3u);
}

TEST_F(StreamsTest, what_is_submitted_to_no_stream_is_bounded) {
  const std::size_t most = AwayOptions().messages_max;
  for (std::size_t count = 0; count < most; ++count) {
    ASSERT_TRUE(streams().submit({.subject = "later.x", .payload = "1"}));
  }
  EXPECT_EQ(streams().submit({.subject = "later.x", .payload = "1"}).error().code(),
            Code::resource_exhausted);
  EXPECT_TRUE(streams().submit({.subject = "orders.x", .payload = "1"}));
}

TEST_F(StreamsTest, what_left_the_stream_before_it_was_given_is_counted_in_its_place) {
  ensure({.name = "orders", .subjects = {"orders.>"}, .messages_max = 3});
  auto all = consume({});
  auto filtered = consume({.filter = "orders.new"});
  const auto missed_in = [&](Consumer& consumer) {
    const auto message = done(consumer.next());
    return (*message)->missed;
  };
  store("orders.new", "1");
  EXPECT_EQ(missed_in(*all), 0u);
  for (int number = 2; number <= 7; ++number) store("orders.new", std::to_string(number));
  EXPECT_EQ(missed_in(*all), 3u) << "2, 3 and 4";
  EXPECT_EQ(missed_in(*all), 0u);
  EXPECT_EQ(missed_in(*filtered), 0u) << "it cannot be known";
}

TEST_F(StreamsTest, a_consumer_says_how_much_there_was_when_it_began) {
  for (int number = 1; number <= 3; ++number) store("orders.new", std::to_string(number));
  store("orders.paid", "4");
  EXPECT_EQ(consume({})->waiting_at_begin(), 4u);
  EXPECT_EQ(consume({.filter = "orders.paid"})->waiting_at_begin(), 1u);
  EXPECT_EQ(consume({.start = StartAt::next})->waiting_at_begin(), 0u);
  EXPECT_EQ(consume({.start = StartAt::last_per_subject})->waiting_at_begin(), 2u);
  auto durable = consume({.durable = "d"});
  EXPECT_EQ(next(*durable, false), "1=1");
  EXPECT_EQ(consume({.durable = "d"})->waiting_at_begin(), 4u) << "one is not acknowledged";
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
