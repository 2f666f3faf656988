// The table of states, requests and replies, windows, and refusals.
#include <set>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/wire/http2/peer_test.hpp"

namespace katana::http2 {
namespace {

using namespace std::string_literals;
using Events = std::vector<std::string>;

// ---- the table -------------------------------------------------------------------------------

TEST(StreamTable, the_diagram_in_the_documentation_is_that_of_the_table) {
  expect_drawn("docs/diagrams/http2.md",
               draw_states("States of a stream of HTTP/2", "katana/wire/http2/states.hpp",
                           stream_transitions, stream_state_names, stream_cause_names));
}

TEST(StreamTable, every_state_but_the_last_can_be_left_and_the_last_cannot) {
  std::set<StreamState> left;
  for (const StreamTransition& each : stream_transitions) left.insert(each.from);
  EXPECT_EQ(left.size(), stream_state_names.size() - 1);
  EXPECT_FALSE(left.contains(StreamState::closed));
}

// ---- requests and replies ----------------------------------------------------------------------

TEST(Http2Machine, a_connection_at_rest_costs_little_memory) { EXPECT_LE(sizeof(Machine), 384u); }

TEST(Http2Machine, says_its_settings_first_and_acknowledges_those_of_the_peer) {
  Bench bench;
  EXPECT_EQ(bench.sent(), (Events{"SETTINGS 0", "WINDOW_UPDATE 0 196609"}));
  bench.feed(std::string(client_preface) + frame(FrameType::settings, 0, 0));
  EXPECT_EQ(bench.sent(), Events{"SETTINGS 0 ack"});
}

TEST(Http2Machine, a_short_reply_is_one_head_and_one_frame_of_data) {
  Bench bench;
  bench.open();
  const auto id = bench.request(get_root);
  EXPECT_EQ(bench.events(), Events{"head GET / last"});
  EXPECT_TRUE(bench.respond(id, "Hello").empty());
  EXPECT_EQ(bench.sent(), (Events{"HEADERS 1", "DATA 1 5 end"}));
  EXPECT_EQ(bench.machine().stream_count(), 0u);
}

TEST(Http2Machine, events_and_output_are_the_same_however_the_bytes_are_cut) {
  const auto run = [](std::size_t most) {
    Bench bench;
    Deflater deflater;
    std::string input(client_preface);
    input += frame(FrameType::settings, 0, 0, setting(Setting::initial_window_size, 70'000));
    const std::string block = deflater.block(post_root);
    input += frame(FrameType::headers, 0, 1, block.substr(0, 3));
    input += frame(FrameType::continuation, 0, 1, block.substr(3, 1));
    input += frame(FrameType::continuation, flag_end_headers, 1, block.substr(4));
    input += frame(FrameType::ping, 0, 0, "12345678");
    input += frame(FrameType::data, flag_padded, 1, std::string(1, '\3') + "abc" + "\0\0\0"s);
    input += frame(FrameType::data, 0, 1, "de");
    input +=
        frame(FrameType::headers, flag_end_headers | flag_end_stream, 3, deflater.block(get_root));
    input += frame(FrameType::headers, flag_end_headers | flag_end_stream, 1,
                   deflater.block({{"checksum", "1"}}));
    input += frame(static_cast<FrameType>(0x77), 0, 9, "who knows");
    input += frame(FrameType::rst_stream, 0, 3, number(8));
    bench.feed(input, most);
    return std::pair(bench.events(), bench.sent());
  };
  const auto whole = run(SIZE_MAX);
  EXPECT_EQ(whole.first,
            (Events{"head POST /", "head GET / last", "content abcde last", "over 3"}));
  for (std::size_t most = 1; most < 40; ++most) EXPECT_EQ(run(most), whole) << most;
}

TEST(Http2Machine, a_head_is_that_of_http_1_with_one_host_and_one_cookie) {
  Bench bench;
  bench.open();
  Fields fields = get_root;
  fields.insert(fields.end(),
                {{"host", "A.example"}, {"cookie", "a=1"}, {"x", ""}, {"cookie", "b=2"}});
  bench.request(fields);
  ASSERT_EQ(bench.events(), Events{"head GET / last"});
  const http::Head& head = bench.head();
  EXPECT_EQ(head.find("host"), Bytes("a.example"));
  EXPECT_EQ(head.find("cookie"), Bytes("a=1; b=2"));
  EXPECT_EQ(head.field_count(), 3u);
  EXPECT_TRUE(head.target_is_plain());
}

struct BadHead {
  const char* why;
  Fields fields;
};

TEST(Http2Machine, a_malformed_head_resets_its_stream_and_no_other) {
  const auto with = [](std::pair<std::string, std::string> field) {
    Fields fields = get_root;
    fields.push_back(std::move(field));
    return fields;
  };
  const auto without = [](std::size_t index) {
    Fields fields = get_root;
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(index));
    return fields;
  };
  const std::vector<BadHead> heads = {
      {"upper case", with({"Name", "x"})},
      {"a space in a name", with({"a b", "x"})},
      {"a colon in a name", with({"a:b", "x"})},
      {"DEL in a name", with({"a\x7f", "x"})},
      {"a byte above ASCII in a name", with({"a\xc3\xa9", "x"})},
      {"no name", with({"", "x"})},
      {"CR in a value", with({"a", "x\ry"})},
      {"LF in a value", with({"a", "x\ny: z"})},
      {"NUL in a value", with({"a", std::string("x\0y", 3)})},
      {"white space around a value", with({"a", " x"})},
      {"white space behind a value", with({"a", "x\t"})},
      {"Connection", with({"connection", "close"})},
      {"Transfer-Encoding", with({"transfer-encoding", "chunked"})},
      {"Upgrade", with({"upgrade", "h2c"})},
      {"TE other than trailers", with({"te", "gzip"})},
      {"an unknown pseudo-header", with({":protocol", "x"})},
      {"a pseudo-header of replies", with({":status", "200"})},
      {"a second path", with({":path", "/x"})},
      {"a pseudo-header behind a field", {{":method", "GET"}, {"a", "b"}, {":scheme", "http"}}},
      {"another host", with({"host", "b.example"})},
      {"a host before the authority",
       {{":method", "GET"},
        {":scheme", "http"},
        {":path", "/"},
        {"host", "a.example"},
        {":authority", "a.example"}}},
      {"no method", without(0)},
      {"no scheme", without(1)},
      {"no path", without(2)},
      {"an empty path", {{":method", "GET"}, {":scheme", "http"}, {":path", ""}}},
      {"a path without slash", {{":method", "GET"}, {":scheme", "http"}, {":path", "x"}}},
      {"a space in the path", {{":method", "GET"}, {":scheme", "http"}, {":path", "/ x"}}},
      {"a length without content", with({"content-length", "5"})},
      {"a length that is none", with({"content-length", "+5"})},
      {"CONNECT with a path", {{":method", "CONNECT"}, {":authority", "a:1"}, {":path", "/"}}},
  };
  Bench bench;
  bench.open();
  for (const BadHead& head : heads) {
    const auto id = bench.request(head.fields);
    EXPECT_EQ(bench.sent(), Events{"RST_STREAM " + std::to_string(id) + " error 1"}) << head.why;
  }
  EXPECT_EQ(bench.events(), Events{});
  const auto id = bench.request(get_root);
  bench.respond(id, "fine");
  EXPECT_EQ(bench.events(), Events{"head GET / last"});
}

TEST(Http2Machine, an_equal_block_is_the_same_request_only_while_no_table_changed) {
  Bench bench;
  bench.open();
  const std::string get =
      "\x82\x86\x84\x01\x01"
      "a";  // GET http / of a, literals not indexed
  const std::string adds_one = get +
                               "\x40\x01"
                               "x\x01"
                               "1";  // and a new entry, 62
  const std::string adds_two = get +
                               "\x40\x01"
                               "x\x01"
                               "2";
  const std::string newest = get + "\xbe";
  std::uint32_t id = 1;
  const auto ask = [&](const std::string& block) {
    bench.feed(frame(FrameType::headers, flag_end_headers | flag_end_stream, id, block));
    bench.respond(id, "");
    id += 2;
    return bench.head().find("x").value_or("none");
  };
  EXPECT_EQ(ask(adds_one), "1");
  EXPECT_EQ(ask(newest), "1");
  EXPECT_EQ(ask(newest), "1");
  EXPECT_EQ(ask(adds_two), "2");
  EXPECT_EQ(ask(newest), "2");
  EXPECT_EQ(ask(newest), "2");
  EXPECT_EQ(ask(get), "none");
  EXPECT_EQ(ask(get), "none");
  bench.feed(frame(FrameType::headers, flag_end_headers, id, newest));  // with content
  bench.feed(frame(FrameType::headers, flag_end_headers | flag_end_stream, id,
                   "\x0f\x0d\x01"
                   "1"));
  id += 2;
  EXPECT_EQ(ask(newest), "2");
  EXPECT_EQ(bench.failure(), Failure::none);
}

TEST(Http2Machine, an_equal_block_of_another_connection_is_not_taken_from_this_ones_table) {
  const Limits limits;
  HeadReader reader(limits);
  Inflater with_entry, without;
  const std::string get =
      "\x82\x86\x84\x01\x01"
      "a";
  const std::string newest = get + "\xbe";
  EXPECT_EQ(reader.read_request(with_entry, get + "\x40\x01"
                                                  "x\x01"
                                                  "1"),
            HeadVerdict::accepted);
  EXPECT_EQ(reader.read_request(with_entry, newest), HeadVerdict::accepted);
  EXPECT_EQ(reader.read_request(with_entry, newest), HeadVerdict::accepted);
  EXPECT_EQ(reader.read_request(without, newest), HeadVerdict::broken);
}

TEST(Http2Machine, a_head_that_is_refused_can_be_answered) {
  Bench bench;
  bench.open();
  Fields large = get_root;
  for (int index = 0; index < 5; ++index) large.emplace_back("x", std::string(3'500, 'x'));
  Fields many = get_root;
  for (int index = 0; index < 130; ++index) many.emplace_back("x" + std::to_string(index), "");
  Fields expecting = post_root;
  expecting.emplace_back("expect", "202-accepted");
  bench.request(large);
  bench.request(many);
  bench.request(expecting, false);
  bench.request({{":method", "GET"}, {":scheme", "http"}, {":path", "/"}});
  bench.request({{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a@b"}});
  bench.request({{":method", "GET"}, {":scheme", "ftp"}, {":path", "/"}, {":authority", "a"}});
  EXPECT_EQ(bench.events(), (Events{"refused 431 last", "refused 431 last", "refused 417",
                                    "refused 400 last", "refused 400 last", "refused 421 last"}));
  bench.respond(1, "too large", 431);
  EXPECT_EQ(bench.sent(), (Events{"HEADERS 1", "DATA 1 9 end"}));
}

// The verdict on a request with these names of its server: "accepted" with the host that it has,
// "refused" with 400, or "reset".
std::string verdict_of_hosts(Bytes scheme, std::optional<std::string> authority,
                             const std::vector<std::string>& hosts) {
  Bench bench;
  bench.open();
  Fields fields = {{":method", "GET"}, {":scheme", std::string(scheme)}, {":path", "/"}};
  if (authority) fields.emplace_back(":authority", *authority);
  for (const std::string& host : hosts) fields.emplace_back("host", host);
  bench.request(fields);
  const Events events = bench.events();
  const Events sent = bench.sent();
  if (sent == Events{"RST_STREAM 1 error 1"} && events.empty()) return "reset";
  if (events == Events{"refused 400 last"}) return "refused";
  if (events != Events{"head GET / last"}) return "neither";
  const http::Head& head = bench.head();
  return "accepted " + std::string(head.find("host").value_or("none")) + ", fields " +
         std::to_string(head.field_count());
}

TEST(Http2Machine, a_host_beside_the_authority_is_the_same_in_normal_form_or_resets_the_stream) {
  struct Case {
    Bytes scheme;
    std::optional<std::string> authority;
    std::vector<std::string> hosts;
    std::string verdict;
  };
  const std::vector<Case> cases = {
      {"http", "a", {}, "accepted a, fields 1"},
      {"http", {}, {"a"}, "accepted a, fields 1"},
      {"http", "a", {"a"}, "accepted a, fields 1"},
      {"http", "a", {"A"}, "accepted a, fields 1"},
      {"http", "A", {"a"}, "accepted A, fields 1"},
      {"http", "a", {"b"}, "reset"},
      {"http", "b", {"a"}, "reset"},
      {"http", "a", {"a:80"}, "accepted a, fields 1"},
      {"http", "a:80", {"a"}, "accepted a:80, fields 1"},
      {"http", "a:", {"A:80"}, "accepted a:, fields 1"},
      {"https", "a", {"a:443"}, "accepted a, fields 1"},
      {"https", "a:443", {"a"}, "accepted a:443, fields 1"},
      {"https", "a", {"a:80"}, "reset"},
      {"http", "a", {"a:443"}, "reset"},
      {"http", "a:81", {"a:82"}, "reset"},
      {"http", "a", {""}, "reset"},
      {"http", "", {"a"}, "reset"},
      {"http", "", {}, "refused"},
      {"http", {}, {""}, "refused"},
      {"http", {}, {}, "refused"},
      {"http", {}, {"a", "a"}, "reset"},
      {"http", {}, {"a", "b"}, "reset"},
      {"http", "a", {"a", "a"}, "reset"},
      {"http", "a,b", {}, "refused"},
      {"http", {}, {"a,b"}, "refused"},
      {"http", "a,b", {"a,b"}, "refused"},
      {"http", "a", {"a,b"}, "reset"},
      {"http", "a@b", {}, "refused"},
  };
  for (const Case& each : cases) {
    std::string what = std::string(each.scheme) + " :authority " + each.authority.value_or("none");
    for (const std::string& host : each.hosts) what += " host '" + host + "'";
    EXPECT_EQ(verdict_of_hosts(each.scheme, each.authority, each.hosts), each.verdict) << what;
  }
}

TEST(Http2Machine, connect_has_an_authority_for_its_target) {
  Bench bench;
  bench.open();
  bench.request({{":method", "CONNECT"}, {":authority", "a.example:80"}}, false);
  EXPECT_EQ(bench.events(), Events{"head CONNECT a.example:80"});
}

// RFC 8441.
const Fields connect_websocket = {{":method", "CONNECT"},      {":protocol", "websocket"},
                                  {":scheme", "https"},        {":path", "/chat"},
                                  {":authority", "a.example"}, {"sec-websocket-version", "13"}};

TEST(Http2Machine, says_that_other_protocols_may_be_asked_for_where_they_may) {
  const std::string said = setting(Setting::enable_connect_protocol, 1);
  Bench plain;
  EXPECT_EQ(plain.take_sent().find(said), std::string::npos);
  Bench extended({}, true);
  EXPECT_NE(extended.take_sent().find(said), std::string::npos);
}

TEST(Http2Machine, an_extended_connect_reads_as_the_upgrade_of_http_1) {
  Bench bench({}, true);
  bench.open();
  bench.request(connect_websocket, false);
  ASSERT_EQ(bench.events(), Events{"head GET /chat"});
  const http::Head& head = bench.head();
  EXPECT_TRUE(bench.asks_upgrade());
  EXPECT_EQ(head.method(), http::Method::get);
  EXPECT_TRUE(head.target_is_plain());
  EXPECT_EQ(head.find("upgrade"), Bytes("websocket"));
  EXPECT_EQ(head.find("host"), Bytes("a.example"));
  EXPECT_EQ(head.bytes().substr(head.bytes().size() - 3), "GET") << "it is moved with the head";
  bench.request(get_root);
  EXPECT_FALSE(bench.asks_upgrade());
}

TEST(Http2Machine, an_extended_connect_is_a_connect_with_all_that_a_request_has) {
  Bench bench({}, true);
  bench.open();
  const auto expect_reset = [&](const char* why, const Fields& fields) {
    const auto id = bench.request(fields, false);
    EXPECT_EQ(bench.sent(), Events{"RST_STREAM " + std::to_string(id) + " error 1"}) << why;
  };
  for (const std::size_t left_out : {2u, 3u, 4u}) {
    Fields fields = connect_websocket;
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(left_out));
    expect_reset(connect_websocket[left_out].first.c_str(), fields);
  }
  Fields fields = connect_websocket;
  fields[0].second = "GET";
  expect_reset("another method", fields);
  fields = connect_websocket;
  fields[1].second = "a b";
  expect_reset("no token", fields);
  fields = connect_websocket;
  fields.insert(fields.begin(), {":protocol", "websocket"});
  expect_reset("twice", fields);
  EXPECT_EQ(bench.events(), Events{});
  Bench plain;
  plain.open();
  plain.request(connect_websocket, false);
  EXPECT_EQ(plain.sent(), Events{"RST_STREAM 1 error 1"}) << "nobody was told that it may";
}

TEST(Http2Machine, a_protocol_that_is_not_spoken_is_501) {
  Bench bench({}, true);
  bench.open();
  Fields fields = connect_websocket;
  fields[1].second = "connect-udp";
  bench.request(fields, false);
  EXPECT_EQ(bench.events(), Events{"refused 501"});
}

TEST(Http2Machine, a_reset_of_the_peer_is_answered_with_nothing) {
  Bench bench;
  bench.open();
  const auto id = bench.request(get_root, false);
  bench.feed(frame(FrameType::rst_stream, 0, id, number(8)));
  EXPECT_EQ(bench.sent(), Events{});
  bench.feed(frame(FrameType::data, 0, id, "late"));
  EXPECT_EQ(bench.failure(), Failure::none);
}

TEST(Http2Machine, content_moves_from_another_outbox_as_the_windows_allow) {
  Bench bench;
  bench.open(setting(Setting::initial_window_size, 20'000));
  const auto id = bench.request(post_root, false);
  Stream& stream = bench.stream(id);
  EXPECT_TRUE(bench.machine().begin_reply(stream, {}, http::unknown_length, false, bench.now(),
                                          bench.outbox()));
  (void)bench.take_sent();
  BlockPool blocks(512, 64);
  Outbox content(blocks);
  for (int count = 0; count < 250; ++count) ASSERT_TRUE(content.write(std::string(100, 'x')));
  EXPECT_TRUE(bench.machine().move_content(stream, content, 1'000, bench.outbox()));
  EXPECT_EQ(bench.sent(), Events{"DATA 1 1000"});
  EXPECT_TRUE(bench.machine().move_content(stream, content, SIZE_MAX, bench.outbox()));
  EXPECT_EQ(bench.sent(), (Events{"DATA 1 16384", "DATA 1 2616"}));
  EXPECT_EQ(content.pending(), 5'000u);
  bench.feed(frame(FrameType::window_update, 0, id, number(10'000)));
  EXPECT_TRUE(bench.machine().move_content(stream, content, SIZE_MAX, bench.outbox()));
  EXPECT_EQ(bench.sent(), Events{"DATA 1 5000"});
  EXPECT_TRUE(content.empty());
}

TEST(Http2Machine, the_window_of_a_stream_can_be_opened_later_than_that_of_the_connection) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  bench.feed_untaken(frame(FrameType::data, 0, id, std::string(16'000, 'x')) +
                     frame(FrameType::data, 0, id, std::string(16'000, 'x')) +
                     frame(FrameType::data, 0, id, std::string(16'000, 'x')));
  bench.machine().consume(nullptr, 48'000, bench.outbox());
  EXPECT_EQ(bench.sent(), Events{}) << "less than half of the connection's window";
  bench.machine().open_window(bench.stream(id), 48'000, bench.outbox());
  EXPECT_EQ(bench.sent(), Events{"WINDOW_UPDATE 1 48000"});
}

TEST(Http2Machine, content_that_is_not_as_long_as_announced_resets_the_stream) {
  Bench bench;
  bench.open();
  Fields fields = post_root;
  fields.emplace_back("content-length", "4");
  const auto shorter = bench.request(fields, false);
  bench.feed(frame(FrameType::data, flag_end_stream, shorter, "abc"));
  const auto longer = bench.request(fields, false);
  bench.feed(frame(FrameType::data, 0, longer, "abcde"));
  EXPECT_EQ(bench.sent(), (Events{"RST_STREAM 1 error 1", "RST_STREAM 3 error 1"}));
  EXPECT_EQ(bench.events(), (Events{"head POST /", "over 1", "head POST /", "over 3"}));
}

TEST(Http2Machine, a_reply_before_the_content_leaves_the_rest_to_be_read_past) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  bench.respond(id, "no");
  EXPECT_EQ(bench.sent(), (Events{"HEADERS 1", "DATA 1 2 end"}));
  bench.feed(frame(FrameType::data, 0, id, "ignored"));
  bench.feed(frame(FrameType::data, flag_end_stream, id, "too"));
  EXPECT_EQ(bench.events(), (Events{"head POST /", "over 1"}));
  EXPECT_EQ(bench.sent(), Events{});
}

TEST(Http2Machine, what_a_replied_stream_sends_is_read_to_the_end_of_its_window_and_no_further) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  bench.respond(id, "no");
  (void)bench.sent();
  for (int index = 0; index < 4; ++index) {
    bench.feed(frame(FrameType::data, 0, id, std::string(16'384, 'x')));
  }
  // No reset, which some clients let go before the reply; no window of the stream is opened.
  auto sent = bench.sent();
  EXPECT_EQ(window_updates(sent, id), 0u);
  std::erase_if(sent, [](const auto& each) { return each.starts_with("WINDOW_UPDATE 0 "); });
  EXPECT_EQ(sent, Events{});
  EXPECT_EQ(bench.events(), Events{"head POST /"});
  bench.feed(frame(FrameType::data, 0, id, "x"));
  EXPECT_EQ(bench.sent(), Events{"RST_STREAM 1 error 3"});
  EXPECT_EQ(bench.events().back(), "over 1");
}

// ---- windows -----------------------------------------------------------------------------------

TEST(Http2Machine, no_more_is_sent_than_either_window_takes) {
  Bench bench;
  bench.open(setting(Setting::initial_window_size, 10));
  const auto id = bench.request(get_root);
  const std::string content(25, 'x');
  Bytes rest = bench.respond(id, content);
  EXPECT_EQ(bench.sent(), (Events{"HEADERS 1", "DATA 1 10"}));
  EXPECT_EQ(rest.size(), 15u);
  bench.feed(frame(FrameType::window_update, 0, id, number(5)));
  Machine& machine = bench.machine();
  EXPECT_TRUE(machine.write_content(bench.stream(id), rest, false, true, SIZE_MAX, bench.now(),
                                    bench.outbox()));
  EXPECT_EQ(bench.sent(), Events{"DATA 1 5"});
  bench.feed(frame(FrameType::settings, 0, 0, setting(Setting::initial_window_size, 20)));
  EXPECT_EQ(machine.window(bench.stream(id)), 10u);
  EXPECT_TRUE(machine.write_content(bench.stream(id), rest, false, true, SIZE_MAX, bench.now(),
                                    bench.outbox()));
  EXPECT_EQ(bench.sent(), (Events{"SETTINGS 0 ack", "DATA 1 10 end"}));
}

TEST(Http2Machine, a_window_made_smaller_afterwards_can_be_less_than_nothing) {
  Bench bench;
  bench.open();
  const auto id = bench.request(get_root);
  const std::string content(60'000, 'x');
  http::ReplyHead head;
  Bytes rest = content;
  EXPECT_TRUE(bench.machine().respond(bench.stream(id), head, rest, false, 50'000, bench.now(),
                                      bench.outbox()));
  bench.feed(frame(FrameType::settings, 0, 0, setting(Setting::initial_window_size, 0)));
  EXPECT_EQ(bench.stream(id).send_window, -50'000);
  EXPECT_EQ(bench.machine().window(bench.stream(id)), 0u);
}

TEST(Http2Machine, windows_open_again_as_content_is_taken) {
  Bench bench;
  bench.open();
  const auto id = bench.request(post_root, false);
  bench.expect_windows_open_again(id);
}

TEST(Http2Machine, more_than_a_window_is_an_error_of_the_stream_or_of_the_connection) {
  Limits limits;
  limits.connection_window_bytes = 80 * 1024;
  Bench bench(limits);
  bench.open();
  const auto send = [&](std::uint32_t id) {  // it is not taken
    for (int index = 0; index < 4; ++index) {
      bench.feed_untaken(frame(FrameType::data, 0, id, std::string(16'384, 'x')));
    }
  };
  const auto first = bench.request(post_root, false);
  send(first);
  bench.feed_untaken(frame(FrameType::data, 0, first, "x"));
  EXPECT_EQ(bench.sent(), Events{"RST_STREAM 1 error 3"});
  const auto second = bench.request(post_root, false);
  send(second);
  EXPECT_EQ(bench.failure(), Failure::flow_control);
  EXPECT_EQ(bench.sent(), Events{"GOAWAY 0 error 3"});
}

// ---- the end ------------------------------------------------------------------------------------

TEST(Http2Machine, a_drain_serves_what_is_on_its_way_and_nothing_after) {
  Bench bench;
  bench.open();
  const auto first = bench.request(get_root);
  bench.machine().drain(bench.outbox());
  EXPECT_EQ(bench.sent(), (Events{"GOAWAY 0 error 0", "PING 0"}));
  const auto on_its_way = bench.request(get_root);
  bench.feed(frame(FrameType::ping, flag_ack, 0, "drained?"));
  EXPECT_EQ(bench.sent(), Events{"GOAWAY 0 error 0"});
  bench.request(get_root);
  EXPECT_EQ(bench.events().size(), 2u);
  EXPECT_FALSE(bench.machine().drained());
  bench.respond(first, "a");
  bench.respond(on_its_way, "b");
  EXPECT_TRUE(bench.machine().drained());
}

TEST(Http2Machine, what_is_no_preface_is_told_so) {
  Bench bench;
  (void)bench.sent();
  bench.feed("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(bench.failure(), Failure::bad_preface);
  EXPECT_EQ(bench.sent(), Events{"GOAWAY 0 error 1"});
}

TEST(Http2Machine, content_is_not_reported_when_its_window_cannot_be_written) {
  Limits limits;
  limits.connection_window_bytes = limits.stream_window_bytes = default_window_bytes;
  Bench bench(limits);
  bench.open();
  const auto id = bench.request(post_root, false);
  // One byte less than half of the window: the next one is answered with WINDOW_UPDATE.
  bench.feed(frame(FrameType::data, 0, id, std::string(16'384, 'x')));
  bench.feed(frame(FrameType::data, 0, id, std::string(16'382, 'x')));
  EXPECT_TRUE(bench.sent().empty());
  fill(bench.outbox());
  bench.feed(frame(FrameType::data, flag_padded | flag_end_stream, id, "\0"s));
  EXPECT_EQ(bench.events(), (Events{"head POST /", "closed no_room"}));
}

TEST(Http2Machine, a_stream_whose_reset_cannot_be_written_is_over_before_the_connection_is_closed) {
  const auto run = [](bool replied, std::string_view input) {
    Bench bench;
    bench.open();
    const auto id = bench.request(post_root, !replied);
    if (replied) bench.respond(id, "done");
    fill(bench.outbox());
    bench.feed(input);
    EXPECT_EQ(bench.machine().stream_count(), 0u);
    return bench.events();
  };
  EXPECT_EQ(run(false, frame(FrameType::data, 0, 1, "late")),
            (Events{"head POST / last", "over 1", "closed no_room"}));
  EXPECT_EQ(run(false, frame(FrameType::window_update, 0, 1, number(0))),
            (Events{"head POST / last", "over 1", "closed no_room"}));
  // More than the window takes.
  std::string rest;
  for (int count = 0; count < 5; ++count) {
    rest += frame(FrameType::data, 0, 1, std::string(16'384, 'x'));
  }
  EXPECT_EQ(run(true, rest), (Events{"head POST /", "over 1", "closed no_room"}));
}

TEST(Http2Machine, time_ends_what_is_not_completed_and_who_is_idle) {
  const auto expect = [](const char* what, Failure failure, Duration due, auto&& prepare) {
    Bench bench;
    prepare(bench);
    SCOPED_TRACE(what);
    bench.expect_end_after(due, failure);
  };
  const Limits limits;
  const std::string ack = frame(FrameType::settings, flag_ack, 0);
  expect("nothing is said", Failure::head_timeout, limits.head_timeout, [](Bench&) {});
  expect("settings are not acknowledged", Failure::settings_timeout, limits.settings_timeout,
         [](Bench& bench) { bench.open(); });
  expect("idle", Failure::none, limits.idle_timeout, [&](Bench& bench) {
    bench.open();
    bench.feed(ack);
  });
  expect("part of a frame", Failure::head_timeout, limits.head_timeout, [&](Bench& bench) {
    bench.open();
    bench.feed(ack + "\0"s);
  });
  expect("part of a header block", Failure::head_timeout, limits.head_timeout, [&](Bench& bench) {
    bench.open();
    bench.feed(ack + frame(FrameType::headers, 0, 1, "\x82"));
  });
}

// ---- priorities ---------------------------------------------------------------------------------

TEST(Http2Priority, is_read_from_the_field_and_from_the_frame) {
  Bench bench;
  bench.open();
  Fields fields = get_root;
  fields.emplace_back("priority", "u=1, i");
  const auto id = bench.request(fields);
  EXPECT_EQ(bench.stream(id).priority.urgency, 1);
  EXPECT_TRUE(bench.stream(id).priority.incremental);
  bench.feed(frame(FrameType::priority_update, 0, 0, number(id) + "u=7"));
  EXPECT_EQ(bench.stream(id).priority.urgency, 7);
  EXPECT_FALSE(bench.stream(id).priority.incremental);
  EXPECT_EQ(parse_priority("u=9,x=1;a,i=?0").urgency, 3);
}

}  // namespace
}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
