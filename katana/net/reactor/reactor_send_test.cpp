// The output of a session, the moment when it is sent, and the cost of a slow client.
#include <gtest/gtest.h>

#include <algorithm>

#include "katana/base/system/file_fixture_test.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

// Answers each line with itself in capital letters.
std::size_t answer_lines(Connection& connection, Bytes input) {
  std::size_t used = 0;
  for (std::size_t end; (end = input.find('\n', used)) != Bytes::npos; used = end + 1) {
    std::string line(input.substr(used, end + 1 - used));
    std::ranges::transform(line, line.begin(), [](char c) { return c >= 'a' ? c - 32 : c; });
    EXPECT_TRUE(connection.outbox().write(line));
  }
  return used;
}

TEST_F(ReactorTest, several_replies_to_one_read_are_one_send) {
  TestSession& session = connect();
  session.take = [&](Bytes input) { return answer_lines(session.connection, input); };
  bytes(0, "a\nb\nc\n");
  turn();
  EXPECT_EQ(sent(), "A\nB\nC\n");
  EXPECT_EQ(link_state(0).sends, 1);
  EXPECT_EQ(counters().bytes_sent, 6u);
  EXPECT_EQ(reactor().memory_used().output, 0u);
}

TEST_F(ReactorTest, output_of_more_pieces_than_one_send_gathers_is_sent_whole) {
  TestSession& session = connect();
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  std::string expected;
  session.take = [&](Bytes input) {
    for (std::size_t count = 0; count < 200; ++count) {
      const std::string_view piece = std::string_view(letters).substr(count % 26, 1);
      expected += piece;
      EXPECT_TRUE(session.connection.outbox().refer(piece));
    }
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_EQ(sent(), expected);
  EXPECT_EQ(link_state(0).sends, 4);  // 64 pieces each
}

TEST_F(ReactorTest, what_the_kernel_has_no_room_for_is_sent_when_it_has) {
  TestSession& session = connect();
  link_state(0).writable = 10;
  session.take = [&](Bytes input) {
    EXPECT_TRUE(session.connection.outbox().write("twenty-five bytes of text"));
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_EQ(sent(), "twenty-fiv");
  turn(seconds(1));
  EXPECT_EQ(link_state(0).sends, 1);  // none while one is pending
  link_state(0).writable = SIZE_MAX;
  complete(0);
  turn();
  EXPECT_EQ(sent(), "twenty-five bytes of text");
  EXPECT_EQ(session.connection.counters().bytes_received, 1u);
  EXPECT_EQ(session.connection.counters().bytes_sent, 25u);
}

TEST_F(ReactorTest, what_is_written_while_a_send_is_pending_follows_it) {
  TestSession& session = connect();
  link_state(0).kernel = Kernel::borrows;
  session.take = [&](Bytes input) {
    EXPECT_TRUE(session.connection.outbox().write(input));
    return input.size();
  };
  bytes(0, "first ");
  turn();
  bytes(0, "second ");
  bytes(0, "third");
  turn();
  EXPECT_EQ(link_state(0).sends, 1);
  complete(0);
  turn();
  EXPECT_EQ(link_state(0).sends, 2);
  complete(0, 3);  // and of that the kernel takes a part
  turn();
  complete(0);
  turn();
  EXPECT_EQ(sent(), "first second third");
}

TEST_F(ReactorTest, a_send_that_fails_ends_the_connection) {
  TestSession& session = connect();
  link_state(0).kernel = Kernel::breaks;
  session.take = [&](Bytes input) {
    EXPECT_TRUE(session.connection.outbox().write("x"));
    return input.size() - 1;  // the rest is not kept for a connection that is gone
  };
  bytes(0, "abc");
  turn();
  EXPECT_EQ(protocol_.sessions[0], nullptr);
  EXPECT_EQ(calls(), Calls{"close"});
  EXPECT_EQ(reactor().memory_used().total(), 0u);
}

// ---- a full outbox ----

class FullOutboxTest : public ReactorTest {
 protected:
  // Makes 1 KiB for each byte of input, until the outbox is full.
  void be_verbose(TestSession& session) {
    session.take = [&session](Bytes input) {
      std::size_t used = 0;
      while (used < input.size() && !session.connection.output_full()) {
        EXPECT_TRUE(session.connection.outbox().write(std::string(1024, input[used++])));
      }
      return used;
    };
  }
};

TEST_F(FullOutboxTest, stops_offering_and_receiving_above_the_high_mark) {
  TestSession& session = connect();
  be_verbose(session);
  link_state(0).writable = 0;
  bytes(0, "abcdefghij");
  turn();
  EXPECT_EQ(session.consumed, "abcde");  // 4 KiB is not above the high mark, 5 KiB is
  EXPECT_TRUE(session.connection.has(PauseReason::outbox_full));
  EXPECT_EQ(calls(), Calls{"pause"});
}

TEST_F(FullOutboxTest, goes_on_at_the_low_mark_and_not_above_it) {
  TestSession& session = connect();
  be_verbose(session);
  link_state(0).writable = 0;
  bytes(0, "abcdefghij");
  turn();
  link_state(0).writable = 4 * 1024 - 1;  // one byte more than the low mark stays
  complete(0);
  turn();
  EXPECT_TRUE(session.connection.has(PauseReason::outbox_full));
  EXPECT_EQ(session.writables, 0);
  link_state(0).writable = 1;
  complete(0);
  turn();
  EXPECT_EQ(session.writables, 1);
  EXPECT_EQ(session.consumed, "abcdefghi");  // five more, and full again
  link_state(0).writable = SIZE_MAX;
  complete(0);
  turn();
  EXPECT_EQ(session.consumed, "abcdefghij");
  EXPECT_EQ(sent().size(), 10u * 1024);
  EXPECT_FALSE(session.connection.paused());
  EXPECT_EQ(calls(), (Calls{"pause", "resume"}));
}

TEST_F(FullOutboxTest, a_session_that_wants_room_is_read_meanwhile_and_told_once_all_is_sent) {
  TestSession& session = connect();
  link_state(0).writable = 3;
  session.take = [&](Bytes input) {
    if (session.connection.outbox().empty()) {
      EXPECT_TRUE(session.connection.outbox().write("abcdef"));
      session.connection.want_writable();
    }
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_EQ(session.writables, 0);
  bytes(0, "y");
  turn();
  EXPECT_EQ(session.consumed, "xy");
  EXPECT_EQ(session.writables, 0);  // three bytes are pending
  link_state(0).writable = SIZE_MAX;
  complete(0);
  turn();
  EXPECT_EQ(sent(), "abcdef");
  EXPECT_EQ(session.writables, 1);
  turn();
  EXPECT_EQ(session.writables, 1);  // it asked once
  EXPECT_EQ(calls(), Calls{});      // and was never paused
}

TEST_F(FullOutboxTest, is_empty_again_at_once_when_the_peer_takes_everything) {
  TestSession& session = connect();
  be_verbose(session);
  bytes(0, "abcdefghijklmnopqrstuvwxyz");
  turn();
  EXPECT_EQ(session.consumed.size(), 26u);
  EXPECT_EQ(sent().size(), 26u * 1024);
  EXPECT_EQ(calls(), Calls{});
}

// ---- few output blocks left ----

class FewBlocksTest : public FullOutboxTest {
 protected:
  // Clients that do not read, until fewer than the reserve of 16 blocks are free. Returns their
  // number.
  std::size_t fill() {
    std::size_t peers = 0;
    while (counters().pool_pauses == 0 && peers < 100) {
      TestSession& session = connect();
      be_verbose(session);
      const auto index = static_cast<std::uint32_t>(world_.links.size() - 1);
      link_state(index).writable = 0;
      bytes(index, "abcde");
      turn();
      ++peers;
    }
    calls();
    return peers;
  }
};

TEST_F(FewBlocksTest, a_session_with_nothing_pending_is_served_from_the_reserve) {
  const std::size_t peers = fill();
  ASSERT_EQ(counters().pool_pauses, 1u);
  TestSession& late = connect();
  be_verbose(late);
  const auto index = static_cast<std::uint32_t>(peers);
  bytes(index, "x");
  turn();
  EXPECT_EQ(late.consumed, "x");
  EXPECT_EQ(sent(index).size(), 1024u);
  EXPECT_FALSE(late.connection.paused());
  EXPECT_EQ(counters().pool_pauses, 1u);
  EXPECT_EQ(counters().output_shed, 0u);
}

TEST_F(FewBlocksTest, a_session_with_much_pending_waits_and_is_not_reset) {
  const std::size_t peers = fill();
  TestSession& late = connect();
  be_verbose(late);
  const auto index = static_cast<std::uint32_t>(peers);
  link_state(index).writable = 0;
  bytes(index, "xyz");
  turn();
  EXPECT_EQ(late.consumed, "x");
  EXPECT_TRUE(late.connection.has(PauseReason::pool_low));
  EXPECT_EQ(calls(), Calls{"pause"});
  EXPECT_EQ(counters().pool_pauses, 2u);
  // Nothing is tried again while nothing has changed, and no waiting connection has nothing.
  turn(seconds(2));
  EXPECT_EQ(world_.waited, milliseconds(50));
  EXPECT_EQ(counters().output_shed, 0u);
  // It continues once its own client has taken all of it, whatever the others hold.
  link_state(index).writable = SIZE_MAX;
  complete(index);
  turn();
  turn();
  EXPECT_EQ(late.consumed, "xyz");
  EXPECT_GE(late.writables, 1);
  EXPECT_EQ(sent(index).size(), 3u * 1024);
  EXPECT_FALSE(late.connection.paused());
  EXPECT_EQ(counters().pool_exhausted, 0u);
}

TEST_F(FewBlocksTest, the_high_mark_falls_with_the_free_blocks) {
  TestSession& first = connect();
  EXPECT_EQ(first.connection.output_mark(), 4096u);
  std::size_t before = 8 * 1024;
  for (std::size_t peer = 1; counters().pool_pauses == 0; ++peer) {
    TestSession& session = connect();
    be_verbose(session);
    link_state(peer).writable = 0;
    bytes(static_cast<std::uint32_t>(peer), "abcdefgh");
    turn();
    EXPECT_LE(session.connection.outbox().pending(), before + 1024);
    before = session.connection.outbox().pending();
    ASSERT_LT(peer, 200u);
  }
  // Many more of them than the high mark of 4 KiB and 240 blocks would allow.
  EXPECT_EQ(before, 1024u);
  EXPECT_GT(world_.links.size(), 30u);
  EXPECT_EQ(counters().output_shed, 0u);
}

TEST_F(FewBlocksTest,
       who_has_nothing_and_wants_much_waits_a_second_and_then_the_largest_are_reset) {
  const std::size_t peers = fill();
  // One client takes bytes, and the others do not.
  turn(milliseconds(500));
  link_state(0).writable = 200;
  complete(0);
  turn();
  TestSession& late = connect();
  const auto index = static_cast<std::uint32_t>(peers);
  late.take = [&](Bytes input) {
    if (late.connection.output_full(4096)) return std::size_t{0};
    EXPECT_TRUE(late.connection.outbox().write(std::string(4096, 'L')));
    return input.size();
  };
  bytes(index, "x");
  turn();
  EXPECT_TRUE(late.connection.has(PauseReason::pool_low));
  turn(milliseconds(900));
  EXPECT_EQ(counters().output_shed, 0u);
  turn(milliseconds(200));
  turn();
  EXPECT_GE(counters().output_shed, 1u);
  EXPECT_LE(counters().output_shed, 4u);
  EXPECT_EQ(sent(index).size(), 4096u);
  EXPECT_TRUE(link_state(0).open);
  EXPECT_FALSE(late.connection.paused());
  turn(seconds(5));
  EXPECT_LE(counters().output_shed, 4u);
}

TEST_F(FewBlocksTest, when_half_of_the_reserve_is_gone_the_largest_are_reset_at_once) {
  TestSession& hoarder = connect();
  link_state(0).writable = 0;
  for (int count = 0; count < 80; ++count) {
    hoarder.connection.outbox().write(std::string(1024, 'h'));
  }
  hoarder.connection.wake();
  turn();
  EXPECT_TRUE(link_state(0).open);
  std::size_t served = 0;
  for (std::uint32_t index = 1; index < 40; ++index) {
    TestSession& small = connect();
    be_verbose(small);
    link_state(index).writable = 0;  // its client does not even take that
    bytes(index, "s");
    turn();
    served += small.consumed.size();
  }
  EXPECT_EQ(served, 39u);
  EXPECT_FALSE(link_state(0).open);
  EXPECT_EQ(counters().output_shed, 1u);
}

TEST_F(FewBlocksTest, a_connection_that_ends_gives_its_blocks_to_those_who_wait) {
  const std::size_t peers = fill();
  TestSession& late = connect();
  late.take = [&](Bytes input) {
    return late.connection.output_full(4096) ? std::size_t{0} : input.size();
  };
  bytes(static_cast<std::uint32_t>(peers), "x");
  turn();
  EXPECT_TRUE(late.connection.paused());
  for (std::uint32_t index = 0; index < 4; ++index) broken(index);
  turn();
  turn();
  EXPECT_EQ(late.consumed, "x");
}

TEST_F(FewBlocksTest, a_connection_that_waits_may_end) {
  const std::size_t peers = fill();
  for (std::uint32_t index = 0; index < peers; ++index) broken(index);
  turn();
  turn();
  EXPECT_EQ(reactor().memory_used().total(), 0u);
}

// A pending reply that writes as much as there is room for, again and again.
void stream_for_ever(TestSession& session) {
  session.at_writable = [&session] {
    while (!session.connection.output_full()) {
      EXPECT_TRUE(session.connection.outbox().write(std::string(1024, 's')));
    }
  };
}

TEST_F(FullOutboxTest, a_fast_reader_of_an_endless_reply_does_not_keep_the_turn) {
  TestSession& endless = connect();
  stream_for_ever(endless);
  endless.take = [&](Bytes input) {
    endless.connection.pause(PauseReason::handler_pending);
    endless.at_writable();
    return input.size();
  };
  bytes(0, "go");
  turn();
  const int first = endless.writables;
  EXPECT_GT(first, 0);
  EXPECT_LE(first, 20);
  turn();
  EXPECT_EQ(world_.waited, Duration{});  // it has more to do, and it does not wait for the clock
  EXPECT_GT(endless.writables, first);
  EXPECT_LE(endless.writables, first + 20);
}

TEST_F(FullOutboxTest, a_fast_reader_of_many_large_replies_does_not_keep_the_turn) {
  TestSession& session = connect();
  be_verbose(session);
  bytes(0, std::string(1000, 'x'));  // a thousand requests in one read
  turn();
  const std::size_t first = session.consumed.size();
  EXPECT_GT(first, 0u);
  EXPECT_LT(first, 500u);
  for (int count = 0; count < 100 && session.consumed.size() < 1000; ++count) turn();
  EXPECT_EQ(session.consumed.size(), 1000u);
  EXPECT_EQ(sent().size(), 1000u * 1024);
}

TEST_F(FullOutboxTest, a_peer_that_asks_for_much_and_never_stops_is_served_and_not_reset) {
  TestSession& session = connect();
  be_verbose(session);
  std::size_t asked = 0;
  for (int count = 0; count < 200; ++count) {
    if (!link_state(0).paused) {
      bytes(0, std::string(1024, 'x'));  // each byte of which asks for a kilobyte
      asked += 1024;
    }
    turn();
    ASSERT_TRUE(link_state(0).open) << count;
  }
  for (int count = 0; count < 200 && session.consumed.size() < asked; ++count) turn();
  EXPECT_EQ(session.consumed.size(), asked);
  EXPECT_GT(asked, 4096u);
  EXPECT_FALSE(link_state(0).paused);
  EXPECT_EQ(counters().pool_exhausted, 0u);
}

TEST_F(FullOutboxTest, an_end_behind_much_that_was_asked_for_is_told_after_it) {
  TestSession& session = connect();
  be_verbose(session);
  session.at_input_end = [&] {
    if (session.consumed.size() == 300) session.connection.finish(Finish::close);
  };
  world_.events.push_back([&] {
    reactor().on_bytes({0, 1}, std::string(300, 'x'));
    if (!link_state(0).paused) reactor().on_closed({0, 1}, engine::Closed::input);
  });
  turn();
  if (link_state(0).open && !session.connection.input_ended()) {
    for (int count = 0; count < 50 && link_state(0).paused; ++count) turn();
    input_end(0);
  }
  for (int count = 0; count < 50 && link_state(0).open; ++count) turn();
  EXPECT_FALSE(link_state(0).open);
  EXPECT_EQ(sent().size(), 300u * 1024);
}

TEST_F(FullOutboxTest, a_session_that_finishes_before_it_is_told_of_room_does_not_spin) {
  TestSession& session = connect();
  session.take = [&](Bytes input) {
    EXPECT_TRUE(session.connection.outbox().write(std::string(8 * 1024, 'x')));
    if (!session.connection.output_full()) return std::size_t{0};
    // Full; everything is taken at once; and in the next call the session is finished.
    session.take = [&](Bytes rest) {
      session.connection.finish(Finish::linger);
      return rest.size();
    };
    return input.size() - 1;
  };
  bytes(0, "ab");
  turn();
  EXPECT_EQ(calls(), Calls{"shutdown_send"});
  turn();
  turn();
  EXPECT_EQ(world_.waited, milliseconds(50));  // it waits for the client, not in a loop
  EXPECT_EQ(session.writables, 0);
}

// ---- a client that is slow to take ----

class SlowPeerTest : public ReactorTest {
 protected:
  static ReactorOptions options() {
    ReactorOptions options = small_options();
    options.send_timeout = seconds(10);
    options.rate_min_bytes_per_s = 100;
    return options;
  }
  SlowPeerTest() : ReactorTest(options()) {}

  // A connection with `count` bytes pending and a kernel that is full.
  TestSession& stuck(std::size_t count) {
    TestSession& session = connect();
    world_.links.back().writable = 0;
    EXPECT_TRUE(session.connection.outbox().write(std::string(count, 'x')));
    session.connection.wake();
    turn();
    return session;
  }
};

TEST_F(SlowPeerTest, a_peer_that_takes_nothing_is_reset_when_its_time_is_up) {
  stuck(5000);
  turn(milliseconds(9999));
  EXPECT_TRUE(link_state(0).open);
  turn(milliseconds(2));
  EXPECT_FALSE(link_state(0).open);
  EXPECT_TRUE(link_state(0).was_reset);
  EXPECT_EQ(counters().send_timeouts, 1u);
}

TEST_F(SlowPeerTest, output_that_is_added_buys_no_time) {
  TestSession& session = stuck(5000);
  for (int second = 0; second < 9; ++second) {
    ASSERT_TRUE(session.connection.outbox().write("more"));
    session.connection.wake();
    turn(seconds(1));
  }
  EXPECT_TRUE(link_state(0).open);
  turn(milliseconds(1001));
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(SlowPeerTest, bytes_that_are_taken_buy_time_at_the_least_rate) {
  stuck(50'000);
  // 50 bytes a second: each second is paid for half.
  int second = 0;
  for (; second < 60 && link_state(0).open; ++second) {
    link_state(0).writable = 50;
    complete(0);
    turn(seconds(1));
  }
  EXPECT_GE(second, 19);
  EXPECT_LE(second, 21);
  EXPECT_EQ(counters().send_timeouts, 1u);
}

TEST_F(SlowPeerTest, a_peer_at_the_least_rate_is_not_cut_off) {
  stuck(20'000);
  for (int second = 0; second < 200 && link_state(0).sending; ++second) {
    link_state(0).writable = 100;
    complete(0);
    turn(seconds(1));
    ASSERT_TRUE(link_state(0).open) << second;
  }
  EXPECT_EQ(sent().size(), 20'000u);
  EXPECT_EQ(counters().send_timeouts, 0u);
}

TEST_F(SlowPeerTest, bytes_buy_no_more_than_the_timeout) {
  stuck(100'000);
  link_state(0).writable = 50'000;  // worth five hundred seconds
  complete(0);
  turn();
  turn(milliseconds(10001));
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(SlowPeerTest, a_peer_that_has_caught_up_owes_nothing) {
  TestSession& session = stuck(5000);
  link_state(0).writable = SIZE_MAX;
  complete(0);
  turn();
  EXPECT_EQ(sent().size(), 5000u);
  turn(seconds(100));
  EXPECT_TRUE(link_state(0).open);
  // The next time it has its whole time again.
  link_state(0).writable = 0;
  ASSERT_TRUE(session.connection.outbox().write("x"));
  session.connection.wake();
  turn();
  turn(seconds(9));
  EXPECT_TRUE(link_state(0).open);
  turn(seconds(2));
  EXPECT_FALSE(link_state(0).open);
}

TEST_F(SlowPeerTest, a_completion_that_reports_every_byte_ends_the_wait_too) {
  TestSession& session = connect();
  link_state(0).kernel = Kernel::borrows;
  ASSERT_TRUE(session.connection.outbox().write("borrowed"));
  session.connection.wake();
  turn();
  complete(0);
  turn();
  EXPECT_EQ(sent(), "borrowed");
  turn(seconds(100));
  EXPECT_TRUE(link_state(0).open);
  EXPECT_EQ(counters().send_timeouts, 0u);
}

TEST_F(SlowPeerTest, the_deadline_of_the_session_and_that_of_the_send_are_both_kept) {
  TestSession& session = stuck(5000);
  session.connection.set_deadline(reactor().now() + seconds(3));
  turn(milliseconds(3001));
  EXPECT_EQ(session.deadlines, 1);
  EXPECT_TRUE(link_state(0).open);
  session.connection.set_deadline(reactor().now() + seconds(100));
  turn(seconds(7));
  EXPECT_FALSE(link_state(0).open);
  EXPECT_EQ(counters().send_timeouts, 1u);
}

TEST_F(ReactorTest, output_blocks_that_run_out_are_an_answer_and_come_back) {
  // A pool of 256 blocks of 512 bytes, and one session that hoards it.
  TestSession& hoarder = connect();
  TestSession& other = connect();
  link_state(0).writable = 0;
  while (hoarder.connection.outbox().write(std::string(1024, 'x'))) {
  }
  while (hoarder.connection.outbox().write("x")) {
  }
  EXPECT_FALSE(other.connection.outbox().write("y"));
  EXPECT_FALSE(other.connection.outbox().has_capacity(1));
  broken(0);
  turn();
  EXPECT_TRUE(other.connection.outbox().has_capacity(4096));
  EXPECT_EQ(reactor().memory_used().output, 0u);
}

// ---- files ----

TEST_F(ReactorTest, a_file_is_sent_with_what_stands_before_it_and_then_what_stands_behind) {
  TestFile file("0123456789");
  TestSession& session = connect();
  session.take = [&](Bytes input) {
    Outbox& outbox = session.connection.outbox();
    EXPECT_TRUE(outbox.write("head ") && outbox.refer(file.part(2, 3)) && outbox.write(" tail"));
    return input.size();
  };
  bytes(0, "x");
  turn();
  turn();
  EXPECT_EQ(sent(), "head 234 tail");
  EXPECT_EQ(link_state(0).sends, 2);
  EXPECT_EQ(file.released, 1);
  EXPECT_EQ(counters().bytes_sent, 13u);
  EXPECT_EQ(reactor().memory_used().output, 0u);
}

TEST_F(ReactorTest, a_long_file_is_sent_over_many_turns_that_do_not_wait) {
  TestFile file(numbered_lines(1000));
  world_.file_bytes_per_send = 300;
  TestSession& session = connect();
  session.take = [&](Bytes input) {
    EXPECT_TRUE(session.connection.outbox().refer(file.all()));
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_EQ(sent().size(), 600u);  // with its request, and once more at the end of the turn
  turn();
  EXPECT_EQ(sent().size(), 900u);
  EXPECT_EQ(world_.waited.ns, 0);
  turn();
  EXPECT_EQ(sent(), numbered_lines(1000));
  turn();
  EXPECT_EQ(world_.waited.ns, milliseconds(50).ns);
  EXPECT_EQ(file.released, 1);
}

TEST_F(ReactorTest, a_file_waits_for_room_as_everything_else_does) {
  TestFile file("0123456789");
  TestSession& session = connect();
  link_state(0).writable = 7;
  session.take = [&](Bytes input) {
    Outbox& outbox = session.connection.outbox();
    EXPECT_TRUE(outbox.write("head ") && outbox.refer(file.all()));
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_EQ(sent(), "head 01");
  turn();
  EXPECT_EQ(link_state(0).sends, 1);
  link_state(0).writable = SIZE_MAX;
  complete(0);
  turn();
  EXPECT_EQ(sent(), "head 0123456789");
}

TEST_F(ReactorTest, a_file_that_is_shorter_than_was_promised_resets_the_connection) {
  TestFile file("0123456789");
  TestSession& session = connect();
  session.take = [&](Bytes input) {
    Outbox& outbox = session.connection.outbox();
    EXPECT_TRUE(outbox.write("head ") && outbox.refer(file.all()));
    file.cut(4);
    return input.size();
  };
  bytes(0, "x");
  turn();
  EXPECT_TRUE(link_state(0).was_reset);
  EXPECT_EQ(counters().file_failures, 1u);
  EXPECT_EQ(file.released, 1);
}

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
