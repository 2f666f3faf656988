// Rules of what both machines send and refuse at the edges of their states and limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "katana/wire/http2/client_bench_test.hpp"
#include "katana/wire/http2/frame_output.hpp"
#include "katana/wire/http2/request_writer.hpp"

namespace katana::http2 {
namespace {

using Events = std::vector<std::string>;

// The headers of the frames in `sent`.
std::vector<FrameHeader> headers_in(Bytes sent) {
  std::vector<FrameHeader> found;
  while (!sent.empty()) {
    found.push_back(parse_frame_header(sent.data()));
    sent.remove_prefix(frame_header_bytes + found.back().size);
  }
  return found;
}

// ---- frames ----

TEST(Http2Output, a_goaway_has_at_most_120_bytes_of_detail) {
  BlockPool blocks(4096, 4);
  Outbox outbox(blocks);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{120}, std::size_t{121}, std::size_t{600}}) {
    ASSERT_TRUE(put_goaway(1, ErrorCode::no_error, std::string(size, 'x'), outbox));
    std::string sent;
    outbox.for_each_pending([&](Bytes bytes, const Retained*) { sent += bytes; });
    outbox.clear();
    ASSERT_EQ(headers_in(sent).size(), 1u);
    EXPECT_EQ(headers_in(sent)[0].size, 8 + std::min<std::size_t>(size, 120));
  }
}

// ---- the client ----

