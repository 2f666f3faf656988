// The table of states, requests, windows, limits, time, and floods. Replies stand in
// client_machine.cases.md.
#include <set>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/wire/http2/client_bench_test.hpp"
#include "katana/wire/http2/request_writer.hpp"

namespace katana::http2 {
namespace {

using namespace std::string_literals;
using Events = std::vector<std::string>;

// ---- the table -------------------------------------------------------------------------------

TEST(ClientStreamTable, the_diagram_in_the_documentation_is_that_of_the_table) {
  expect_drawn("docs/diagrams/http2_client.md",
               draw_states("States of a stream of HTTP/2, as its client sees it",
                           "katana/wire/http2/client_states.hpp", client_stream_transitions,
                           client_stream_state_names, client_stream_cause_names));
}

TEST(ClientStreamTable, every_state_but_the_last_can_be_left_and_the_last_cannot) {
  std::set<ClientStreamState> left;
  for (const ClientStreamTransition& each : client_stream_transitions) left.insert(each.from);
  EXPECT_EQ(left.size(), client_stream_state_names.size() - 1);
  EXPECT_FALSE(left.contains(ClientStreamState::closed));
}

// ---- requests ----------------------------------------------------------------------------------

// Reads a request as a server does.
std::vector<std::string> read_request(Bytes sent) {
  const Limits limits;
  HeadReader reader(limits);
  Inflater inflater;
  std::string block;
  for (Bytes rest = sent; !rest.empty();) {
    const FrameHeader header = parse_frame_header(rest.data());
    block += rest.substr(frame_header_bytes, header.size);
    rest.remove_prefix(frame_header_bytes + header.size);
  }
  EXPECT_EQ(reader.read_request(inflater, block), HeadVerdict::accepted);
  const http::Head& head = reader.head();
  std::vector<std::string> lines = {std::string(head.method_text()) + " " +
                                    std::string(head.target())};
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    lines.push_back(std::string(head.name(index)) + ": " + std::string(head.value(index)));
  }
  return lines;
}

TEST(Http2Client, a_connection_at_rest_costs_little_memory) {
  EXPECT_LE(sizeof(ClientMachine), 384u);
}

TEST(Http2Client, says_its_preface_and_that_nothing_may_be_pushed) {
  ClientBench bench;
  ASSERT_TRUE(bench.preface().starts_with(client_preface));
  const Bytes frames = Bytes(bench.preface()).substr(client_preface.size());
  EXPECT_EQ(describe_all(frames), (Events{"SETTINGS 0", "WINDOW_UPDATE 0 196609"}));
  EXPECT_EQ(frames.substr(frame_header_bytes, 6), setting(Setting::enable_push, 0));
  bench.feed(frame(FrameType::settings, 0, 0));
  EXPECT_EQ(bench.sent(), Events{"SETTINGS 0 ack"});
}

TEST(Http2Client, a_request_is_read_by_a_server_as_it_was_meant) {
  ClientBench bench;
  RequestHead head;
  head.method = "POST";
  head.target = "/users?limit=5";
  head.authority = "a.example:81";
  head.content_length = 1234567;
  head.fields =
      "Accept: */*\r\nHost: other\r\nConnection: close\r\nTE: gzip\r\nTE: trailers\r\n"
      "Cookie: secret\r\nX-Empty: \r\n";
  bench.begin(head, false);
  const std::string sent = bench.take_sent();
  EXPECT_EQ(describe_all(sent), Events{"HEADERS 1"});
  EXPECT_EQ(read_request(sent),
            (Events{"POST /users?limit=5", "host: a.example:81", "content-length: 1234567",
                    "accept: */*", "te: trailers", "x-empty: ", "cookie: secret"}));
  EXPECT_NE(sent.find("\x10\x06"s
                      "cookie"),
            std::string::npos)
      << "nobody may put it in a table";
}

TEST(Http2Client, every_usual_method_and_target_is_read_as_it_was_meant) {
  for (const Bytes method : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    for (const Bytes target : {"/", "/index.html", "/a?b"}) {
      ClientBench bench;
      RequestHead head;
      head.method = method;
      head.target = target;
      head.scheme = "https";
      head.authority = "a";
      bench.begin(head);
      EXPECT_EQ(read_request(bench.take_sent()).front(),
                std::string(method) + " " + std::string(target));
    }
  }
  ClientBench bench;
  RequestHead tunnel;
  tunnel.method = "CONNECT";
  tunnel.authority = "a.example:443";
  bench.begin(tunnel, false);
  EXPECT_EQ(read_request(bench.take_sent()).front(), "CONNECT a.example:443");
}

TEST(Http2Client, what_could_be_taken_for_another_request_is_not_sendable) {
  RequestHead good;
  good.authority = "a.example:8080";
  EXPECT_TRUE(is_sendable(good));
  const auto with = [&](auto member, Bytes value) {
    RequestHead head = good;
    head.*member = value;
    return is_sendable(head);
  };
  EXPECT_FALSE(with(&RequestHead::method, "G ET"));
  EXPECT_FALSE(with(&RequestHead::method, ""));
  EXPECT_FALSE(with(&RequestHead::target, "no-slash"));
  EXPECT_FALSE(with(&RequestHead::target, "/a b"));
  EXPECT_FALSE(with(&RequestHead::target, "*"));
  EXPECT_FALSE(with(&RequestHead::authority, "a/b"));
  EXPECT_FALSE(with(&RequestHead::authority, ""));
  EXPECT_FALSE(with(&RequestHead::scheme, "h ttp"));
}

TEST(Http2Client, a_head_beyond_one_frame_continues_in_others) {
  ClientBench bench;
  RequestHead head;
  head.authority = "a";
  const std::string line = "x: " + std::string(7'000, 'x') + "\r\n";
  const std::string fields = line + line;
  head.fields = fields;
  bench.begin(head);
  EXPECT_EQ(bench.sent(), Events{"HEADERS 1 end"});
  const std::string more = line + line + line;
  head.fields = more;
  bench.begin(head);
  EXPECT_EQ(bench.sent(), (Events{"HEADERS 3 end", "CONTINUATION 3"}));
}

TEST(Http2Client, a_head_larger_than_the_server_takes_is_not_sent) {
  ClientBench bench;
  bench.open(setting(Setting::max_header_list_size, 1'000));
  RequestHead head;
  head.authority = "a";
  const std::string fields = "x: " + std::string(900, 'x') + "\r\n";
  head.fields = fields;
  ClientStream stream;
  EXPECT_EQ(bench.machine().begin(stream, head, true, bench.outbox()), Begun::too_large);
  EXPECT_EQ(stream.state, ClientStreamState::idle);
  EXPECT_EQ(bench.sent(), Events{});
}

TEST(Http2Client, a_smaller_table_of_the_server_is_confirmed_once) {
  ClientBench bench;
  bench.open(setting(Setting::header_table_size, 0));
  bench.begin();
  EXPECT_EQ(bench.take_sent()[frame_header_bytes], '\x20');
  bench.begin();
  EXPECT_NE(bench.take_sent()[frame_header_bytes], '\x20');
}

TEST(Http2Client, no_more_streams_are_begun_than_the_server_takes) {
  ClientBench bench;
  bench.open(setting(Setting::max_concurrent_streams, 2));
  bench.begin();
  ClientStream& second = bench.begin();
  EXPECT_EQ(bench.try_begin(), Begun::not_now);
  EXPECT_TRUE(bench.machine().is_usable());
  bench.feed(bench.reply(1, {{":status", "200"}}, true));
  EXPECT_EQ(bench.try_begin(), Begun::yes);
  EXPECT_EQ(bench.try_begin(), Begun::not_now);
  bench.machine().reset(second, ErrorCode::cancel, bench.outbox());
  EXPECT_EQ(bench.try_begin(), Begun::yes);
}

TEST(Http2Client, before_the_server_says_how_many_streams_there_are_a_hundred) {
  ClientBench bench;
  for (int count = 0; count < 100; ++count) bench.begin();
  EXPECT_EQ(bench.try_begin(), Begun::not_now);
  bench.open();
  EXPECT_EQ(bench.try_begin(), Begun::yes);
}

TEST(Http2Client, begins_nothing_when_the_outbox_is_full) {
  ClientContext context{Limits()};
  BlockPool blocks(256, 4);
  Outbox outbox(blocks);
  ClientMachine machine(context, Instant{} + seconds(1));
  ASSERT_TRUE(machine.start(outbox));
  ASSERT_TRUE(outbox.write(std::string(700, 'x')));
  const std::size_t pending = outbox.pending();
  ClientStream stream;
  RequestHead head;
  head.authority = "a.example";
  EXPECT_EQ(machine.begin(stream, head, true, outbox), Begun::no_room);
  EXPECT_EQ(outbox.pending(), pending);
  EXPECT_EQ(machine.stream_count(), 0u);
}

TEST(Http2Client, a_stream_whose_reset_cannot_be_written_is_over_before_the_connection_is_closed) {
  ClientBench bench;
  bench.open();
  bench.begin();
  fill(bench.outbox());
  bench.feed(frame(FrameType::data, 0, 1, "content before a head"));
  EXPECT_EQ(bench.machine().stream_count(), 0u);
  EXPECT_EQ(bench.events(), (Events{"over 1 malformed 1", "closed no_room"}));
}

// ---- windows -----------------------------------------------------------------------------------

TEST(Http2Client, no_more_content_is_sent_than_either_window_takes) {
  ClientBench bench;
  bench.open(setting(Setting::initial_window_size, 10));
  ClientStream& stream = bench.begin("POST", false);
  (void)bench.take_sent();
  const std::string content(25, 'x');
  Bytes rest = content;
  ClientMachine& machine = bench.machine();
  const auto write = [&] {
    EXPECT_TRUE(machine.write_content(stream, rest, false, true, SIZE_MAX, bench.outbox()));
    return bench.sent();
  };
  EXPECT_EQ(write(), Events{"DATA 1 10"});
  bench.feed(frame(FrameType::window_update, 0, 1, number(5)));
  EXPECT_EQ(write(), Events{"DATA 1 5"});
  bench.feed(frame(FrameType::settings, 0, 0, setting(Setting::initial_window_size, 0)));
  EXPECT_EQ(stream.send_window, -10);
  bench.feed(frame(FrameType::settings, 0, 0, setting(Setting::initial_window_size, 20)));
  EXPECT_EQ(write(), (Events{"SETTINGS 0 ack", "SETTINGS 0 ack", "DATA 1 10 end"}));
  EXPECT_EQ(stream.state, ClientStreamState::waiting);
}

TEST(Http2Client, windows_open_again_as_content_is_taken) {
  ClientBench bench;
  bench.open();
  bench.begin();
  bench.feed(bench.reply(1, {{":status", "200"}}));
  (void)bench.take_sent();
  bench.expect_windows_open_again(1);
}

TEST(Http2Client, what_is_not_taken_is_not_allowed_to_be_sent_again) {
  Limits limits;
  limits.connection_window_bytes = 80 * 1024;
  ClientBench bench(limits);
  bench.open();
  const auto send = [&](std::uint32_t id) {
    bench.feed(bench.reply(id, {{":status", "200"}}));
    for (int index = 0; index < 4; ++index) {
      bench.feed_untaken(frame(FrameType::data, 0, id, std::string(16'384, 'x')));
    }
  };
  bench.begin();
  bench.begin();
  (void)bench.take_sent();
  send(1);
  bench.feed_untaken(frame(FrameType::data, 0, 1, "x"));
  EXPECT_EQ(bench.sent(), Events{"RST_STREAM 1 error 3"});
  send(3);
  EXPECT_EQ(bench.failure(), Failure::flow_control);
}

// ---- replies that were read before --------------------------------------------------------------

TEST(Http2Client, an_equal_block_means_the_same_only_while_no_table_changed) {
  ClientBench bench;
  bench.open();
  for (int count = 0; count < 6; ++count) bench.begin();
  const Bytes status = "\x88";  // 200, of the static table
  const Bytes adds_one =
      "\x88\x40\x01"
      "a\x01"
      "1";  // and a new entry, 62
  const Bytes adds_two =
      "\x88\x40\x01"
      "a\x01"
      "2";
  const Bytes newest = "\x88\xbe";
  const auto receive = [&](std::uint32_t id, Bytes block) {
    bench.feed(frame(FrameType::headers, flag_end_headers | flag_end_stream, id, block));
    return bench.reader().fields().find("a").value_or("none");
  };
  EXPECT_EQ(receive(1, adds_one), "1");
  EXPECT_EQ(receive(3, newest), "1");
  EXPECT_EQ(receive(5, newest), "1");
  EXPECT_EQ(receive(7, adds_two), "2");
  EXPECT_EQ(receive(9, newest), "2");
  EXPECT_EQ(receive(11, status), "none");
  EXPECT_EQ(bench.events().size(), 6u);
}

TEST(Http2Client, an_equal_block_of_another_connection_is_not_taken_from_this_ones_table) {
  ClientContext context{Limits()};
  Inflater with_entry, without;
  const Bytes newest = "\x88\xbe";
  EXPECT_EQ(context.reader.read_head(with_entry,
                                     "\x88\x40\x01"
                                     "a\x01"
                                     "1"),
            HeadVerdict::accepted);
  EXPECT_EQ(context.reader.read_head(with_entry, newest), HeadVerdict::accepted);
  EXPECT_EQ(context.reader.read_head(with_entry, newest), HeadVerdict::accepted);
  EXPECT_EQ(context.reader.read_head(without, newest), HeadVerdict::broken);
}

TEST(BlockEffect, is_what_the_representations_say) {
  EXPECT_EQ(effect_of("\x88"), BlockEffect::none);
  EXPECT_EQ(effect_of("\x88\x0f\x0d\x02"
                      "13"),
            BlockEffect::none);  // Content-Length, static name
  EXPECT_EQ(effect_of("\x88\x10\x01"
                      "a\x01"
                      "b"s),
            BlockEffect::none);
  EXPECT_EQ(effect_of("\x88\xbe"), BlockEffect::reads);
  EXPECT_EQ(effect_of("\x0f\x2f\x01"
                      "b"),
            BlockEffect::reads);  // a name of the table, 62
  EXPECT_EQ(effect_of("\x40\x01"
                      "a\x01"
                      "b"),
            BlockEffect::changes);
  EXPECT_EQ(effect_of("\x20\x88"), BlockEffect::changes);
  EXPECT_EQ(effect_of("\xff\xff\xff\xff\xff\xff\xff"), BlockEffect::changes);
  EXPECT_EQ(effect_of("\x0f\x0d\x05"
                      "13"),
            BlockEffect::changes);  // cut off
  EXPECT_EQ(effect_of("\x0f"), BlockEffect::changes);
}

// ---- limits and time ----------------------------------------------------------------------------

TEST(Http2Client, a_head_beyond_the_limits_is_not_taken_and_others_are) {
  ClientBench bench;
  bench.open();
  for (int count = 0; count < 3; ++count) bench.begin();
  Fields large = {{":status", "200"}};
  for (int index = 0; index < 5; ++index) large.emplace_back("x", std::string(3'500, 'x'));
  Fields many = {{":status", "200"}};
  for (int index = 0; index < 130; ++index) many.emplace_back("x" + std::to_string(index), "");
  bench.feed(bench.reply(1, large));
  bench.feed(bench.reply(3, many));
  bench.feed(bench.reply(5, {{":status", "200"}}, true));
  EXPECT_EQ(bench.events(),
            (Events{"over 1 too_large 8", "over 3 too_large 8", "head 5 200 last"}));
}

TEST(Http2Client, time_ends_what_is_not_completed) {
  const Limits limits;
  const auto expect = [](const char* what, Failure failure, Duration due, auto&& prepare) {
    ClientBench bench;
    prepare(bench);
    SCOPED_TRACE(what);
    bench.expect_end_after(due, failure);
  };
  const std::string ack = frame(FrameType::settings, flag_ack, 0);
  expect("settings are not acknowledged", Failure::settings_timeout, limits.settings_timeout,
         [](ClientBench& bench) { bench.open(); });
  expect("part of a frame", Failure::head_timeout, limits.head_timeout, [&](ClientBench& bench) {
    bench.open();
    bench.feed(ack + "\0"s);
  });
  expect("part of a block", Failure::head_timeout, limits.head_timeout, [&](ClientBench& bench) {
    bench.open();
    bench.begin();
    bench.feed(ack + frame(FrameType::headers, 0, 1, "\x88"));
  });
  ClientBench idle;
  idle.open();
  idle.feed(ack);
  EXPECT_EQ(idle.machine().deadline(), never);
}

TEST(Http2Client, closing_says_so_and_leaves_the_streams_to_be_reset) {
  ClientBench bench;
  bench.open();
  ClientStream& stream = bench.begin();
  (void)bench.take_sent();
  bench.machine().close(bench.outbox());
  EXPECT_EQ(bench.sent(), Events{"GOAWAY 0 error 0"});
  EXPECT_EQ(bench.machine().first(), &stream);
  bench.machine().reset(stream, ErrorCode::cancel, bench.outbox());
  EXPECT_EQ(stream.state, ClientStreamState::closed);
  EXPECT_EQ(bench.sent(), Events{});
  EXPECT_EQ(bench.try_begin(), Begun::not_now);
}

// ---- floods -------------------------------------------------------------------------------------

// Frames that move nothing, and the failure of too many of them.
const std::vector<std::pair<std::string, Failure>>& floods() {
  static const std::vector<std::pair<std::string, Failure>> all = {
      {frame(FrameType::settings, 0, 0), Failure::settings_flood},
      {frame(FrameType::ping, 0, 0, "12345678"), Failure::ping_flood},
      {frame(FrameType::data, 0, 1), Failure::empty_frame_flood},
      {frame(FrameType::window_update, 0, 0, number(1)), Failure::window_flood},
      {frame(FrameType::window_update, 0, 1, number(1)), Failure::window_flood},
      {frame(FrameType::priority, 0, 1, "\0\0\0\0\0"s), Failure::other_flood},
      {frame(FrameType::goaway, 0, 0, number(9) + number(0)), Failure::other_flood},
      {frame(static_cast<FrameType>(99), 0, 0), Failure::other_flood},
  };
  return all;
}

TEST(Http2ClientAttack, frames_that_move_nothing_are_ended_each_under_its_name) {
  for (const auto& [flood, failure] : floods()) {
    ClientBench bench;
    bench.open();
    bench.begin();
    bench.feed(bench.reply(1, {{":status", "200"}}));
    bench.expect_flood_ends(flood, failure);
  }
}

TEST(Http2ClientAttack, one_octet_of_data_between_frames_that_move_nothing_does_not_pay_for_them) {
  for (const auto& [flood, failure] : floods()) {
    ClientBench bench;
    bench.open();
    bench.begin();
    bench.feed(bench.reply(1, {{":status", "200"}}));
    std::uint32_t pairs = 0;
    for (; bench.failure() == Failure::none && pairs < 10'000; ++pairs) {
      bench.feed(frame(FrameType::data, 0, 1, "x") + flood);
      if (bench.failure() == Failure::none) (void)bench.take_sent();
    }
    EXPECT_EQ(bench.failure(), failure) << text_of(failure).name << " after " << pairs;
    EXPECT_LE(pairs, 2 * Limits().idle_frames_max + 10) << text_of(failure).name;
  }
}

TEST(Http2ClientBudget, honest_small_messages_never_run_out) {
  ClientBench bench;
  bench.open();
  bench.begin();
  bench.feed(bench.reply(1, {{":status", "200"}}));
  const std::string message = frame(FrameType::data, 0, 1, "0123456789") +
                              frame(FrameType::window_update, 0, 0, number(10)) +
                              frame(FrameType::ping, 0, 0, "12345678");
  for (int count = 0; count < 20'000; ++count) {
    bench.feed(message);
    ASSERT_EQ(bench.failure(), Failure::none) << count;
    (void)bench.take_sent();
  }
}

TEST(Http2ClientAttack, interim_heads_without_end_are_ended) {
  ClientBench bench;
  bench.open();
  bench.begin();
  for (int count = 0; count < 65; ++count) bench.feed(bench.reply(1, {{":status", "103"}}));
  EXPECT_EQ(bench.events().back(), "over 1 malformed 1");
  EXPECT_EQ(bench.events().size(), 65u);
}

TEST(Http2ClientAttack, continuations_without_end_are_ended) {
  ClientBench bench;
  bench.open();
  bench.begin();
  bench.feed(frame(FrameType::headers, 0, 1, "\x88"));
  for (int count = 0; count < 9; ++count) bench.feed(frame(FrameType::continuation, 0, 1));
  EXPECT_EQ(bench.failure(), Failure::continuation_flood);
}

TEST(Http2ClientAttack, a_block_that_decodes_to_far_more_than_it_is_ends_the_connection) {
  ClientBench bench;
  bench.open();
  bench.begin();
  bench.begin();
  bench.feed(bench.reply(1, {{":status", "200"}, {"bomb", std::string(3'000, 'x')}}));
  const std::string block = "\x88" + std::string(100, '\xbe');  // the newest entry, again and again
  bench.feed(frame(FrameType::headers, flag_end_headers, 3, block));
  EXPECT_EQ(bench.failure(), Failure::header_bomb);
}

}  // namespace
}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
