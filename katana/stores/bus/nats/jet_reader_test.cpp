// Tests of consumers that lose the server, the consumer or the stream, in virtual time.
#include "katana/stores/bus/nats/jet_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/stores/bus/nats/fake_jetstream_test.hpp"

namespace katana::bus {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Said = std::vector<std::string>;

class JetReaderTest : public testing::Test {
 protected:
  JetReaderTest() {
    net::ReactorOptions options;
    options.engine.links_max = 16;
    options.output_blocks_max = 64;
    options.output_blocks_reserve = 8;
    options.carry_large_max = 4;
    reactor_ = std::make_unique<net::ReactorOn<engine::SimEngine>>(options, 64, network_);
    EXPECT_TRUE(reactor_->start());
    reactor_->turn({});
    bus_ = std::make_unique<FakeJetStream>(*reactor_);
  }
  ~JetReaderTest() override {
    reactor_->turn({});
    reading_.reset();
    consumer_.reset();
    bus_->stop();
    reactor_.reset();
  }

  void settle() {
    for (int rounds = 0; rounds < 12; ++rounds) reactor_->turn({});
  }
  void pass(Duration time) {
    const Instant end = network_.now() + time;
    while (network_.now() < end) {
      settle();
      network_.run_next(std::max(std::min(end, reactor_->timers().next()), network_.now()));
      settle();
    }
  }
  template <class T>
  T done(Task<T> task) {
    task.start();
    for (int rounds = 0; rounds < 100 && !task.done(); ++rounds) pass(milliseconds(100));
    EXPECT_TRUE(task.done());
    return task.result();
  }
  void ensure(const StreamOptions& options) {
    const auto ensured = done(bus_->jet().ensure(options));
    EXPECT_TRUE(ensured) << ensured.error().describe();
  }
  void ensure_orders() { ensure({.name = "orders", .subjects = {"orders.>"}}); }
  void consume(ConsumeOptions options = {}) {
    options.stream = "orders";
    auto made = done(bus_->jet().consume(options));
    ASSERT_TRUE(made) << made.error().describe();
    consumer_ = *std::move(made);
  }
  // Reads on, and notes messages as "sequence=payload", errors as "!code text".
  static Task<void> read_all(Consumer& consumer, Said& said, bool acknowledges,
                             std::vector<StoredMessage>& messages) {
    while (auto next = co_await consumer.next()) {
      if (!*next) {
        said.push_back(
            fmt::format("!{}: {}", code_name((*next).error().code()), (*next).error().describe()));
        continue;
      }
      said.push_back(fmt::format("{}={}", (*next)->sequence, (*next)->message.payload()));
      if (acknowledges) consumer.acknowledge(**next);
      messages.push_back(**std::move(next));
    }
    said.emplace_back("end");
  }
  void read(bool acknowledges = true) {
    reading_.emplace(read_all(*consumer_, said_, acknowledges, messages_));
    reading_->start();
    settle();
  }
  void store(int from, int to) {
    for (int number = from; number <= to; ++number) {
      bus_->store("orders.new", std::to_string(number));
    }
    settle();
  }
  Said taken() { return std::exchange(said_, {}); }