TEST(Http2ClientOutput, only_the_last_frame_of_a_head_ends_it) {
  ClientBench bench;
  RequestHead head;
  head.authority = "a";
  const std::string line = "x: " + std::string(7'000, 'x') + "\r\n";
  const std::string fields = line + line + line + line + line;
  head.fields = fields;
  bench.begin(head);
  const auto frames = headers_in(bench.take_sent());
  ASSERT_EQ(frames.size(), 3u);
  for (std::size_t index = 0; index < 3; ++index) {
    EXPECT_EQ(frames[index].has(flag_end_headers), index == 2) << index;
  }
}

// RFC 7541 §4.2: the update of the table is the first byte of the block.
TEST(Http2ClientOutput, a_head_that_begins_with_an_update_of_the_table_has_the_size_that_it_says) {
  ClientBench bench;
  bench.open(setting(Setting::header_table_size, 0));
  bench.begin();
  const std::string sent = bench.take_sent();
  EXPECT_EQ(parse_frame_header(sent.data()).size, sent.size() - frame_header_bytes);
}

TEST(Http2ClientOutput, a_request_names_its_method_by_its_index_where_it_has_one) {
  std::string place(256, '\0');
  RequestHead head;
  head.authority = "a";
  (void)put_request(place.data(), head);
  EXPECT_EQ(place[0], '\x82');
  head.method = "POST";
  (void)put_request(place.data(), head);
  EXPECT_EQ(place[0], '\x83');
}

TEST(Http2ClientOutput, a_long_name_of_a_field_is_read_as_it_was_written) {
  ClientBench client;
  RequestHead head;
  head.authority = "a.example";
  const std::string name(300, 'n');
  const std::string fields = name + ": value\r\n";
  head.fields = fields;
  client.begin(head);
  Bench server;
  server.open();
  server.feed(client.take_sent());
  ASSERT_EQ(server.events(), Events{"head GET / last"});
  EXPECT_EQ(server.head().find(name), Bytes("value"));
}

// RFC 9113 §6.5.2: names, values, and 32 bytes for each field.
TEST(Http2ClientOutput, a_head_is_listed_with_all_that_the_server_counts) {
  RequestHead head;
  head.method = "DELETE";
  head.authority = "a.example";
  head.content_length = 9'223'372'036'854'775'807;
  head.fields = "X: y\r\nZ: 12\r\n";
  const std::size_t counted = (7 + 6 + 32) + (7 + head.scheme.size() + 32) + (10 + 9 + 32) +
                              (5 + 1 + 32) + (14 + 19 + 32) + (1 + 1 + 32) + (1 + 2 + 32);
  EXPECT_GE(listed_bytes(head), counted);
  EXPECT_LE(listed_bytes(head), counted + 32);
}

TEST(Http2ClientOutput, content_that_is_empty_ends_its_request_all_the_same) {
  ClientBench bench;
  bench.open();
  ClientStream& stream = bench.begin("POST", false);
  (void)bench.take_sent();
  Bytes content;
  EXPECT_TRUE(bench.machine().write_content(stream, content, false, true, 100, bench.outbox()));
  EXPECT_EQ(bench.sent(), Events{"DATA 1 0 end"});
}

TEST(Http2ClientOutput, nothing_is_written_behind_the_end_of_a_request_or_of_the_connection) {
  ClientBench bench;
  bench.open();
  ClientStream& ended = bench.begin();
  ClientStream& stream = bench.begin("POST", false);
  (void)bench.take_sent();
  Bytes content = "abc";
  EXPECT_FALSE(bench.machine().write_content(ended, content, false, true, 100, bench.outbox()));
  bench.feed(frame(FrameType::ping, 0, 1, "12345678"));  // a failure of the connection
  ASSERT_TRUE(bench.machine().closed());
  (void)bench.take_sent();
  EXPECT_FALSE(bench.machine().write_content(stream, content, false, true, 100, bench.outbox()));
  bench.machine().widen(stream, 1000, bench.outbox());
  EXPECT_EQ(content, "abc");
  EXPECT_TRUE(bench.sent().empty());
}

TEST(Http2ClientOutput, only_a_stream_whose_reply_is_still_coming_is_widened) {
  ClientBench bench;
  bench.open();
  ClientStream& stream = bench.begin("POST", false);
  (void)bench.take_sent();
  bench.machine().widen(stream, 0, bench.outbox());
  EXPECT_TRUE(bench.sent().empty());
  bench.machine().widen(stream, 1000, bench.outbox());
  EXPECT_EQ(bench.sent(), Events{"WINDOW_UPDATE 1 1000"});
  bench.feed(bench.reply(1, {{":status", "200"}}, true));
  (void)bench.take_sent();
  bench.machine().widen(stream, 1000, bench.outbox());
  EXPECT_TRUE(bench.sent().empty());
}

TEST(Http2ClientOutput, a_window_that_cannot_be_written_ends_the_connection) {
  ClientBench bench;
  bench.open();
  ClientStream& stream = bench.begin("POST", false);
  fill(bench.outbox());
  bench.machine().widen(stream, 1000, bench.outbox());
  EXPECT_EQ(bench.failure(), Failure::no_room);
}

TEST(Http2ClientOutput, data_on_a_stream_that_the_server_has_reset_is_a_failure_of_the_connection) {
  ClientBench bench;
  bench.open();
  bench.begin();
  bench.begin();
  bench.feed(frame(FrameType::rst_stream, 0, 1, number(8)));
  EXPECT_EQ(bench.failure(), Failure::none);
  bench.feed(frame(FrameType::data, 0, 1, "late"));
  EXPECT_EQ(bench.failure(), Failure::closed_stream);
}

TEST(Http2ClientOutput, a_head_of_a_reply_is_taken_up_to_its_limit) {
  for (const bool fits : {true, false}) {
    Limits limits;
    // ":status: 200" and "x: " are 42 and 33 bytes besides the value.
    limits.head_bytes_max = 42 + 33 + 1000;
    ClientBench bench(limits);
    bench.open();
    bench.begin();
    bench.feed(
        bench.reply(1, {{":status", "200"}, {"x", std::string(fits ? 1000 : 1001, 'v')}}, true));
    EXPECT_EQ(bench.events(), Events{fits ? "head 1 200 last" : "over 1 too_large 8"});
  }
}

TEST(Http2ClientOutput, a_head_that_is_too_large_before_its_status_is_too_large) {
  Limits limits;
  limits.head_bytes_max = 100;
  ClientBench bench(limits);
  bench.open();
  bench.begin();
  bench.feed(bench.reply(1, {{"x", std::string(200, 'v')}}, true));
  EXPECT_EQ(bench.events(), Events{"over 1 too_large 8"});
}

TEST(Http2ClientOutput, what_follows_in_a_head_that_is_too_large_makes_it_nothing_else) {
  Limits limits;
  limits.head_bytes_max = 100;
  ClientBench bench(limits);
  bench.open();
  bench.begin();
  bench.feed(
      bench.reply(1, {{":status", "200"}, {"x", std::string(200, 'v')}, {"no name", "v"}}, true));
  EXPECT_EQ(bench.events(), Events{"over 1 too_large 8"});
}

// ---- the server ----

http::ReplyHead head_of(unsigned status) {
  http::ReplyHead head;
  head.status = status;
  return head;
}

TEST(Http2ServerOutput, a_reply_to_HEAD_states_the_length_and_has_no_content) {
  Bench bench;
  bench.open();
  Fields fields = get_root;
  fields[0].second = "HEAD";
  const auto id = bench.request(fields);
  ASSERT_EQ(bench.events(), Events{"head HEAD / last"});
  EXPECT_TRUE(bench.respond(id, "Hello").empty());
  EXPECT_EQ(bench.sent(), Events{"HEADERS 1 end"});
}

TEST(Http2ServerOutput, no_more_of_a_short_reply_is_sent_than_the_caller_allows) {
  Bench bench;
  bench.open();
  const auto id = bench.request(get_root);
  Bytes content = "0123456789";
  EXPECT_TRUE(bench.machine().respond(bench.stream(id), head_of(200), content, false, 4,
                                      bench.now(), bench.outbox()));
  EXPECT_EQ(content, "456789");
  EXPECT_EQ(bench.sent(), (Events{"HEADERS 1", "DATA 1 4"}));
}

TEST(Http2ServerOutput, nothing_is_written_behind_a_reply_that_has_ended) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  EXPECT_TRUE(bench.respond(id, "early").empty());
  (void)bench.take_sent();
  Stream& stream = bench.stream(id);
  Bytes content = "more";
  EXPECT_FALSE(
      bench.machine().begin_reply(stream, head_of(200), -1, false, bench.now(), bench.outbox()));
  EXPECT_FALSE(bench.machine().write_content(stream, content, false, true, 100, bench.now(),
                                             bench.outbox()));
  bench.machine().send_continue(stream, bench.outbox());
  EXPECT_EQ(content, "more");
  BlockPool blocks(4096, 4);
  Outbox moved(blocks);
  ASSERT_TRUE(moved.write("more"));
  EXPECT_FALSE(bench.machine().move_content(stream, moved, 100, bench.outbox()));
  EXPECT_EQ(moved.pending(), 4u);
  EXPECT_TRUE(bench.sent().empty());
  moved.clear();
}

