// A reactor with a transform of a few lines: output is put in upper case, between < and >.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

// Each byte that is received is an order; small letters go to the session.
//   ?  is costly, and then said to be open   .  the client has ended   !  is wrong
//   *  makes it talk: 1,024 bytes            a…z
class TestTransform final : public Transform {
 public:
  TestTransform(BlockPool& blocks, std::vector<std::string>& log) : Transform(blocks), log_(log) {}
  ~TestTransform() override { log_.emplace_back("gone"); }

  TransformStep receive(Bytes input, std::span<char> plain, Instant) noexcept override {
    if (failed_) return {TransformEvent::failed, input.size(), 0};
    if (ended_) return {TransformEvent::ended, input.size(), 0};
    if (costly_) {
      if (!admitted_) return {TransformEvent::costly, 0, 0};
      costly_ = false;
      log_.emplace_back("opened");
      return {TransformEvent::opened, 0, 0};
    }
    std::size_t consumed = 0, produced = 0;
    while (consumed < input.size() && produced < plain.size()) {
      const char order = input[consumed];
      const bool is_text = order >= 'a' && order <= 'z';
      if (!is_text && produced != 0) break;
      ++consumed;
      if (is_text) plain[produced++] = order;
      if (order == '*') output_.write(std::string(1'024, '*'));
      if (order == '?') costly_ = true;
      if (order == '?') return {TransformEvent::costly, consumed, 0};
      if (order == '.') ended_ = true;
      if (order == '.') return {TransformEvent::ended, input.size(), 0};
      if (order != '!') continue;
      failed_ = true;
      output_.write("alert");
      return {TransformEvent::failed, input.size(), 0};
    }
    const auto event = produced != 0 ? TransformEvent::bytes : TransformEvent::need_bytes;
    return {event, consumed, produced};
  }
  void admit() noexcept override { admitted_ = true; }
  std::size_t seal(Bytes plain) noexcept override {
    std::string text(plain.substr(0, 16 * 1024));
    if (!can_seal() || !output_.has_capacity(text.size() + 2)) return 0;
    for (char& letter : text) letter = static_cast<char>(letter - 'a' + 'A');
    output_.write("<" + text + ">");
    return text.size();
  }
  bool can_seal() const noexcept override { return !failed_ && !end_said_; }
  void seal_end() noexcept override {
    if (can_seal()) output_.write("#");
    end_said_ = true;
  }
  void cut(TransformCut why) noexcept override {
    log_.emplace_back(why == TransformCut::timed_out ? "timed out" : "cut");
  }
  Bytes application_protocol() const noexcept override { return "test/1"; }

 private:
  std::vector<std::string>& log_;
  bool costly_ = false, admitted_ = false, ended_ = false, failed_ = false, end_said_ = false;
};

class TestTransforms final : public TransformFactory {
 public:
  std::unique_ptr<Transform> make(BlockPool& blocks) noexcept override {
    if (refuses) return nullptr;
    return std::make_unique<TestTransform>(blocks, log);
  }
  std::vector<std::string> log;
  bool refuses = false;
};

using Log = std::vector<std::string>;

class TransformTest : public ReactorTest {
 protected:
  static ReactorOptions options() {
    ReactorOptions options = small_options();
    options.openings_per_turn_max = 2;
    options.sealed_high_bytes = 4096;
    return options;
  }
  TransformTest() : ReactorTest(options()) {
    EXPECT_TRUE(reactor().listen_transformed({}, protocol_, transforms_));
  }

  ~TransformTest() override { reactor_.reset(); }  // before the transforms

  // A link with a transform that is open, and its session.
  TestSession& open() {
    accept(1);
    const auto index = static_cast<std::uint32_t>(world_.links.size() - 1);
    bytes(index, "?");
    turn();
    world_.calls.clear();
    return *protocol_.sessions.back();
  }

  TestTransforms transforms_;
};

// ---- opening ----------------------------------------------------------------------------------

TEST_F(TransformTest, the_session_is_opened_when_the_transform_is_and_knows_what_was_agreed) {
  std::string agreed;
  protocol_.at_open = [&](TestSession& session) {
    agreed = session.connection.application_protocol();
  };
  accept(1);
  EXPECT_TRUE(protocol_.sessions.empty());
  bytes(0, "?hello");
  turn();
  ASSERT_EQ(protocol_.sessions.size(), 1u);
  EXPECT_EQ(agreed, "test/1");
  EXPECT_EQ(protocol_.sessions[0]->consumed, "hello");
}

TEST_F(TransformTest, a_link_without_one_has_nothing_agreed) {
  TestSession& session = connect();
  EXPECT_EQ(session.connection.transform(), nullptr);
  EXPECT_EQ(session.connection.application_protocol(), "");
}

TEST_F(TransformTest, an_opening_that_takes_too_long_is_given_up) {
  accept(1);
  turn(options().opening_timeout);
  EXPECT_TRUE(link_state(0).was_reset);
  EXPECT_EQ(transforms_.log, (Log{"timed out", "gone"}));
  EXPECT_EQ(reactor().links_open(), 0u);
}

TEST_F(TransformTest, its_deadline_ends_with_the_opening) {
  TestSession& session = open();
  turn(options().opening_timeout);
  EXPECT_TRUE(link_state(0).open);
  EXPECT_EQ(session.deadlines, 0);
}

TEST_F(TransformTest, a_peer_that_leaves_while_opening_is_closed) {
  accept(1);
  input_end(0);
  turn();
  EXPECT_FALSE(link_state(0).open);
  EXPECT_EQ(transforms_.log, (Log{"cut", "gone"}));
}

TEST_F(TransformTest, without_memory_the_connection_is_refused) {
  transforms_.refuses = true;
  world_.links.emplace_back().open = true;
  world_.events.push_back([this] { EXPECT_FALSE(reactor().on_accepted({0, 1}, 1, peer_of(0))); });
  turn();
  EXPECT_EQ(reactor().links_open(), 0u);
  EXPECT_EQ(counters().closed, 1u);
}

TEST_F(TransformTest, a_drain_gives_an_opening_a_second) {
  accept(1);
  reactor().request_drain(seconds(10));
  turn();
  turn(milliseconds(900));
  EXPECT_TRUE(link_state(0).open);
  turn(milliseconds(101));
  EXPECT_FALSE(link_state(0).open);
}

// ---- how many in a turn -----------------------------------------------------------------------

TEST_F(TransformTest, only_so_many_are_opened_in_a_turn_and_who_waits_longest_is_next) {
  for (std::uint32_t index = 0; index < 5; ++index) accept(1);
  std::string order;
  protocol_.at_open = [&](TestSession& session) {
    order += static_cast<char>('0' + session.connection.link().index);
  };
  for (std::uint32_t index = 0; index < 5; ++index) bytes(index, "?");
  turn();
  EXPECT_EQ(order, "01");
  EXPECT_EQ(reactor().paused_links().opening, 3u);
  EXPECT_EQ(counters().openings_delayed, 3u);
  EXPECT_TRUE(link_state(4).paused);
  turn();
  EXPECT_EQ(world_.waited, Duration{});  // a turn with a waiting connection does not wait
  EXPECT_EQ(order, "0123");
  EXPECT_FALSE(link_state(3).paused);
  turn();
  EXPECT_EQ(order, "01234");
  turn();
  EXPECT_EQ(reactor().paused_links().opening, 0u);
  EXPECT_EQ(world_.waited, milliseconds(50));
}

TEST_F(TransformTest, what_came_behind_an_opening_that_had_to_wait_is_kept) {
  for (std::uint32_t index = 0; index < 3; ++index) accept(1);
  for (std::uint32_t index = 0; index < 3; ++index) bytes(index, "?question");
  turn();
  EXPECT_EQ(protocol_.sessions.size(), 2u);
  turn();
  ASSERT_EQ(protocol_.sessions.size(), 3u);
  EXPECT_EQ(protocol_.sessions[2]->consumed, "question");
}

TEST_F(TransformTest, one_that_waits_may_end) {
  for (std::uint32_t index = 0; index < 5; ++index) accept(1);
  for (std::uint32_t index = 0; index < 5; ++index) bytes(index, "?");
  turn();
  world_.events.push_back([this] { reactor().on_closed({3, 1}, engine::Closed::link); });
  broken(4);
  turn();
  EXPECT_EQ(protocol_.sessions.size(), 3u + 1u);  // 2, and 3 before its end came
  turn();
  EXPECT_EQ(reactor().links_open(), 3u);
}

TEST_F(TransformTest, one_that_waits_too_long_is_given_up) {
  for (std::uint32_t index = 0; index < 3; ++index) accept(1);
  for (std::uint32_t index = 0; index < 3; ++index) bytes(index, "?");
  turn();
  reactor().request_stop();
  turn();
  EXPECT_EQ(reactor().links_open(), 0u);
}

// ---- bytes ------------------------------------------------------------------------------------

TEST_F(TransformTest, what_the_session_writes_is_sealed_in_one_record_and_one_send) {
  TestSession& session = open();
  session.take = [&](Bytes input) {
    session.connection.outbox().write("one");
    session.connection.outbox().refer("two");
    return input.size();
  };
  const int sends = link_state(0).sends;
  bytes(0, "question");
  turn();
  EXPECT_EQ(sent(), "<ONETWO>");
  EXPECT_EQ(link_state(0).sends, sends + 1);
  EXPECT_EQ(session.offers, std::vector<std::string>{"question"});
}

TEST_F(TransformTest, what_is_not_consumed_is_carried_as_it_was_unsealed) {
  TestSession& session = open();
  session.take = [](Bytes input) { return input.size() < 6 ? 0 : input.size(); };
  bytes(0, "abc");
  turn();
  bytes(0, "def");
  turn();
  EXPECT_EQ(session.consumed, "abcdef");
}

TEST_F(TransformTest, a_paused_session_is_offered_nothing_until_it_goes_on) {
  TestSession& session = open();
  session.take = [&](Bytes input) {
    session.connection.pause(PauseReason::content_unwanted);
    return input.size();
  };
  bytes(0, "a");
  turn();
  EXPECT_TRUE(link_state(0).paused);
  session.take = [](Bytes input) { return input.size(); };
  session.connection.resume(PauseReason::content_unwanted);
  session.connection.wake();
  turn();
  EXPECT_FALSE(link_state(0).paused);
  bytes(0, "b");
  turn();
  EXPECT_EQ(session.consumed, "ab");
}

TEST_F(TransformTest, more_than_fits_the_buffer_is_given_in_pieces) {
  TestSession& session = open();
  bytes(0, std::string(3'000, 'x'));
  turn();
  EXPECT_EQ(session.consumed, std::string(3'000, 'x'));
}

// ---- files ------------------------------------------------------------------------------------

// A file of so many small letters.
struct TestFile {
  explicit TestFile(std::size_t size) : file(std::tmpfile()) {
    const std::string text(size, 'f');
    EXPECT_EQ(std::fwrite(text.data(), 1, size, file), size);
    std::fflush(file);
    retained.descriptor = fileno(file);
  }
  ~TestFile() { std::fclose(file); }
  std::FILE* file;
  Retained retained{[](Retained&) noexcept {}};
};

std::string without_marks(std::string text) {
  std::erase_if(text, [](char letter) { return letter == '<' || letter == '>'; });
  return text;
}

TEST_F(TransformTest, a_file_is_read_and_sealed_between_what_stands_around_it) {
  TestFile file(40'000);
  TestSession& session = open();
  session.connection.outbox().write("head");
  session.connection.outbox().refer(FilePart{&file.retained, 0, 40'000});
  session.connection.outbox().write("tail");
  session.connection.wake();
  turn();
  EXPECT_TRUE(without_marks(sent()) == "HEAD" + std::string(40'000, 'F') + "TAIL");
  EXPECT_EQ(file.retained.references, 0u);
}

TEST_F(TransformTest, a_long_file_does_not_keep_the_turn) {
  constexpr std::size_t size = 4'000'000;
  TestFile file(size);
  TestSession& session = open();
  session.connection.outbox().refer(FilePart{&file.retained, 0, size});
  session.connection.wake();
  turn();
  EXPECT_LT(sent().size(), size);
  EXPECT_GT(sent().size(), 0u);
  for (int turns = 0; turns < 100; ++turns) turn();
  EXPECT_EQ(without_marks(sent()).size(), size);
}

TEST_F(TransformTest, a_file_that_is_shorter_than_was_said_breaks_the_connection) {
  TestFile file(100);
  TestSession& session = open();
  session.connection.outbox().refer(FilePart{&file.retained, 0, 200});
  session.connection.wake();
  turn();
  EXPECT_TRUE(link_state(0).was_reset);
  EXPECT_EQ(counters().file_failures, 1u);
}

// ---- the client is slow -------------------------------------------------------------------------

TEST_F(TransformTest, the_outbox_waits_while_enough_is_sealed) {
  TestSession& session = open();
  link_state(0).writable = 0;
  for (int count = 0; count < 40; ++count) {
    session.connection.outbox().write(std::string(500, 'x'));
  }
  session.connection.wake();
  turn();
  EXPECT_GE(session.connection.transform()->output().pending(), options().sealed_high_bytes);
  EXPECT_LE(session.connection.transform()->output().pending(),
            options().sealed_high_bytes + 16 * 1024 + 2);
  EXPECT_GT(session.connection.outbox().pending(), 0u);
  const std::size_t pending = session.connection.outbox().pending();
  link_state(0).writable = SIZE_MAX;
  world_.events.push_back([this] {
    world_.links[0].sending = false;
    reactor().on_sent({0, 1}, 0);
  });
  turn();
  EXPECT_EQ(session.connection.outbox().pending(), 0u);
  EXPECT_GT(pending, 0u);
  EXPECT_EQ(std::ranges::count(sent(), 'X'), 40 * 500);
}

TEST_F(TransformTest, bytes_in_flight_do_not_change) {
  TestSession& session = open();
  link_state(0).kernel = Kernel::borrows;
  session.connection.outbox().write("one");
  session.connection.wake();
  turn();
  session.connection.outbox().write("two");
  session.connection.wake();
  turn();
  complete(0, 2);
  turn();
  complete(0);  // which checks it
  turn();
  EXPECT_EQ(sent(), "<ONE><TWO>");
}

TEST_F(TransformTest, a_peer_that_takes_nothing_is_cut_off) {
  TestSession& session = open();
  link_state(0).writable = 0;
  session.connection.outbox().write("answer");
  session.connection.wake();
  turn();
  turn(options().send_timeout);
  EXPECT_TRUE(link_state(0).was_reset);
  EXPECT_EQ(counters().send_timeouts, 1u);
}

TEST_F(TransformTest, a_peer_that_makes_it_talk_and_does_not_listen_is_cut_off) {
  open();
  link_state(0).writable = 0;
  for (int count = 0; count < 100 && link_state(0).open; ++count) {
    bytes(0, "*");
    turn();
  }
  EXPECT_TRUE(link_state(0).was_reset);
}

TEST_F(TransformTest, without_blocks_sealing_waits_for_them) {
  TestSession& hoarder = connect();
  TestSession& session = open();
  link_state(0).kernel = Kernel::borrows;
  session.connection.outbox().write(std::string(3'000, 'x'));
  const std::string hoard(300, 'h');
  while (hoarder.connection.outbox().has_capacity(2'600)) hoarder.connection.outbox().write(hoard);
  hoarder.connection.wake();
  session.connection.wake();
  turn();
  EXPECT_EQ(sent(1), "");
  EXPECT_TRUE(session.connection.has(PauseReason::pool_low));
  complete(0);
  turn();
  turn();
  EXPECT_EQ(sent(1), "<" + std::string(3'000, 'X') + ">");
  EXPECT_FALSE(session.connection.has(PauseReason::pool_low));
}

// ---- ends -------------------------------------------------------------------------------------

TEST_F(TransformTest, a_finish_sends_everything_and_says_the_end) {
  TestSession& session = open();
  session.take = [&](Bytes input) {
    session.connection.outbox().write("bye");
    session.connection.finish(Finish::close);
    return input.size();
  };
  bytes(0, "quit");
  turn();
  EXPECT_EQ(sent(), "<BYE>#");
  EXPECT_FALSE(link_state(0).open);
  EXPECT_FALSE(link_state(0).was_reset);
}

TEST_F(TransformTest, a_finish_waits_until_the_end_is_sent) {
  TestSession& session = open();
  link_state(0).writable = 2;
  session.connection.outbox().write("bye");
  session.connection.finish(Finish::close);
  session.connection.wake();
  turn();
  EXPECT_TRUE(link_state(0).open);
  link_state(0).writable = SIZE_MAX;
  world_.events.push_back([this] {
    world_.links[0].sending = false;
    reactor().on_sent({0, 1}, 0);
  });
  turn();
  EXPECT_EQ(sent(), "<BYE>#");
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(TransformTest, a_lingering_end_says_it_first) {
  TestSession& session = open();
  session.connection.finish(Finish::linger);
  session.connection.wake();
  turn();
  EXPECT_EQ(sent(), "#");
  EXPECT_TRUE(link_state(0).send_ended);
  bytes(0, "more");
  turn();
  turn(options().linger_timeout);
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(TransformTest, a_reset_says_nothing) {
  TestSession& session = open();
  session.connection.reset();
  session.connection.wake();
  turn();
  EXPECT_EQ(sent(), "");
  EXPECT_TRUE(link_state(0).was_reset);
}

TEST_F(TransformTest, the_peers_end_is_told_to_the_session) {
  TestSession& session = open();
  session.at_input_end = [&] { session.connection.finish(Finish::close); };
  bytes(0, "last.");
  turn();
  EXPECT_EQ(sent(), "#");
  EXPECT_FALSE(link_state(0).open);
  EXPECT_EQ(transforms_.log, (Log{"opened", "gone"}));
}

TEST_F(TransformTest, an_end_that_was_said_is_not_truncated_and_one_that_was_not_is) {
  TestSession& said = open();
  bytes(0, ".");
  turn();
  EXPECT_TRUE(said.connection.input_ended());
  EXPECT_FALSE(said.connection.input_truncated());
  input_end(0);
  turn();
  EXPECT_FALSE(said.connection.input_truncated());
  TestSession& unsaid = open();
  input_end(1);
  turn();
  EXPECT_TRUE(unsaid.connection.input_ended());
  EXPECT_TRUE(unsaid.connection.input_truncated());
  EXPECT_EQ(unsaid.input_ends, 1);
}

TEST_F(TransformTest, a_failure_sends_what_it_has_to_say_and_nothing_of_the_session) {
  TestSession& session = open();
  session.take = [&](Bytes input) {
    session.connection.outbox().write("reply");
    return input.size();
  };
  link_state(0).writable = 0;
  bytes(0, "abc");
  turn();
  session.connection.outbox().write("more");
  bytes(0, "!");
  turn();
  EXPECT_TRUE(session.connection.finishing());
  link_state(0).writable = SIZE_MAX;
  world_.events.push_back([this] {
    world_.links[0].sending = false;
    reactor().on_sent({0, 1}, 0);
  });
  turn();
  EXPECT_EQ(sent(), "<REPLY>alert");
  turn(options().linger_timeout);
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(TransformTest, what_a_session_writes_after_a_failure_is_dropped) {
  TestSession& session = open();
  link_state(0).writable = 0;
  bytes(0, "!");
  turn();
  session.connection.outbox().write("late");
  session.connection.wake();
  link_state(0).writable = SIZE_MAX;
  world_.events.push_back([this] {
    world_.links[0].sending = false;
    reactor().on_sent({0, 1}, 0);
  });
  turn();
  EXPECT_EQ(sent(), "alert");
  EXPECT_TRUE(link_state(0).send_ended);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