  engine::SimNetwork network_{1, engine::SimFaults::calm()};
  std::unique_ptr<net::ReactorOn<engine::SimEngine>> reactor_;
  std::unique_ptr<FakeJetStream> bus_;
  std::unique_ptr<Consumer> consumer_;
  std::optional<Task<void>> reading_;
  Said said_;
  std::vector<StoredMessage> messages_;
};

TEST_F(JetReaderTest, a_consumer_that_vanished_is_made_again_behind_the_last_message) {
  ensure_orders();
  consume();
  read();
  store(1, 3);
  EXPECT_THAT(taken(), ElementsAre("1=1", "2=2", "3=3"));
  bus_->restart();  // the connection stands, and nothing answers the pull
  store(4, 5);
  pass(seconds(5));
  EXPECT_THAT(taken(), ElementsAre("4=4", "5=5"));
  store(6, 6);
  EXPECT_THAT(taken(), ElementsAre("6=6"));
  EXPECT_EQ(bus_->statistics().stream_recoveries, 1u);
  EXPECT_THAT(bus_->told.lines, ElementsAre("going: stream 'orders'"));
  EXPECT_TRUE(bus_->health().ready);
}

TEST_F(JetReaderTest, a_server_that_was_restarted_is_asked_at_once_when_it_is_there) {
  ensure_orders();
  consume();
  read();
  store(1, 1);
  bus_->disconnect();
  settle();
  EXPECT_THAT(taken(), ElementsAre("1=1", HasSubstr("!unavailable")));
  const std::size_t asked = bus_->asked.size();
  pass(seconds(600));
  EXPECT_EQ(bus_->asked.size(), asked) << "nothing is asked of a server that is away";
  EXPECT_THAT(taken(), IsEmpty()) << "and it is told once";
  bus_->restart();
  store(2, 2);
  bus_->connect();
  settle();
  EXPECT_THAT(taken(), ElementsAre("2=2"));
}

TEST_F(JetReaderTest, a_consumer_that_was_deleted_is_made_again_at_once) {
  ensure_orders();
  consume();
  read();
  store(1, 1);
  bus_->delete_consumer("eph1", true);
  settle();
  store(2, 2);
  EXPECT_THAT(taken(), ElementsAre("1=1", "2=2"));
}

TEST_F(JetReaderTest,
       what_was_acknowledged_to_the_lost_consumer_does_not_come_again_and_the_rest_does) {
  ensure_orders();
  consume();
  read(false);
  store(1, 4);
  EXPECT_EQ(taken().size(), 4u);
  consumer_->acknowledge(messages_[0]);
  consumer_->acknowledge(messages_[2]);
  bus_->restart();
  consumer_->acknowledge(messages_[3]);  // to a consumer that is gone
  pass(seconds(5));
  EXPECT_THAT(taken(), ElementsAre("2=2"));
  store(5, 5);
  EXPECT_THAT(taken(), ElementsAre("5=5"));
}

TEST_F(JetReaderTest, a_consumer_from_now_on_misses_nothing_of_what_is_stored_while_it_is_lost) {
  ensure_orders();
  store(1, 3);
  consume({.start = StartAt::next});
  read();
  bus_->restart();
  store(4, 5);
  pass(seconds(5));
  EXPECT_THAT(taken(), ElementsAre("4=4", "5=5"));
}

TEST_F(JetReaderTest,
       a_stream_that_this_process_made_is_made_again_and_read_from_its_first_message) {
  ensure_orders();
  consume();
  read();
  store(1, 3);
  taken();
  bus_->lose_state();
  pass(milliseconds(3500));
  EXPECT_THAT(taken(), ElementsAre(AllOf(HasSubstr("!not found"), HasSubstr("stays so"))));
  EXPECT_EQ(bus_->count_asked("STREAM.CREATE"), 1u) << "whoever replaces it has the time for it";
  pass(seconds(2));
  EXPECT_THAT(taken(), ElementsAre(AllOf(HasSubstr("!data loss"), HasSubstr("sequence 3"))));
  store(1, 2);
  EXPECT_THAT(taken(), ElementsAre("1=1", "2=2"));
  EXPECT_TRUE(messages_[3].is_anew);
  EXPECT_FALSE(messages_[4].is_anew);
  EXPECT_EQ(bus_->statistics().stream_gaps, 1u);
  EXPECT_THAT(bus_->told.lines, ElementsAre(HasSubstr("gap: stream 'orders'"), HasSubstr("going")));
}

TEST_F(JetReaderTest,
       a_stream_of_another_process_is_waited_for_and_the_bus_is_not_ready_meanwhile) {
  bus_->streams_kept["orders"] = {.created = "x", .subjects = {"orders.>"}};
  consume();
  read();
  store(1, 1);
  taken();
  const auto before = std::exchange(bus_->streams_kept, {});
  bus_->restart();
  pass(seconds(60));
  EXPECT_THAT(taken(), ElementsAre(AllOf(HasSubstr("!not found"), HasSubstr("Streams::ensure()"))))
      << "once";
  EXPECT_FALSE(bus_->health().ready);
  EXPECT_THAT(bus_->health().detail, HasSubstr("stream 'orders' cannot go on"));
  EXPECT_THAT(bus_->told.lines, ElementsAre(HasSubstr("stalled: stream 'orders': ")));
  EXPECT_EQ(bus_->statistics().streams_stalled, 1u);
  EXPECT_LE(bus_->count_asked("STREAM.INFO"), 45u) << "with pauses of 2 s";
  bus_->streams_kept = before;
  store(2, 2);
  pass(seconds(4));
  EXPECT_THAT(taken(), ElementsAre("2=2"));
  EXPECT_TRUE(bus_->health().ready);
  EXPECT_EQ(bus_->told.lines.back(), "going: stream 'orders'");
}

TEST_F(JetReaderTest, another_stream_of_the_same_name_is_recognised_though_it_has_come_further) {
  ensure_orders();
  consume();
  read();
  store(1, 3);
  taken();
  bus_->streams_kept.clear();
  bus_->restart();
  bus_->streams_kept["orders"] = {.created = "another", .subjects = {"orders.>"}};
  store(1, 9);
  pass(seconds(4));
  EXPECT_THAT(taken(), ElementsAre(HasSubstr("!data loss"), "1=1", "2=2", "3=3", "4=4", "5=5",
                                   "6=6", "7=7", "8=8", "9=9"));
}

TEST_F(JetReaderTest, sequences_that_went_back_are_recognised) {
  ensure_orders();
  consume();
  read();
  store(1, 5);
  taken();
  bus_->go_back("orders", 3);
  pass(seconds(4));
  EXPECT_THAT(taken(), ElementsAre(HasSubstr("!data loss"), "1=1", "2=2", "3=3"));
  bus_->store("orders.new", "other 4");
  settle();
  EXPECT_THAT(taken(), ElementsAre("4=other 4"));
}

TEST_F(JetReaderTest, sequences_that_went_back_and_came_past_the_position_are_recognised) {
  ensure_orders();
  consume();
  read();
  store(1, 5);
  taken();
  bus_->go_back("orders", 3);
  pass(milliseconds(1500));
  for (int number = 4; number <= 7; ++number) {
    bus_->store("orders.new", fmt::format("other {}", number));
  }
  pass(seconds(4));
  EXPECT_THAT(taken(), ElementsAre(HasSubstr("!data loss"), "1=1", "2=2", "3=3", "4=other 4",
                                   "5=other 5", "6=other 6", "7=other 7"));
}

TEST_F(JetReaderTest, what_left_the_stream_during_an_outage_is_told_with_its_number) {
  ensure_orders();
  consume();
  read();
  store(1, 2);
  taken();
  bus_->disconnect();
  bus_->restart();
  store(3, 9);
  bus_->expire("orders", 7);
  bus_->connect();
  pass(milliseconds(10));
  const Said said = taken();
  ASSERT_EQ(said.size(), 5u) << testing::PrintToString(said);
  EXPECT_THAT(said[1], AllOf(HasSubstr("!data loss"), HasSubstr("messages 3 to 6")));
  EXPECT_EQ(said[2], "7=7");
  EXPECT_EQ(messages_[2].missed, 4u);
  EXPECT_EQ(messages_[3].missed, 0u);
  EXPECT_EQ(bus_->statistics().stream_missed, 4u);
}

TEST_F(JetReaderTest, what_left_the_stream_while_its_reader_was_slow_is_counted) {
  ensure_orders();
  consume({.unacknowledged_max = 1});
  store(1, 5);
  auto first = done(consumer_->next());
  ASSERT_TRUE(first && *first);
  bus_->expire("orders", 4);
  consumer_->acknowledge(**first);
  auto second = done(consumer_->next());
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->sequence, 4u);
  EXPECT_EQ((*second)->missed, 2u);
}