TEST(Http2ServerOutput, nothing_is_written_behind_the_end_of_a_connection) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  bench.feed(frame(FrameType::ping, 0, 1, "12345678"));
  ASSERT_TRUE(bench.machine().closed());
  (void)bench.take_sent();
  Stream& stream = bench.stream(id);
  Bytes content = "more";
  EXPECT_FALSE(
      bench.machine().begin_reply(stream, head_of(200), -1, false, bench.now(), bench.outbox()));
  EXPECT_FALSE(bench.machine().write_content(stream, content, false, true, 100, bench.now(),
                                             bench.outbox()));
  bench.machine().send_continue(stream, bench.outbox());
  EXPECT_TRUE(bench.sent().empty());
}

TEST(Http2ServerOutput, a_continue_is_for_a_request_whose_content_is_coming) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  bench.machine().send_continue(bench.stream(id), bench.outbox());
  const std::string sent = bench.take_sent();
  EXPECT_EQ(describe_all(sent), Events{"HEADERS 1"});
  EXPECT_NE(sent.find("100"), std::string::npos);
  const auto whole = bench.request(get_root);
  bench.machine().send_continue(bench.stream(whole), bench.outbox());
  EXPECT_TRUE(bench.sent().empty());
  fill(bench.outbox());
  bench.machine().send_continue(bench.stream(id), bench.outbox());
  EXPECT_EQ(bench.failure(), Failure::no_room);
}

TEST(Http2ServerOutput, data_on_a_stream_that_the_client_has_reset_is_refused) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  bench.feed(frame(FrameType::rst_stream, 0, id, number(8)));
  (void)bench.take_sent();
  bench.feed(frame(FrameType::data, 0, id, "late"));
  EXPECT_EQ(bench.failure(), Failure::none);
  EXPECT_EQ(bench.sent(), Events{"RST_STREAM 1 error 5"});
}

// RFC 9113 §5.3.1 has deprecated priorities; their frames still have one form (RFC 7540 §6.3).
TEST(Http2ServerOutput,
     a_priority_of_an_unknown_stream_that_depends_on_itself_ends_the_connection) {
  for (const bool is_short : {false, true}) {
    Bench bench;
    bench.open();
    bench.feed(frame(FrameType::priority, 0, 9, number(9) + (is_short ? "" : "\x10")));
    EXPECT_EQ(bench.failure(), is_short ? Failure::bad_frame_size : Failure::bad_frame);
  }
}

TEST(Http2ServerOutput, a_head_that_has_ended_has_no_time_limit_any_more) {
  Bench bench;
  bench.open();
  const std::string block = bench.deflater().block(post_root);
  bench.feed(frame(FrameType::headers, 0, 1, block.substr(0, 3)));
  const Instant due = bench.machine().deadline();
  bench.feed(frame(FrameType::continuation, flag_end_headers, 1, block.substr(3)));
  ASSERT_EQ(bench.events(), Events{"head POST /"});
  bench.pass(due - bench.now());
  bench.machine().on_deadline(bench.now(), bench.outbox());
  EXPECT_NE(bench.failure(), Failure::head_timeout);
}

}  // namespace
}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
