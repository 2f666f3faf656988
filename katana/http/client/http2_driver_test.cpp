// Requests, replies, streams and ends of HTTP/2.
#include "katana/http/client/http2_driver.hpp"

#include <cerrno>
#include <random>

#include "katana/http/client/http2_driver_fixture_test.hpp"
#include "katana/http/client/retry.hpp"

namespace katana::client {
namespace {

using http2::number;
using http2::Setting;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// ---- requests and replies ----

TEST_F(Http2DriverTest, a_burst_is_one_connection_and_replies_come_in_any_order) {
  for (int count = 0; count < 64; ++count) get(home_url + std::to_string(count));
  EXPECT_EQ(links(), 1u);
  greet();
  const Frames sent = frames();
  ASSERT_EQ(sent.size(), 2u + 64u + 1u);
  EXPECT_EQ(sent[0], "SETTINGS 0");
  EXPECT_THAT(sent[1], StartsWith("WINDOW_UPDATE 0 "));
  EXPECT_EQ(sent[2], "HEADERS 1 end");
  EXPECT_EQ(sent[65], "HEADERS 127 end");
  EXPECT_EQ(sent[66], "SETTINGS 0 ack");
  for (std::uint32_t each = 64; each-- > 0;) say(0, reply(0, 2 * each + 1, std::to_string(each)));
  for (std::size_t each = 0; each < 64; ++each) {
    const Response response = taken(replies[each]);
    EXPECT_EQ(response.content(), std::to_string(each));
    EXPECT_EQ(response.version(), HttpVersion::http_2);
  }
  EXPECT_EQ(http().counters(reactor()).connections, 1u);
}

TEST_F(Http2DriverTest, a_request_and_its_reply_are_what_they_are_in_http1) {
  Reply& asked = fetch(Request("PUT", "http://server.test:81/a?b=c#d")
                           .field("X-Key", "Value")
                           .field("Cookie", "a=b")
                           .content("abc", "text/plain"));
  greet();
  std::string sent = take_sent(0);
  for (const char* part : {"PUT", "server.test:81", "/a?b=c", "x-key", "Value", "a=b", "abc"}) {
    EXPECT_THAT(sent, HasSubstr(part));
  }
  EXPECT_EQ(sent.find('#'), std::string::npos);
  say(0, head(0, 1, {{":status", "103"}, {"link", "x"}}, false) +
             head(0, 1, {{":status", "201"}, {"x-one", "1"}, {"empty", ""}}, false) +
             content(1, "hel") + content(1, "lo") + head(0, 1, {{"trailer", "t"}}, true));
  const Response moved = taken(asked);
  EXPECT_EQ(moved.status(), 201u);
  EXPECT_EQ(moved.content(), "hello");
  EXPECT_EQ(moved.field_count(), 2u);
  EXPECT_EQ(moved.find("X-One"), "1");
  EXPECT_EQ(moved.find("empty"), "");
  EXPECT_EQ(moved.find("trailer"), std::nullopt);
}

TEST_F(Http2DriverTest, a_reply_means_the_same_wherever_it_is_cut) {
  warm_up();
  std::uint32_t id = 3;
  // :status 200, content-length 5, a: b; no field is indexed.
  const std::string block(
      "\x88\x0f\x0d\x01"
      "5"
      "\x00\x01"
      "a\x01"
      "b",
      10);
  const auto make = [&] {
    return frame(FrameType::ping, 0, 0, "12345678") +
           frame(FrameType::headers, http2::flag_end_headers, id, block) +
           content(id, "hello", true);
  };
  const std::size_t size = make().size();
  for (std::size_t cut = 1; cut < size; ++cut, id += 2) {
    Reply& asked = get();
    const std::string bytes_said = make();
    say(0, bytes_said.substr(0, cut));
    say(0, bytes_said.substr(cut));
    ASSERT_TRUE(asked.done()) << cut;
    EXPECT_EQ(asked.result()->content(), "hello") << cut;
    replies.clear();
  }
  EXPECT_EQ(links(), 1u);
}

TEST_F(Http2DriverTest, replies_without_content_are_complete_with_their_head) {
  warm_up();
  Reply& asked_head = fetch(Request("HEAD", home_url));
  Reply& empty = get();
  say(0, head(0, 3, {{":status", "200"}, {"content-length", "999"}}, true) +
             head(0, 5, {{":status", "204"}}, true));
  EXPECT_EQ(error_of(asked_head), "status 200");
  EXPECT_EQ(error_of(empty), "status 204");
}

TEST_F(Http2DriverTest, a_head_that_cannot_be_sent_fails_its_request_alone) {
  Reply& nobody = fetch(Request(home_url).field("Host", ""));
  greet(0, http2::setting(Setting::max_header_list_size, 300));
  EXPECT_THAT(error_of(nobody), HasSubstr("cannot be sent over HTTP/2"));
  Reply& large = fetch(Request(home_url).field("X", std::string(500, 'x')));
  EXPECT_THAT(error_of(large), HasSubstr("exceeds the limit of this server"));
  Reply& fine = get();
  say(0, reply(0, 1));
  EXPECT_EQ(error_of(fine), "status 200");
  EXPECT_EQ(links(), 1u);
}

// ---- limits ----

TEST_F(Http2DriverTest, no_more_streams_are_begun_than_the_server_takes) {
  auto options = http2_options();
  options.connections_max = 1;
  use(options);
  Reply& first = get();
  greet(0, http2::setting(Setting::max_concurrent_streams, 2));
  Reply& second = get();
  Reply& third = get();
  EXPECT_THAT(frames(), testing::Contains("HEADERS 3 end"));
  EXPECT_EQ(links(), 1u);
  say(0, reply(0, 1));
  EXPECT_EQ(error_of(first), "status 200");
  EXPECT_THAT(frames(), ElementsAre("HEADERS 5 end"));
  Reply& fourth = get();
  EXPECT_TRUE(frames().empty());
  say(0, frame(FrameType::settings, 0, 0, http2::setting(Setting::max_concurrent_streams, 9)));
  EXPECT_THAT(frames(), testing::Contains("HEADERS 7 end"));
  say(0, reply(0, 3) + reply(0, 5) + reply(0, 7));
  for (Reply* each : {&second, &third, &fourth}) EXPECT_EQ(error_of(*each), "status 200");
}

TEST_F(Http2DriverTest, calls_beyond_the_limit_of_a_connection_open_another) {
  get();
  greet(0, http2::setting(Setting::max_concurrent_streams, 2));
  for (int count = 0; count < 4; ++count) get();
  EXPECT_EQ(links(), 3u);  // two each: the others use the limit of the first
  answer(1);
  answer(2);
  EXPECT_THAT(frames(1), testing::Contains("HEADERS 3 end"));
  EXPECT_THAT(frames(2), testing::Not(testing::Contains("HEADERS 3 end")));
}

TEST_F(Http2DriverTest, until_the_limit_is_known_no_more_than_a_hundred_and_one_connection) {
  for (int count = 0; count < 130; ++count) get();
  EXPECT_EQ(links(), 1u);
  greet(0, http2::setting(Setting::max_concurrent_streams, 128));
  EXPECT_EQ(links(), 2u);  // for requests beyond streams_max
  answer(1);
  EXPECT_THAT(frames(1), testing::Contains("HEADERS 59 end"));
}

TEST_F(Http2DriverTest, a_server_that_allows_no_streams_gets_one_connection) {
  get();
  greet(0, http2::setting(Setting::max_concurrent_streams, 0));
  Reply& waits = get();
  get();
  turn(seconds(1));
  EXPECT_EQ(links(), 1u);
  say(0, frame(FrameType::settings, 0, 0, http2::setting(Setting::max_concurrent_streams, 9)));
  say(0, reply(0, 3));
  EXPECT_EQ(error_of(waits), "status 200");
}

// ---- flow control ----

TEST_F(Http2DriverTest, content_goes_out_as_the_windows_let_it_and_in_turns) {
  warm_up();
  Reply& large = post(std::string(100'000, 'x'));
  Reply& small = post(std::string(100, 'y'));
  const auto sum_of = [](const Frames& sent, const std::string& of) {
    std::size_t sum = 0;
    for (const std::string& each : sent) {
      if (each.starts_with("DATA " + of + " ")) sum += std::stoul(each.substr(7));
    }
    return sum;
  };
  for (int count = 0; count < 20; ++count) turn();
  Frames sent = frames();
  EXPECT_THAT(sent, testing::Contains("DATA 5 100 end"));  // although it began later
  EXPECT_EQ(sum_of(sent, "3") + 100, 65'535u);             // the connection's window
  say(0, frame(FrameType::window_update, 0, 0, number(1'000'000)));
  for (int count = 0; count < 20; ++count) turn();
  Frames more = frames();
  EXPECT_EQ(sum_of(sent, "3") + sum_of(more, "3"), 65'535u);  // the stream's
  say(0, reply(0, 5));
  EXPECT_EQ(error_of(small), "status 200");
  say(0, frame(FrameType::window_update, 0, 3, number(1'000'000)));
  for (int count = 0; count < 20; ++count) turn();
  more = frames();
  EXPECT_EQ(sum_of(more, "3"), 100'000u - 65'535u);
  EXPECT_THAT(more.back(), testing::EndsWith(" end"));
  say(0, reply(0, 3));
  EXPECT_EQ(error_of(large), "status 200");
}

TEST_F(Http2DriverTest, a_reply_before_the_request_is_sent_ends_it_and_keeps_the_connection) {
  warm_up();
  Reply& large = post(std::string(100'000, 'x'));
  for (int count = 0; count < 20; ++count) turn();
  frames();
  say(0, head(0, 3, {{":status", "413"}}, true));
  EXPECT_EQ(error_of(large), "status 413");
  EXPECT_THAT(frames(), ElementsAre("RST_STREAM 3 error 8"));
  Reply& next = get();
  say(0, reply(0, 5));
  EXPECT_EQ(error_of(next), "status 200");
  EXPECT_EQ(links(), 1u);
}

TEST_F(Http2DriverTest, a_caller_that_does_not_read_pauses_its_stream_alone) {
  warm_up();
  open_stream(3);
  frames();
  for (int count = 0; count < 4; ++count) say(0, content(3, std::string(16 * 1024, 'x')));
  EXPECT_TRUE(frames().empty());  // no window is returned
  Reply& other = get();
  say(0, reply(0, 5, "other"));
  EXPECT_EQ(other.result()->content(), "other");
  turn(seconds(3'000));  // a slow reader has unlimited time
  turn();
  EXPECT_TRUE(open(0));
  frames();
  EXPECT_EQ(read(), 64u * 1024);
  EXPECT_THAT(frames(), ElementsAre("WINDOW_UPDATE 3 65536"));
  say(0, content(3, "the end", true));
  EXPECT_EQ(read(), 7u);
  EXPECT_EQ(read(), 0u);
}

TEST_F(Http2DriverTest, a_server_that_sends_beyond_a_window_loses_that_stream_alone) {
  warm_up();
  open_stream(3);
  Reply& other = get();
  for (int count = 0; count < 5; ++count) say(0, content(3, std::string(16 * 1024, 'x')));
  EXPECT_THAT(frames(), testing::Contains("RST_STREAM 3 error 3"));
  EXPECT_EQ(read(), 64u * 1024);  // the bytes that arrived within it
  piece.emplace(stream->read());
  piece->start();
  ASSERT_TRUE(piece->done());
  EXPECT_THAT(piece->result().error().describe(), HasSubstr("FLOW_CONTROL_ERROR"));
  say(0, reply(0, 5));
  EXPECT_EQ(error_of(other), "status 200");
}

// Unread content of an abandoned stream is returned to the connection's window.
TEST_F(Http2DriverTest, streams_that_are_left_unread_do_not_use_the_connection_up) {
  warm_up();
  std::size_t given_back = 0;
  constexpr std::uint32_t count_max = 250;
  for (std::uint32_t count = 0; count < count_max; ++count) {
    open_stream(3 + 2 * count);
    for (int part = 0; part < 3; ++part) {
      say(0, content(3 + 2 * count, std::string(16 * 1024, 'x')));
    }
    stream.reset();
    turn();
    for (const std::string& each : frames()) {
      if (each.starts_with("WINDOW_UPDATE 0 ")) given_back += std::stoul(each.substr(16));
    }
  }
  EXPECT_TRUE(open(0));
  EXPECT_GE(given_back, std::size_t{count_max} * 48 * 1024 / 2);
}

TEST_F(Http2DriverTest, a_long_reply_that_is_kept_whole_does_not_wait_for_a_small_window) {
  warm_up();
  Reply& asked = get();
  frames();
  say(0, head(0, 3, {{":status", "200"}, {"content-length", "500000"}}, false));
  EXPECT_THAT(frames(), ElementsAre("WINDOW_UPDATE 3 434464"));
  for (int count = 0; count < 50; ++count) {
    say(0, content(3, std::string(10'000, 'x'), count == 49));
  }
  ASSERT_TRUE(asked.done());
  EXPECT_EQ(asked.result()->content().size(), 500'000u);
}

// ---- cancellation ----

TEST_F(Http2DriverTest, a_cancelled_call_resets_its_own_stream_alone) {
  warm_up();
  Reply& stays = get();
  get();
  replies.pop_back();
  turn();
  turn();
  EXPECT_THAT(frames(), ElementsAre("HEADERS 3 end", "HEADERS 5 end", "RST_STREAM 5 error 8"));
  say(0, reply(0, 5, "late"));  // it was under way at the reset
  say(0, reply(0, 3));
  EXPECT_EQ(error_of(stays), "status 200");
  open_stream(7);
  stream.reset();
  turn();
  EXPECT_THAT(frames(), testing::Contains("RST_STREAM 7 error 8"));
  EXPECT_TRUE(open(0));
}

TEST_F(Http2DriverTest, a_late_reply_resets_its_stream_and_a_silent_connection_gets_no_calls) {
  warm_up();
  Reply& late = fetch(Request(home_url).timeout(seconds(2)));
  turn(seconds(1));
  say(0, frame(FrameType::ping, 0, 0, "12345678"));  // the server is alive
  turn(milliseconds(1'100));
  turn();
  EXPECT_THAT(error_of(late),
              HasSubstr("deadline exceeded after 2000 ms: the server sent no reply"));
  EXPECT_TRUE(open(0));

  Reply& patient = get();
  Reply& silent = fetch(Request(home_url).timeout(seconds(2)));
  turn(milliseconds(2'100));
  turn();
  EXPECT_THAT(error_of(silent),
              HasSubstr("deadline exceeded after 2000 ms: the server sent no reply"));
  EXPECT_EQ(links(), 1u);
  Reply& next = get();
  ASSERT_EQ(links(), 2u);
  greet(1);
  say(1, reply(1, 1));
  EXPECT_EQ(error_of(next), "status 200");
  say(0, reply(0, 5));  // its earlier streams are awaited
  EXPECT_EQ(error_of(patient), "status 200");
  EXPECT_FALSE(open(0));
  EXPECT_TRUE(open(1));
}

TEST_F(Http2DriverTest, content_beyond_the_limit_ends_its_call_alone) {
  auto options = http2_options();
  options.content_bytes_max = 10'000;
  use(options);
  warm_up();
  Reply& large = get();
  Reply& other = get();
  say(0, head(0, 3, {{":status", "200"}}, false) + content(3, std::string(10'001, 'x')));
  EXPECT_THAT(error_of(large), testing::AllOf(StartsWith("GET http://server.test/: "),
                                              HasSubstr("raise content_bytes_max")));
  EXPECT_THAT(frames(), testing::Contains("RST_STREAM 3 error 8"));
  say(0, content(3, "more") + reply(0, 5));
  EXPECT_EQ(error_of(other), "status 200");
}

// ---- retries ----
TEST_F(Http2DriverTest, what_a_goaway_leaves_out_is_sent_again_whatever_its_method) {
  warm_up();
  Reply& served = post();
  Reply& left_out = post("content");
  frames();
  go_away(0, 3);
  ASSERT_EQ(links(), 2u);
  greet(1);
  EXPECT_THAT(take_sent(1), HasSubstr("content"));
  say(1, reply(1, 1, "again"));
  EXPECT_EQ(left_out.result()->content(), "again");
  EXPECT_TRUE(open(0));
  say(0, reply(0, 3));
  EXPECT_EQ(error_of(served), "status 200");
  EXPECT_FALSE(open(0));
  EXPECT_EQ(http().counters(reactor()).retries, 1u);
  EXPECT_EQ(http().counters(reactor()).failures, 0u);
}

TEST_F(Http2DriverTest, a_server_that_always_goes_away_is_asked_so_many_times) {
  Reply& asked = fetch(Request("POST", home_url).timeout(seconds(300)));
  for (std::uint32_t index = 0; index <= unprocessed_max; ++index) {
    ASSERT_EQ(links(), index + 1u);
    greet(index);
    go_away(index, 0, ErrorCode::enhance_your_calm);
    if (index >= unprocessed_at_once) turn(seconds(3));
    turn();
  }
  EXPECT_THAT(error_of(asked), HasSubstr("GOAWAY, ENHANCE_YOUR_CALM"));
  EXPECT_EQ(links(), unprocessed_max + 1u);
}

TEST_F(Http2DriverTest, requests_beyond_the_last_stream_of_many_connections_spend_no_retry) {
  HttpClientOptions options = http2_options();
  options.retries_max = 1;
  options.breaker = {.failures_percent = 10, .requests_min = 1};
  use(options);
  Reply& asked = post("content");
  for (std::uint32_t index = 0; index < 4; ++index) {
    greet(index);
    go_away(index, 0);
    ASSERT_EQ(links(), index + 2u);
  }
  greet(4);
  EXPECT_THAT(take_sent(4), HasSubstr("content"));
  say(4, reply(4, 1));
  EXPECT_EQ(error_of(asked), "status 200");
  EXPECT_EQ(http().counters(reactor()).breaker_openings, 0u);
}

TEST_F(Http2DriverTest, without_retries_an_unprocessed_request_fails_and_shows_no_debug_data) {
  HttpClientOptions options = http2_options();
  options.retries_max = 0;
  use(options);
  Reply& asked = post();
  greet(0);
  go_away(0, 0);
  EXPECT_THAT(error_of(asked),
              testing::AllOf(HasSubstr("GOAWAY"), testing::Not(HasSubstr("hunter2"))));
}

TEST_F(Http2DriverTest, a_goaway_ends_an_idle_connection) {
  warm_up();
  go_away(0, 1);
  EXPECT_FALSE(open(0));
  EXPECT_EQ(http().counters(reactor()).connections, 0u);
}

TEST_F(Http2DriverTest, a_refused_stream_is_sent_again_whatever_its_method) {
  warm_up();
  Reply& asked =
      fetch(Request("POST", home_url).content("content", "text/plain").timeout(seconds(300)));
  frames();
  cancel(0, 3, ErrorCode::refused_stream);
  turn();
  EXPECT_THAT(frames(), ElementsAre("HEADERS 5", "DATA 5 7 end"));
  std::uint32_t id = 5;
  for (std::uint32_t count = 1; count < unprocessed_max; ++count, id += 2) {
    cancel(0, id, ErrorCode::refused_stream);
    turn(seconds(2));  // all of the backoff
    turn();
    const std::string next = std::to_string(id + 2);
    ASSERT_THAT(frames(), ElementsAre("HEADERS " + next, "DATA " + next + " 7 end")) << count;
  }
  cancel(0, id, ErrorCode::refused_stream);
  EXPECT_THAT(error_of(asked), HasSubstr("the server refused the stream"));
  EXPECT_EQ(links(), 1u);
}

TEST_F(Http2DriverTest, a_stream_that_is_reset_otherwise_may_have_been_served) {
  warm_up();
  Reply& asked = get();
  cancel(0, 3, ErrorCode::internal_error);
  EXPECT_THAT(error_of(asked), HasSubstr("the server reset the stream (INTERNAL_ERROR)"));
  Reply& begun = get();
  say(0, head(0, 5, {{":status", "200"}}, false));
  cancel(0, 5, ErrorCode::refused_stream);  // the server did not process it
  EXPECT_THAT(error_of(begun), HasSubstr("REFUSED_STREAM"));
  Reply& other = get();
  cancel(0, 7, ErrorCode::http_1_1_required);
  EXPECT_THAT(error_of(other), HasSubstr("set http2 to never"));
  EXPECT_EQ(http().counters(reactor()).retries, 0u);
  EXPECT_TRUE(open(0));
}

TEST_F(Http2DriverTest, a_connection_that_dies_ends_all_of_its_calls_by_the_rule_of_each) {
  for (const bool reset : {false, true}) {
    const auto index = static_cast<std::uint32_t>(links());
    Reply& first = get();
    greet(index);
    say(index, reply(index, 1));
    ASSERT_EQ(error_of(first), "status 200");
    Reply& safe = get();
    Reply& unsafe = post();
    Reply& begun = get();
    say(index, head(index, 7, {{":status", "200"}}, false));
    reset ? lose(index, ECONNRESET) : close_by_server(index);
    turn();
    EXPECT_THAT(error_of(unsafe), StartsWith("POST http://server.test/: "));
    EXPECT_THAT(error_of(begun),
                HasSubstr(reset ? "Connection reset by peer" : "before the reply was complete"));
    ASSERT_EQ(links(), index + 2u);
    greet(index + 1);
    say(index + 1, reply(index + 1, 1));
    EXPECT_EQ(error_of(safe), "status 200");
    go_away(index + 1, 1);
  }
}

TEST_F(Http2DriverTest, a_connection_that_was_never_made_gives_its_calls_to_the_next_address) {
  for (const char* path : {"one", "two", "three"}) get(std::string("http://two.test/") + path);
  EXPECT_EQ(links(), 1u);
  lose(0, ECONNREFUSED);
  ASSERT_EQ(links(), 2u);
  answer(1);
  const std::string sent = take_sent(1);
  EXPECT_LT(sent.find("/one"), sent.find("/two"));
  EXPECT_LT(sent.find("/two"), sent.find("/three"));
  say(1, frame(FrameType::settings, 0, 0) + reply(1, 1) + reply(1, 3) + reply(1, 5));
  for (Reply& each : replies) EXPECT_EQ(error_of(each), "status 200");
  Reply& none = get("http://server.test:82/");
  replies.push_back(http().fetch(Request("http://server.test:82/")));
  replies.back().start();
  turn();
  EXPECT_EQ(links(), 3u);
  lose(2, ECONNREFUSED);
  EXPECT_THAT(error_of(none), HasSubstr("Connection refused"));
  EXPECT_THAT(error_of(replies.back()), HasSubstr("Connection refused"));
}

TEST_F(Http2DriverTest, a_call_cancelled_before_the_connection_opens_leaves_nothing) {
  get();
  replies.clear();
  turn();
  EXPECT_FALSE(open(0));
  get();
  Reply& stays = get();
  replies.pop_front();
  greet(1);
  EXPECT_THAT(frames(1), testing::Contains("RST_STREAM 1 error 8"));
  say(1, reply(1, 3));
  EXPECT_EQ(error_of(stays), "status 200");
}

// ---- faulty servers ----

TEST_F(Http2DriverTest, a_malformed_reply_fails_its_call_alone) {
  warm_up();
  const std::pair<Fields, const char*> heads[] = {
      {{{":status", "abc"}}, "violates RFC 9113"},
      {{{"a", "b"}}, "violates RFC 9113"},
      {{{":status", "200"}, {"Upper", "x"}}, "violates RFC 9113"},
      {{{":status", "200"}, {"connection", "close"}}, "violates RFC 9113"},
      {{{":status", "101"}}, "violates RFC 9113"},
      {{{":status", "200"}, {"x", std::string(33'000, 'x')}}, "raise head_bytes_max"},
  };
  std::uint32_t id = 3;
  for (const auto& [fields, problem] : heads) {
    Reply& asked = get();
    Reply& other = get();
    const std::string block = head(0, id, fields, true);
    // In frames of the largest size.
    std::string whole = block.substr(9);
    std::string text;
    bool first = true;
    while (!whole.empty()) {
      const std::string part = whole.substr(0, 16'000);
      whole.erase(0, part.size());
      const unsigned end = whole.empty() ? unsigned{http2::flag_end_headers} : 0u;
      text += first ? frame(FrameType::headers, end | http2::flag_end_stream, id, part)
                    : frame(FrameType::continuation, end, id, part);
      first = false;
    }
    for (std::size_t at = 0; at < text.size(); at += 20'000) say(0, text.substr(at, 20'000));
    EXPECT_THAT(error_of(asked),
                testing::AllOf(HasSubstr(problem), StartsWith("GET http://server.test/: ")));
    say(0, reply(0, id + 2));
    EXPECT_EQ(error_of(other), "status 200");
    id += 4;
  }
  Reply& liar = get();
  say(0, head(0, id, {{":status", "200"}, {"content-length", "3"}}, false) +
             content(id, "four", true));
  EXPECT_THAT(error_of(liar), HasSubstr("violates RFC 9113"));
  Reply& chatty = get();
  std::string interims;
  for (int count = 0; count < 70; ++count) interims += head(0, id + 2, {{":status", "103"}}, false);
  say(0, interims);
  EXPECT_THAT(error_of(chatty), HasSubstr("violates RFC 9113"));
  EXPECT_TRUE(open(0));
  EXPECT_EQ(links(), 1u);
}

TEST_F(Http2DriverTest, a_server_that_violates_http2_loses_its_connection_with_a_reason) {
  const std::string settings = frame(FrameType::settings, 0, 0);
  std::string pings, openings = frame(FrameType::headers, 0, 1, "x");
  for (int count = 0; count < 1'500; ++count) pings += frame(FrameType::ping, 0, 0, "12345678");
  for (int count = 0; count < 20; ++count) openings += frame(FrameType::continuation, 0, 1, "x");
  const std::pair<std::string, const char*> cases[] = {
      {"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "set http2 to by_alpn"},
      {settings + frame(FrameType::push_promise, http2::flag_end_headers, 1, number(2) + "\x88"),
       "malformed"},
      {settings + frame(FrameType::headers, http2::flag_end_headers, 2, "\x88"), "names a stream"},
      {settings + frame(FrameType::headers, http2::flag_end_headers, 1, "\xff\xff\xff\xff\xff"),
       "cannot be decoded"},
      {settings + pings, "Too many PING frames"},
      {settings + openings, "too many frames"},
      {settings + frame(FrameType::window_update, 0, 0, number(0x7fffffff)), "window"},
  };
  for (const auto& [bytes_said, problem] : cases) {
    Reply& asked = get();
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    for (std::size_t at = 0; at < bytes_said.size(); at += 8'000) {
      if (open(index)) say(index, bytes_said.substr(at, 8'000));
    }
    EXPECT_THAT(error_of(asked),
                testing::AllOf(HasSubstr(problem), StartsWith("GET http://server.test/: ")));
    turn(seconds(3));  // the bytes beyond the limit are not read to their end
    turn();
    EXPECT_FALSE(open(index)) << problem;
  }
}

TEST_F(Http2DriverTest, a_head_that_is_not_completed_closes_the_connection) {
  warm_up();
  Reply& asked = get();
  say(0, head(0, 3, {{":status", "200"}}, true).substr(0, 5));
  turn(seconds(11));
  turn();
  turn();
  EXPECT_THAT(error_of(asked), HasSubstr("was not completed"));
  turn(seconds(3));  // the sent part of it is not read
  turn();
  EXPECT_FALSE(open(0));
}

// Random frames: every call ends, and no memory leaks.
TEST_F(Http2DriverTest, whatever_a_server_sends_every_call_ends) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    use(http2_options());
    const auto index = static_cast<std::uint32_t>(links());
    for (int count = 0; count < 4; ++count) {
      Request request(count % 2 == 0 ? "GET" : "POST", home_url);
      if (count == 3) request.content(std::string(20'000, 'x'), "a/b");
      fetch(std::move(request));
    }
    ASSERT_EQ(links(), index + 1u);
    greet(index);
    for (int count = 0; count < 12 && open(index) && links() == index + 1u; ++count) {
      const auto id = static_cast<std::uint32_t>(random() % 10);
      std::string payload(random() % 12, '\0');
      for (char& each : payload) each = static_cast<char>(random() % 4 == 0 ? random() : 0);
      std::string one = frame(static_cast<FrameType>(random() % 11),
                              static_cast<unsigned>(random() % 64), id, payload);
      if (random() % 3 == 0) one = reply(index, id, payload);
      if (random() % 8 == 0) one[random() % one.size()] = static_cast<char>(random());
      if (random() % 8 == 0 && !replies.empty()) replies.pop_back();
      if (!world_.links[index].paused) say(index, one);
    }
    turn(seconds(40));
    for (std::uint32_t each = index; each < links(); ++each) {
      if (open(each)) lose(each, ECONNRESET);
    }
    turn(seconds(40));
    for (std::uint32_t each = index; each < links(); ++each) {
      if (open(each)) lose(each, ECONNRESET);
    }
    turn(seconds(40));
    turn();
    for (Reply& each : replies) EXPECT_TRUE(each.done());
    replies.clear();
    turn();
    ASSERT_EQ(http().counters(reactor()).connections, 0u);
    ASSERT_EQ(reactor().links_open(), 0u);
  }
  EXPECT_EQ(reactor().memory_used().output, 0u);
}

// ---- idle connections, closing ----

TEST_F(Http2DriverTest, an_idle_connection_answers_pings_which_do_not_keep_it_for_ever) {
  warm_up();
  for (int count = 0; count < 29; ++count) {
    turn(seconds(1));
    say(0, frame(FrameType::ping, 0, 0, "12345678"));
  }
  EXPECT_THAT(frames(), testing::Each("PING 0 ack"));
  turn(seconds(2));
  turn();
  EXPECT_THAT(frames(), ElementsAre("GOAWAY 0 error 0"));
  EXPECT_FALSE(open(0));
}

TEST_F(Http2DriverTest, a_drain_ends_idle_connections_and_lets_streams_finish) {
  warm_up();
  Reply& busy = get();
  reactor().request_drain(seconds(10));
  turn();
  turn();
  EXPECT_TRUE(open(0));
  world_.accepting = false;
  say(0, reply(0, 3));
  EXPECT_EQ(error_of(busy), "status 200");
  EXPECT_FALSE(open(0));
}

TEST_F(Http2DriverTest, a_connection_that_is_refused_during_a_drain_fails_its_calls) {
  Reply& one = get();
  Reply& other = get();
  reactor().request_drain(seconds(10));
  turn();
  turn();
  lose(0, ECONNREFUSED);
  EXPECT_THAT(error_of(one), HasSubstr("Connection refused"));
  EXPECT_THAT(error_of(other), HasSubstr("Connection refused"));
}

TEST_F(Http2DriverTest, a_reactor_without_blocks_says_so) {
  use(test_options());  // unsent requests of HTTP/1.1 fill them
  for (bool full = false; !full && links() < 64;) {
    full = fetch(Request("POST", home_url).content(std::string(2'000, 'x'), "a/b")).done();
  }
  use(http2_options());
  Reply& asked = get();
  EXPECT_THAT(error_of(asked), HasSubstr("raise output_blocks_max"));
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