TEST_F(JetReaderTest, with_a_filter_what_is_between_is_no_gap) {
  ensure_orders();
  consume({.filter = "orders.paid"});
  read();
  store(1, 3);
  bus_->store("orders.paid", "4");
  settle();
  EXPECT_THAT(taken(), ElementsAre("4=4"));
  EXPECT_EQ(messages_[0].missed, 0u);
  bus_->restart();
  store(5, 6);
  bus_->store("orders.paid", "7");
  pass(seconds(5));
  EXPECT_THAT(taken(), ElementsAre("7=7"));
  EXPECT_EQ(messages_[1].missed, 0u);
}

TEST_F(JetReaderTest, a_durable_consumer_that_is_there_goes_on_and_is_not_made_again) {
  ensure_orders();
  consume({.durable = "billing"});
  read();
  store(1, 2);
  taken();
  bus_->restart();
  store(3, 3);
  pass(seconds(5));
  EXPECT_THAT(taken(), ElementsAre("3=3"));
  EXPECT_EQ(bus_->count_asked("CONSUMER.DURABLE.CREATE"), 1u);
}

TEST_F(JetReaderTest, a_durable_consumer_that_was_removed_is_made_again_at_its_position) {
  ensure_orders();
  consume({.durable = "billing"});
  read(false);
  store(1, 4);
  taken();
  for (const std::size_t index : {0u, 1u, 3u}) consumer_->acknowledge(messages_[index]);
  bus_->delete_consumer("billing", false);
  store(5, 5);
  pass(seconds(5));
  // The third was not acknowledged; the fourth comes again, as at least once allows.
  EXPECT_THAT(taken(), ElementsAre("3=3", "4=4", "5=5"));
}

