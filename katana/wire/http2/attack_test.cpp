// Budgets and limits that end a connection: the spending of attacks, and the earnings of honest
// clients.
#include <optional>

#include "katana/wire/http2/peer_test.hpp"

namespace katana::http2 {
namespace {

using namespace std::string_literals;
using Events = std::vector<std::string>;

TEST(Http2Attack, rapid_reset_ends_when_its_budget_does_and_time_refills_it) {
  Bench bench;
  bench.open();
  const Limits limits;
  const auto give_up = [&] {
    const auto id = bench.request(get_root);
    if (bench.failure() == Failure::none)
      bench.feed(frame(FrameType::rst_stream, 0, id, number(8)));
  };
  for (std::uint32_t count = 0; count < limits.resets_max; ++count) give_up();
  EXPECT_EQ(bench.failure(), Failure::none);
  bench.pass(seconds(1));
  for (std::uint32_t count = 0; count < limits.resets_per_s; ++count) give_up();
  // Those of the first second are earned as well, which began with the connection.
  EXPECT_EQ(bench.failure(), Failure::none);
  for (std::uint32_t count = 0; count <= limits.resets_per_s; ++count) give_up();
  EXPECT_EQ(bench.failure(), Failure::rapid_reset);
  EXPECT_EQ(describe_all(bench.take_sent()).back(), "GOAWAY 0 error 11");
}

TEST(Http2Attack, a_request_that_is_reset_after_its_reply_costs_no_budget) {
  Bench bench;
  bench.open();
  for (int count = 0; count < 900; ++count) {
    const auto id = bench.request(get_root);
    bench.respond(id, "x");
    bench.feed(frame(FrameType::rst_stream, 0, id, number(8)));
    (void)bench.take_sent();
  }
  EXPECT_EQ(bench.failure(), Failure::none);
}

TEST(Http2Attack, resets_that_the_peer_made_us_send_are_counted_as_well) {
  Bench bench;
  bench.open();
  for (std::uint32_t count = 0; count <= Limits().resets_max; ++count) {
    const auto id = bench.request(get_root);
    bench.feed(frame(FrameType::window_update, 0, id, number(0)));
  }
  EXPECT_EQ(bench.failure(), Failure::made_reset);
}

TEST(Http2Attack, continuations_without_end_are_ended) {
  Bench empty;
  empty.open();
  empty.feed(frame(FrameType::headers, 0, 1, "\x82"));
  for (int count = 0; count < 9; ++count) empty.feed(frame(FrameType::continuation, 0, 1));
  EXPECT_EQ(empty.failure(), Failure::continuation_flood);
  Bench large;
  large.open();
  large.feed(frame(FrameType::headers, 0, 1, std::string(16'000, 'x')));
  large.feed(frame(FrameType::continuation, 0, 1, std::string(16'000, 'x')));
  EXPECT_EQ(large.failure(), Failure::none);
  large.feed(frame(FrameType::continuation, 0, 1, std::string(16'000, 'x')));
  EXPECT_EQ(large.failure(), Failure::continuation_flood);
}

TEST(Http2Attack, a_block_that_decodes_to_far_more_than_it_is_ends_the_connection) {
  Bench bench;
  bench.open();
  Fields fields = get_root;
  fields.emplace_back("bomb", std::string(3'000, 'x'));
  bench.request(fields);
  std::string block = bench.deflater().block(get_root);
  block += std::string(100, '\xbe');  // the newest entry of the table, again and again
  bench.feed(frame(FrameType::headers, flag_end_headers | flag_end_stream, 3, block));
  EXPECT_EQ(bench.failure(), Failure::header_bomb);
}

TEST(Http2Attack, frames_that_move_nothing_are_ended_each_under_its_name) {
  const std::vector<std::pair<std::string, Failure>> floods = {
      {frame(FrameType::settings, 0, 0), Failure::settings_flood},
      {frame(FrameType::ping, 0, 0, "12345678"), Failure::ping_flood},
      {frame(FrameType::data, 0, 1), Failure::empty_frame_flood},
      {frame(FrameType::window_update, 0, 0, number(1)), Failure::window_flood},
      {frame(FrameType::priority, 0, 1, "\0\0\0\0\0"s), Failure::other_flood},
      {frame(FrameType::priority_update, 0, 0, number(1) + "u=1"), Failure::other_flood},
      {frame(static_cast<FrameType>(99), 0, 0), Failure::other_flood},
  };
  for (const auto& [flood, failure] : floods) {
    Bench bench;
    bench.open();
    bench.request(post_root, false);
    bench.expect_flood_ends(flood, failure);
  }
}

// Floods: one byte of content between frames that move nothing, in each direction, and unread
// blocks. Each ends the connection after a limited number of frames, although no time passes.
TEST(Http2Attack, one_octet_of_data_between_frames_that_move_nothing_does_not_pay_for_them) {
  const std::string octet = frame(FrameType::data, 0, 1, "x");
  const std::vector<std::pair<std::string, Failure>> floods = {
      {frame(FrameType::settings, 0, 0), Failure::settings_flood},
      {frame(FrameType::settings, 0, 0, setting(Setting::initial_window_size, 70'000)),
       Failure::settings_flood},
      {frame(FrameType::ping, 0, 0, "12345678"), Failure::ping_flood},
      {frame(FrameType::data, 0, 1), Failure::empty_frame_flood},
      {frame(FrameType::data, flag_padded, 1, "\5\0\0\0\0\0"s), Failure::empty_frame_flood},
      {frame(FrameType::window_update, 0, 0, number(1)), Failure::window_flood},
      {frame(FrameType::window_update, 0, 1, number(1)), Failure::window_flood},
      {frame(FrameType::priority, 0, 1, "\0\0\0\0\0"s), Failure::other_flood},
      {frame(FrameType::priority_update, 0, 0, number(1) + "u=1"), Failure::other_flood},
      {frame(FrameType::goaway, 0, 0, number(0) + number(0)), Failure::other_flood},
      {frame(static_cast<FrameType>(99), 0, 0), Failure::other_flood},
  };
  for (const auto& [flood, failure] : floods) {
    Bench bench;
    bench.open();
    bench.request(post_root, false);
    std::uint32_t pairs = 0;
    while (bench.failure() == Failure::none && pairs < 10'000) {
      bench.feed(octet + flood);
      ++pairs;
      if (pairs % 100 == 0 && bench.failure() == Failure::none) (void)bench.take_sent();
    }
    EXPECT_EQ(bench.failure(), failure) << text_of(failure).name << " after " << pairs;
    EXPECT_LE(pairs, 2 * Limits().idle_frames_max + 10) << text_of(failure).name;
    EXPECT_EQ(describe_all(bench.take_sent()).back(), "GOAWAY 0 error 11");
  }
}

TEST(Http2Attack, settings_are_ended_however_much_data_is_between_them) {
  Bench bench;
  bench.open();
  bench.request(post_root, false);
  const std::string group =
      frame(FrameType::data, 0, 1, std::string(100, 'x')) + frame(FrameType::settings, 0, 0);
  int groups = 0;
  for (; bench.failure() == Failure::none && groups < 10'000; ++groups) {
    bench.feed(group);
    if (groups % 10 == 0 && bench.failure() == Failure::none) (void)bench.take_sent();
  }
  EXPECT_EQ(bench.failure(), Failure::settings_flood);
  EXPECT_LE(groups, 100);
}

TEST(Http2Attack, data_that_nobody_takes_pays_for_nothing) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  bench.respond(id, "done");  // and what follows is read past
  const std::string group =
      frame(FrameType::data, 0, id, "12345678") + frame(FrameType::ping, 0, 0, "12345678");
  int groups = 0;
  for (; bench.failure() == Failure::none && groups < 3'000; ++groups) {
    bench.feed(group);
    if (bench.failure() == Failure::none) (void)bench.take_sent();
  }
  EXPECT_EQ(bench.failure(), Failure::ping_flood);
}

TEST(Http2Attack, blocks_on_a_stream_that_was_reset_are_ended) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  bench.machine().reset(bench.stream(id), ErrorCode::cancel, bench.now(), bench.outbox());
  const std::string late = frame(FrameType::headers, flag_end_headers, id, "\x82");
  int count = 0;
  while (bench.failure() == Failure::none && count < 10'000) bench.feed(late), ++count;
  EXPECT_EQ(bench.failure(), Failure::other_flood);
}

TEST(Http2Attack, windows_of_one_octet_are_ended) {
  Bench bench;
  bench.open(setting(Setting::initial_window_size, 0));
  const auto id = bench.request(get_root);
  const std::string content(10'000, 'x');
  Bytes rest = content;
  rest = bench.respond(id, rest);
  const std::string one = frame(FrameType::window_update, 0, id, number(1));
  while (bench.failure() == Failure::none && !rest.empty()) {
    bench.feed(one);
    if (bench.failure() != Failure::none) break;
    EXPECT_TRUE(bench.machine().write_content(bench.stream(id), rest, false, true, SIZE_MAX,
                                              bench.now(), bench.outbox()));
    (void)bench.take_sent();
  }
  EXPECT_EQ(bench.failure(), Failure::window_flood);
}

// Small messages, as gRPC and its like send them, faster than time refills any budget.
TEST(Http2Budget, honest_small_messages_never_run_out) {
  const auto data = [](std::size_t bytes) {
    return frame(FrameType::data, 0, 1, std::string(bytes, 'x'));
  };
  const std::string ping = frame(FrameType::ping, 0, 0, "12345678");
  const std::string window = frame(FrameType::window_update, 0, 0, number(10));
  const std::string stream_window = frame(FrameType::window_update, 0, 1, number(10));
  const std::vector<std::pair<const char*, std::string>> groups = {
      {"ten octets, a window and a ping", data(10) + window + ping},
      {"ten octets, both windows and a ping", data(10) + window + stream_window + ping},
      {"one octet", data(1)},
      {"two of one octet and a window", data(1) + data(1) + window},
      {"a kilobyte in pieces of one octet and a ping", data(1) + data(1) + data(1) + ping},
  };
  for (const auto& [what, group] : groups) {
    Bench bench;
    bench.open();
    bench.request(post_root, false);
    for (int count = 0; count < 20'000 && bench.failure() == Failure::none; ++count) {
      bench.feed(group);
      if (bench.failure() == Failure::none) (void)bench.take_sent();
    }
    EXPECT_EQ(bench.failure(), Failure::none) << what << ": " << text_of(bench.failure()).name;
  }
}

TEST(Http2Budget, replies_of_ten_octets_pay_for_both_of_their_windows) {
  Bench bench;
  bench.open();
  const auto id = bench.request(get_root);
  http::ReplyHead head;
  EXPECT_TRUE(
      bench.machine().begin_reply(bench.stream(id), head, -1, false, bench.now(), bench.outbox()));
  for (int count = 0; count < 20'000; ++count) {
    Bytes message = "0123456789";
    EXPECT_TRUE(bench.machine().write_content(bench.stream(id), message, false, false, SIZE_MAX,
                                              bench.now(), bench.outbox()));
    ASSERT_TRUE(message.empty());
    bench.feed(frame(FrameType::window_update, 0, 0, number(10)) +
               frame(FrameType::window_update, 0, id, number(10)) +
               frame(FrameType::ping, 0, 0, "12345678"));
    ASSERT_EQ(bench.failure(), Failure::none) << count;
    (void)bench.take_sent();
  }
}

TEST(Http2Budget, requests_pay_for_what_comes_with_each) {
  Bench bench;
  bench.open();
  for (int count = 0; count < 5'000; ++count) {
    const auto id = bench.request(get_root);
    bench.feed(frame(FrameType::priority, 0, id, "\0\0\0\0\0"s) +
               frame(FrameType::priority_update, 0, 0, number(id) + "u=1") +
               frame(FrameType::window_update, 0, 0, number(1)) +
               frame(FrameType::ping, 0, 0, "12345678"));
    ASSERT_EQ(bench.failure(), Failure::none) << count;
    bench.respond(id, "x");
    (void)bench.take_sent();
  }
}

TEST(Http2Attack, streams_beyond_the_limit_are_refused_and_others_go_on) {
  Limits limits;
  limits.streams_max = 3;
  Bench bench(limits);
  bench.open();
  for (int count = 0; count < 4; ++count) bench.request(get_root);
  EXPECT_EQ(bench.sent(), Events{"RST_STREAM 7 error 7"});
  EXPECT_EQ(bench.events().size(), 3u);
}

TEST(Http2Attack, a_stream_that_was_reset_counts_until_its_work_has_ended) {
  Limits limits;
  limits.streams_max = 2;
  Bench bench(limits);
  bench.open();
  const auto give_up = [&](std::uint32_t id) {
    StreamPlace place = bench.machine().take_place();
    bench.feed(frame(FrameType::rst_stream, 0, id, number(8)));
    return place;
  };
  std::optional<StreamPlace> first = give_up(bench.request(get_root));
  const StreamPlace second = give_up(bench.request(get_root));
  (void)bench.take_sent();
  const std::uint32_t third = bench.request(get_root);
  EXPECT_EQ(bench.sent(), Events{"RST_STREAM " + std::to_string(third) + " error 7"});
  first.reset();
  EXPECT_EQ(bench.machine().places_taken(), 1u);
  bench.request(get_root);
  EXPECT_TRUE(bench.sent().empty()) << "it is served";
  EXPECT_EQ(bench.machine().stream_count(), 1u);
}

TEST(Http2Attack, a_place_may_outlive_its_connection) {
  std::optional<StreamPlace> place;
  {
    Bench bench;
    bench.open();
    place = bench.machine().take_place();
  }
  place.reset();
}

}  // namespace
}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