TEST_F(JetReaderTest, a_removed_durable_consumer_with_other_readers_skips_nothing_of_theirs) {
  ensure_orders();
  consume({.durable = "billing"});
  read();
  store(1, 2);
  bus_->consumers.at("billing").number += 3;  // given to another reader, which has not answered
  bus_->consumers.at("billing").next += 3;
  bus_->consumers.at("billing").floor = 2;
  store(3, 6);
  EXPECT_THAT(taken(), ElementsAre("1=1", "2=2", "6=6"));
  bus_->delete_consumer("billing", false);
  pass(seconds(5));
  const Said said = taken();
  for (const char* const each : {"3=3", "4=4", "5=5"}) EXPECT_THAT(said, Contains(each));
}

TEST_F(JetReaderTest, a_server_without_a_leader_is_asked_with_pauses_and_told_once) {
  ensure_orders();
  consume();
  read();
  store(1, 1);
  taken();
  bus_->restart();
  bus_->api_error =
      R"({"error":{"code":503,"err_code":10008,"description":"temporarily unavailable"}})";
  pass(seconds(60));
  EXPECT_THAT(taken(), ElementsAre(AllOf(HasSubstr("!unavailable"), HasSubstr("temporarily"))));
  EXPECT_FALSE(bus_->health().ready);
  EXPECT_THAT(bus_->told.lines, ElementsAre(HasSubstr("stalled")));
  EXPECT_LE(bus_->count_asked("STREAM.INFO"), 45u);
  bus_->api_error.clear();
  store(2, 2);
  pass(seconds(4));
  EXPECT_THAT(taken(), ElementsAre("2=2"));
  EXPECT_TRUE(bus_->health().ready);
}

TEST_F(JetReaderTest, a_server_that_answers_nothing_is_found_out_in_bounded_time) {
  ensure_orders();
  consume();
  read();
  store(1, 1);
  taken();
  bus_->answers_pulls = false;
  bus_->answers_api = false;
  bus_->restart();
  pass(seconds(20));
  EXPECT_THAT(taken(), ElementsAre(HasSubstr("!deadline exceeded")));
  EXPECT_FALSE(bus_->health().ready);
  bus_->answers_pulls = true;
  bus_->answers_api = true;
  store(2, 2);
  pass(seconds(8));
  EXPECT_THAT(taken(), ElementsAre("2=2"));
}

// This happens to a user who may not receive at an inbox.
TEST_F(JetReaderTest,
       a_consumer_that_is_made_and_never_gives_is_told_and_not_made_again_and_again) {
  ensure_orders();
  consume();
  read();
  bus_->answers_pulls = false;
  bus_->restart();
  pass(seconds(120));
  EXPECT_THAT(taken(), ElementsAre(HasSubstr("the server has said nothing for 3000 ms")));
  EXPECT_FALSE(bus_->health().ready);
  EXPECT_LE(bus_->count_asked("CONSUMER.CREATE"), 35u);
  bus_->answers_pulls = true;
  store(1, 1);
  pass(seconds(8));
  EXPECT_THAT(taken(), ElementsAre("1=1"));
  EXPECT_TRUE(bus_->health().ready);
}

TEST_F(JetReaderTest, pulls_that_are_refused_are_told_with_the_servers_words_and_have_pauses) {
  ensure_orders();
  bus_->pull_refusal = "409 Exceeded MaxRequestBatch of 10";
  consume();
  read();
  pass(seconds(60));
  EXPECT_THAT(taken(), ElementsAre(HasSubstr("409 Exceeded MaxRequestBatch of 10")));
  EXPECT_FALSE(bus_->health().ready);
  EXPECT_LE(bus_->count_asked("CONSUMER.MSG.NEXT"), 45u);
  bus_->pull_refusal.clear();
  store(1, 1);
  pass(seconds(4));
  EXPECT_THAT(taken(), ElementsAre("1=1"));
}

TEST_F(JetReaderTest, a_reader_that_gives_up_waiting_loses_nothing_wherever_it_was) {
  ensure_orders();
  consume();
  store(1, 3);
  bus_->restart();
  std::vector<std::uint64_t> sequences;
  for (int tries = 0; tries < 400 && sequences.size() < 3; ++tries) {
    auto next = consumer_->next();
    next.start();
    for (int turns = 0; turns <= tries % 7 && !next.done(); ++turns) reactor_->turn({});
    if (!next.done()) {
      if (tries % 5 == 0) pass(milliseconds(700));
      if (!next.done()) continue;  // destroyed
    }
    auto message = next.result();
    ASSERT_TRUE(message && *message);
    sequences.push_back((*message)->sequence);
    consumer_->acknowledge(**message);
  }
  EXPECT_THAT(sequences, ElementsAre(1u, 2u, 3u));
}

TEST_F(JetReaderTest, a_consumer_may_be_closed_while_it_goes_on) {
  ensure_orders();
  consume();
  read();
  bus_->api_error = R"({"error":{"code":503,"err_code":10008,"description":"no leader"}})";
  bus_->restart();
  pass(seconds(10));
  EXPECT_FALSE(bus_->health().ready);
  taken();
  consumer_->close();
  pass(seconds(3));
  EXPECT_THAT(taken(), ElementsAre("end"));
  EXPECT_TRUE(bus_->health().ready) << "nobody wants it any more";
}

TEST_F(JetReaderTest, a_consumer_that_is_destroyed_in_a_recovery_is_forgotten) {
  ensure_orders();
  consume();
  read();
  bus_->answers_api = false;
  bus_->restart();
  pass(seconds(8));
  EXPECT_FALSE(bus_->health().ready);
  reading_.reset();
  consumer_.reset();
  EXPECT_TRUE(bus_->health().ready);
  pass(seconds(5));
}

TEST_F(JetReaderTest, the_history_that_cannot_be_read_is_an_error_and_not_waited_for) {
  ensure_orders();
  store(1, 5);
  bus_->answers_pulls = false;
  const auto last = done(bus_->jet().after("orders", "orders.>", 0, 10));
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code(), Code::unavailable);
  bus_->answers_pulls = true;
  const auto again = done(bus_->jet().after("orders", "orders.>", 0, 10));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->size(), 5u);
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
