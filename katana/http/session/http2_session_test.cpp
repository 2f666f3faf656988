// Http2Session: what it does for a request handler, call by call. The protocol's own rules are in
// wire/http2; whole servers with clients of every kind are in tests/simulation.
#include "katana/http/session/http2_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "katana/http/session/session_fixture_test.hpp"
#include "katana/http/session/websocket_upgrade.hpp"

namespace katana::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Frame {
  unsigned type = 0, flags = 0;
  std::uint32_t stream = 0;
  std::string payload;
};
constexpr unsigned data = 0, headers = 1, rst_stream = 3, settings = 4, goaway = 7, window = 8;
constexpr unsigned end_stream = 1, end_headers = 4;

std::string big_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>((value >> shift) & 255);
  }
  return out;
}
std::string frame(unsigned type, unsigned flags, std::uint32_t stream, std::string payload) {
  return big_endian(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
         big_endian(stream, 4) + payload;
}
std::string text_of(std::string_view text) {
  return static_cast<char>(text.size()) + std::string(text);
}
// HPACK: indexed fields of the static table, and literals that are not added to the dynamic one.
std::string request(std::uint32_t stream, char method, std::string_view path, bool last,
                    std::string_view name = {}, std::string_view value = {}) {
  std::string block{method, '\x86'};
  block += '\x04' + text_of(path) + '\x01' + text_of("h");
  if (!name.empty()) block += '\0' + text_of(name) + text_of(value);
  return frame(headers, end_headers | (last ? end_stream : 0), stream, block);
}
constexpr char get = '\x82', post = '\x83';
std::string head_request(std::uint32_t stream) {
  const std::string block =
      '\x02' + text_of("HEAD") + '\x86' + '\x04' + text_of("/h") + '\x01' + text_of("h");
  return frame(headers, end_headers | end_stream, stream, block);
}
std::string setting(unsigned id, std::uint32_t value) {
  return big_endian(id, 2) + big_endian(value, 4);
}
const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

class Http2SessionTest : public ExchangeTest {
 protected:
  using ExchangeTest::ExchangeTest;

  // A connection whose settings are exchanged.
  std::uint32_t connect(const std::string& client_settings = {}) {
    const auto link = open();
    send(link, preface + frame(settings, 0, 0, client_settings) + frame(settings, 1, 0, {}));
    (void)taken(link);
    return link;
  }
  // The frames that came since the last call.
  std::vector<Frame> taken(std::uint32_t link) {
    std::vector<Frame> all;
    read_.resize(world_.links.size());
    std::string_view rest = std::string_view(sent(link)).substr(read_[link]);
    const auto byte = [&](std::size_t at) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(rest[at]));
    };
    while (rest.size() >= 9) {
      const std::size_t length = byte(0) << 16 | byte(1) << 8 | byte(2);
      if (rest.size() < 9 + length) break;
      all.push_back({.type = byte(3),
                     .flags = byte(4),
                     .stream = byte(5) << 24 | byte(6) << 16 | byte(7) << 8 | byte(8),
                     .payload = std::string(rest.substr(9, length))});
      rest.remove_prefix(9 + length);
      read_[link] += 9 + length;
    }
    return all;
  }
  // "1 headers 200", "1 data abc", "1 end" behind the frame that ends it, "1 reset 8", "goaway 1".
  std::vector<std::string> told(std::uint32_t link) {
    std::vector<std::string> words;
    for (const Frame& each : taken(link)) {
      const std::string of = std::to_string(each.stream);
      if (each.type == headers) words.push_back(of + " headers " + status_of(each.payload));
      if (each.type == data && !each.payload.empty()) {
        words.push_back(of + " data " +
                        (each.payload.size() < 40
                             ? each.payload
                             : std::to_string(each.payload.size()) + " bytes"));
      }
      if (each.type == rst_stream) words.push_back(of + " reset " + number_of(each.payload, 0));
      if (each.type == goaway) words.push_back("goaway " + number_of(each.payload, 0));
      if ((each.type == headers || each.type == data) && (each.flags & end_stream) != 0) {
        words.push_back(of + " end");
      }
    }
    return words;
  }
  static std::string number_of(const std::string& payload, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t next = at; next < at + 4; ++next) {
      number = number << 8 | static_cast<unsigned char>(payload[next]);
    }
    return std::to_string(number);
  }
  // The statuses of the static table, or three digits.
  static std::string status_of(const std::string& block) {
    const auto first = static_cast<unsigned char>(block[0]);
    constexpr const char* known[] = {"200", "204", "206", "304", "400", "404", "500"};
    if (first >= 0x88 && first <= 0x8e) return known[first - 0x88];
    for (const char* const each : {"100", "205", "408", "413", "429", "503"}) {
      if (block.find(each) != std::string::npos) return each;
    }
    return "?";
  }
  void wait_in_handler() {
    handler_.at_request = [this](Exchange& exchange) { handler_.hold(exchange); };
  }

 private:
  std::vector<std::size_t> read_;
};

// ---- replies

TEST_F(Http2SessionTest, each_stream_is_a_request_and_has_one_reply) {
  const auto link = connect();
  send(link, request(1, get, "/a", true) + request(3, get, "/b", true));
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "GET /b"));
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data well", "1 end", "3 headers 200",
                                      "3 data well", "3 end"));
  EXPECT_EQ(http1_.counters().requests, 2u);
  EXPECT_EQ(http1_.counters().http2.streams_reset, 0u);
}

TEST_F(Http2SessionTest, only_the_first_reply_of_a_request_counts) {
  handler_.at_request = [](Exchange& exchange) {
    EXPECT_FALSE(exchange.write("too early"));
    EXPECT_FALSE(exchange.yield());
    exchange.end_reply();
    exchange.respond(head_of(200), "first", true);
    exchange.respond(head_of(404), "second", true);
    exchange.begin_reply(head_of(404));
    EXPECT_FALSE(exchange.write("third"));
    EXPECT_FALSE(exchange.yield());
    exchange.end_reply();
  };
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  turn();
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data first", "1 end"));
}

TEST_F(Http2SessionTest, a_reply_in_pieces_ends_once_and_takes_nothing_behind_its_end) {
  handler_.at_request = [this](Exchange& exchange) { handler_.hold(exchange); };
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  Exchange& exchange = *handler_.last;
  exchange.begin_reply(head_of(200));
  EXPECT_TRUE(exchange.write(""));
  EXPECT_TRUE(exchange.write("abc"));
  EXPECT_TRUE(exchange.write("de"));
  exchange.end_reply();
  EXPECT_FALSE(exchange.write("late"));
  EXPECT_FALSE(exchange.yield());
  exchange.end_reply();
  turn();
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data abc", "1 data de", "1 end"));
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "gone"));
}

TEST_F(Http2SessionTest, nothing_is_written_behind_a_reply_whose_request_still_comes) {
  handler_.at_request = [this](Exchange& exchange) { handler_.hold(exchange); };
  const auto link = connect();
  send(link, request(1, post, "/p", false));
  Exchange& exchange = *handler_.last;
  exchange.begin_reply(head_of(200));
  EXPECT_TRUE(exchange.write("abc"));
  exchange.end_reply();
  EXPECT_FALSE(exchange.write("late"));
  exchange.end_reply();
  turn();
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data abc", "1 end"));
  EXPECT_EQ(http1_.counters().replies_aborted, 0u);
  send(link, frame(data, end_stream, 1, "the rest is skipped"));
  EXPECT_THAT(told(link), IsEmpty());
  EXPECT_EQ(http1_.counters().http2.streams_reset, 0u);
}

TEST_F(Http2SessionTest, no_request_is_taken_while_the_output_is_full) {
  handler_.at_request = [](Exchange& exchange) {
    exchange.respond({}, std::string(1500, 'x'), false);
  };
  const auto link = connect();
  link_state(link).kernel = net::Kernel::borrows;
  std::string many;
  for (std::uint32_t stream = 1; stream < 40; stream += 2) many += request(stream, get, "/", true);
  send(link, many);
  const std::size_t served = handler_.notes.size();
  EXPECT_LT(served, 10u);
  for (int rounds = 0; rounds < 200 && link_state(link).sending; ++rounds) {
    complete(link);
    turn();
  }
  EXPECT_EQ(handler_.notes.size(), 20u);
}

TEST_F(Http2SessionTest, a_reply_without_content_ends_with_its_head) {
  for (const unsigned status : {204u, 205u, 304u}) {
    handler_.at_request = [&](Exchange& exchange) {
      exchange.begin_reply(head_of(status));
      EXPECT_FALSE(exchange.write("no content"));
      exchange.end_reply();
    };
    const auto link = connect();
    send(link, request(1, get, "/a", true));
    turn();
    EXPECT_THAT(told(link), ElementsAre("1 headers " + std::to_string(status), "1 end"));
  }
  handler_.at_request = [](Exchange& exchange) {
    exchange.begin_reply(head_of(200, 10));
    EXPECT_FALSE(exchange.write("0123456789"));
    EXPECT_FALSE(exchange.write("too much would be a mistake of the handler"));
    exchange.end_reply();
  };
  const auto link = connect();
  send(link, head_request(1));
  turn();
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 end"));
}

TEST_F(Http2SessionTest, a_reply_that_is_not_as_long_as_it_said_is_reset) {
  handler_.at_request = [](Exchange& exchange) {
    exchange.begin_reply(head_of(200, 4));
    EXPECT_TRUE(exchange.write("abc"));
    if (exchange.content_length()) {
      exchange.end_reply();
    } else {
      EXPECT_FALSE(exchange.write("de"));
    }
  };
  const auto link = connect();
  send(link, request(1, get, "/long", true));
  turn();
  EXPECT_THAT(told(link), testing::Contains("1 reset 2"));
  send(link, request(3, post, "/short", false, "content-length", "2") + frame(data, 1, 3, "hi"));
  turn();
  EXPECT_THAT(told(link), testing::Contains("3 reset 2"));
  EXPECT_TRUE(link_state(link).open);
}

TEST_F(Http2SessionTest, a_handler_that_neither_answers_nor_waits_is_answered_for) {
  handler_.at_request = [](Exchange&) {};
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "refused 500"));
  EXPECT_THAT(told(link), testing::Contains("1 headers 500"));
}

TEST_F(Http2SessionTest, a_reply_waits_for_the_window_of_its_client) {
  const auto link = connect(setting(4, 5));  // five bytes for each stream
  handler_.at_request = [](Exchange& exchange) { exchange.respond({}, "0123456789", false); };
  send(link, request(1, get, "/a", true));
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data 01234"));
  send(link, frame(window, 0, 1, big_endian(3, 4)));
  EXPECT_THAT(told(link), ElementsAre("1 data 567"));
  send(link, frame(window, 0, 1, big_endian(3, 4)));
  EXPECT_THAT(told(link), ElementsAre("1 data 89", "1 end"));
}

TEST_F(Http2SessionTest, a_stream_whose_window_stays_closed_is_reset_in_time) {
  const auto link = connect(setting(4, 5));
  handler_.at_request = [](Exchange& exchange) { exchange.respond({}, "0123456789", false); };
  send(link, request(1, get, "/a", true));
  (void)told(link);
  turn(milliseconds(29'900));
  turn();
  EXPECT_THAT(told(link), IsEmpty());
  turn(milliseconds(200));
  turn();
  EXPECT_THAT(told(link), testing::Contains(HasSubstr("1 reset")));
  EXPECT_EQ(http1_.counters().http2.streams_stalled, 1u);
  EXPECT_TRUE(link_state(link).open) << "the others go on";
}

TEST_F(Http2SessionTest, work_continues_when_the_window_opens_again) {
  const auto link = connect(setting(4, 5));
  handler_.at_request = [this](Exchange& exchange) {
    Work& work = handler_.hold(exchange);
    exchange.begin_reply(head_of(200));
    EXPECT_TRUE(exchange.write("01234"));
    EXPECT_FALSE(exchange.write("56"));
    work.at_writable = [&exchange] {
      EXPECT_TRUE(exchange.write("56"));
      exchange.end_reply();
    };
  };
  send(link, request(1, get, "/a", true));
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data 01234"));
  turn(seconds(20));
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a")) << "its time does not run meanwhile";
  send(link, frame(window, 0, 1, big_endian(5, 4)));
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("writable", "gone"));
  EXPECT_THAT(told(link), ElementsAre("1 data 56", "1 end"));
}

// ---- an observer

struct ObservedHttp2Test : Http2SessionTest {
  static HttpOptions observed(ExchangeObserver& observer) {
    HttpOptions options = ExchangeTest::options();
    options.observer = &observer;
    return options;
  }
  ObservedHttp2Test() : Http2SessionTest(observed(observer_)) {}
  static inline NotingObserver observer_;
  void SetUp() override { observer_.notes.clear(); }
};

TEST_F(ObservedHttp2Test, each_exchange_has_its_status_its_bytes_and_its_end) {
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  EXPECT_THAT(observer_.notes, ElementsAre("begin /a", "end 200 4 replied"));
  observer_.notes.clear();
  handler_.at_request = [](Exchange& exchange) {
    exchange.begin_reply(head_of(206));
    EXPECT_TRUE(exchange.write("abc"));
    EXPECT_TRUE(exchange.write("de"));
    exchange.end_reply();
  };
  send(link, request(3, get, "/b", true));
  EXPECT_THAT(observer_.notes, ElementsAre("begin /b", "end 206 5 replied"));
  observer_.notes.clear();
  wait_in_handler();
  send(link, request(5, get, "/c", true));
  send(link, frame(rst_stream, 0, 5, big_endian(8, 4)));
  EXPECT_THAT(observer_.notes, ElementsAre("begin /c", "end 0 0 left"));
  EXPECT_EQ(http1_.counters().http2.streams_reset, 1u);
}

TEST_F(ObservedHttp2Test, a_head_that_the_record_needs_is_charged_while_the_reply_is_made) {
  wait_in_handler();
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  const std::size_t little = held();
  send(link, frame(rst_stream, 0, 1, big_endian(8, 4)));
  EXPECT_EQ(held(), 0u);
  const std::string path = "/" + std::string(100, 'a');
  send(link, request(3, get, path, true));
  EXPECT_GE(held(), little + path.size() - 2);
}

class EchoHandler final : public WebSocketHandler {
 public:
  void on_message(WebSocket& socket, Bytes payload, MessageKind) override {
    EXPECT_EQ(socket.send_text(payload), SendOutcome::sent);
  }
};

TEST_F(ObservedHttp2Test, a_stream_that_becomes_a_websocket_ends_its_exchange_with_the_200) {
  handler_.at_request = [](Exchange& exchange) {
    ws::Handshake handshake;
    const Upgrade agreed{.status = 0, .detail = {}, .handshake = handshake};
    EXPECT_TRUE(upgrade(exchange, agreed, std::make_unique<EchoHandler>()));
  };
  const auto link = connect();
  const std::string block = '\x02' + text_of("CONNECT") + '\x86' + '\x04' + text_of("/ws") +
                            '\x01' + text_of("h") + '\0' + text_of(":protocol") +
                            text_of("websocket") + '\0' + text_of("sec-websocket-version") +
                            text_of("13");
  send(link, frame(headers, end_headers, 1, block));
  EXPECT_THAT(observer_.notes, ElementsAre("begin /ws", "end 200 0 replied websocket"));
  EXPECT_THAT(told(link), ElementsAre("1 headers 200"));
  for (const char* const text : {"hi", "ho"}) {
    send(link, frame(data, 0, 1, std::string("\x81\x82\0\0\0\0", 6) + text));
    EXPECT_THAT(told(link), ElementsAre("1 data \x81\x02" + std::string(text)));
  }
  turn(ExchangeTest::options().websocket.limits.ping_after);  // to the instant
  EXPECT_THAT(told(link), ElementsAre(std::string("1 data \x89\0", 9)));
  send(link, frame(data, end_stream, 1, std::string("\x88\x82\0\0\0\0\x03\xe8", 8)));
  turn();
  EXPECT_THAT(told(link), ElementsAre("1 data \x88\x02\x03\xe8", "1 end"));
  EXPECT_EQ(observer_.notes.size(), 2u);
  EXPECT_EQ(http1_.counters().http2.streams_reset, 0u);
}

// ---- time

TEST_F(Http2SessionTest, a_handler_has_its_time_and_then_a_503) {
  wait_in_handler();
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  turn(milliseconds(9'900));
  turn();
  EXPECT_THAT(told(link), IsEmpty());
  turn(milliseconds(200));
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "gone", "refused 503"));
  EXPECT_THAT(told(link), testing::Contains("1 headers 503"));
  EXPECT_EQ(http1_.counters().handler_timeouts, 1u);
}

TEST_F(Http2SessionTest, each_write_gives_the_handler_its_time_anew) {
  wait_in_handler();
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  handler_.last->begin_reply(head_of(200));
  for (int round = 0; round < 5; ++round) {
    turn(seconds(8));
    ASSERT_TRUE(handler_.last->write("x")) << round;
    turn();
  }
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a"));
  turn(milliseconds(10'100));
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("gone"));
}

TEST_F(Http2SessionTest, a_client_that_ended_its_side_is_waited_for_with_grace) {
  wait_in_handler();
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  input_end(link);
  turn();
  turn(milliseconds(900));
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a"));
  turn(milliseconds(200));
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("gone"));
  EXPECT_FALSE(link_state(link).open);
}

TEST_F(Http2SessionTest, a_connection_without_streams_closes_in_time) {
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  (void)told(link);
  turn(seconds(74));
  turn();
  EXPECT_TRUE(link_state(link).open);
  EXPECT_THAT(told(link), IsEmpty());
  turn(seconds(2));
  turn();
  EXPECT_THAT(told(link), ElementsAre("goaway 1"));
}

TEST_F(Http2SessionTest, content_that_does_not_come_in_time_is_a_408) {
  handler_.at_request = [](Exchange& exchange) { exchange.collect_content(100); };
  const auto link = connect();
  send(link, request(1, post, "/p", false));
  turn(seconds(31));
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "refused 408"));
  EXPECT_THAT(told(link), testing::Contains("1 headers 408"));
}

// ---- content

TEST_F(Http2SessionTest, content_that_is_collected_is_charged_until_the_reply) {
  handler_.at_request = [](Exchange& exchange) { exchange.collect_content(1000); };
  handler_.at_collected = [](Exchange& exchange) { exchange.respond({}, "got it", true); };
  const auto link = connect();
  send(link, request(1, post, "/p", false));
  EXPECT_GT(held(), 0u) << "its head is kept";
  const std::size_t before = held();
  send(link, frame(data, 0, 1, std::string(500, 'c')));
  EXPECT_GE(held(), before + 500);
  send(link, frame(data, end_stream, 1, "end"));
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "collected " + std::string(30, 'c')));
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data got it", "1 end"));
  EXPECT_EQ(held(), 0u);
}

TEST_F(Http2SessionTest, content_beyond_the_limit_is_a_413_however_it_is_known) {
  handler_.at_request = [](Exchange& exchange) { exchange.collect_content(4); };
  const auto link = connect();
  send(link, request(1, post, "/p", false, "content-length", "5"));
  EXPECT_THAT(told(link), testing::Contains("1 headers 413"));
  send(link, request(3, post, "/p", false) + frame(data, 0, 3, "1234"));
  EXPECT_THAT(told(link), IsEmpty());
  send(link, frame(data, 0, 3, "5"));
  EXPECT_THAT(told(link), testing::Contains("3 headers 413"));
}

TEST_F(Http2SessionTest, a_client_that_waits_for_a_100_gets_it_when_its_content_is_wanted) {
  handler_.at_request = [this](Exchange& exchange) {
    handler_.hold(exchange);
    exchange.stream_content(1000);
  };
  const auto link = connect();
  send(link, request(1, post, "/p", false, "expect", "100-continue"));
  turn();
  EXPECT_THAT(told(link), IsEmpty());
  handler_.last->want_content();
  turn();
  EXPECT_THAT(told(link), ElementsAre("1 headers 100"));
  send(link, frame(data, end_stream, 1, "hi"));
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "piece hi last"));
}

TEST_F(Http2SessionTest, content_comes_as_long_as_the_work_wants_it) {
  handler_.at_request = [this](Exchange& exchange) {
    Work& work = handler_.hold(exchange);
    work.at_content = [] { return false; };
    exchange.stream_content(1000);
    exchange.want_content();
  };
  const auto link = connect();
  send(link, request(1, post, "/p", false) + frame(data, 0, 1, "ab") + frame(data, 0, 1, "cd"));
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "piece ab"));
  EXPECT_GT(held(), 0u);
  handler_.last->want_content();
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("piece cd"));
}

TEST_F(Http2SessionTest, a_deferred_request_continues_when_it_is_resumed) {
  handler_.at_request = [this](Exchange& exchange) {
    handler_.hold(exchange);
    exchange.defer_request();
  };
  handler_.at_resumed = [](Exchange& exchange) { exchange.collect_content(100); };
  handler_.at_collected = [](Exchange& exchange) { exchange.respond({}, "done", true); };
  const auto link = connect();
  send(link, request(1, post, "/p", false) + frame(data, 0, 1, "ab"));
  EXPECT_GT(held(), 0u);
  handler_.last->resume_request();
  turn();
  send(link, frame(data, end_stream, 1, "c"));
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "resumed /p", "collected abc", "gone"));
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data done", "1 end"));
  EXPECT_EQ(held(), 0u);
}

// ---- memory, and the end of a server

TEST_F(Http2SessionTest, scarce_memory_ends_the_stream_that_keeps_most) {
  handler_.at_request = [](Exchange& exchange) { exchange.collect_content(10'000); };
  const auto link = connect();
  EXPECT_EQ(remembering2_.give_up_memory(), 0u) << "nothing is kept";
  send(link, request(1, post, "/1", false) + request(3, post, "/3", false));
  send(link, frame(data, 0, 3, std::string(900, 'c')));
  (void)remembering2_.give_up_memory();
  turn();
  EXPECT_THAT(told(link), testing::Contains("3 headers 503"));
  EXPECT_EQ(http1_.counters().memory_refusals, 1u);
}

TEST_F(Http2SessionTest, scarce_memory_breaks_off_a_reply_that_has_begun) {
  handler_.at_request = [this](Exchange& exchange) {
    handler_.hold(exchange);
    exchange.begin_reply(head_of(200));
  };
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  (void)remembering2_.give_up_memory();
  turn();
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", HasSubstr("1 reset")));
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "gone"));
}

TEST_F(Http2SessionTest, a_drain_says_so_twice_and_lets_streams_finish) {
  wait_in_handler();
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  reactor().request_drain(seconds(20));
  turn();
  EXPECT_THAT(told(link), ElementsAre("goaway 2147483647")) << "which streams come is not known";
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "drain"));
  turn(seconds(1));
  turn();
  EXPECT_THAT(told(link), ElementsAre("goaway 1"));
  EXPECT_TRUE(link_state(link).open);
  handler_.last->respond({}, "late", true);
  turn();
  turn();
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data late", "1 end"));
  EXPECT_TRUE(link_state(link).send_ended || !link_state(link).open);
}

TEST_F(Http2SessionTest, a_connection_that_turns_to_http2_while_the_server_drains_is_told) {
  const auto link = open();
  reactor().request_drain(seconds(20));
  turn();
  ASSERT_TRUE(link_state(link).open);
  send(link, preface + frame(settings, 0, 0, {}));
  EXPECT_THAT(told(link), testing::Contains(HasSubstr("goaway")));
}

struct LittleContentTest : Http2SessionTest {
  static HttpOptions little() {
    HttpOptions options = ExchangeTest::options();
    options.http2.content_held_bytes_max = 1000;
    return options;
  }
  LittleContentTest() : Http2SessionTest(little()) {}
};

TEST_F(LittleContentTest, content_of_a_stream_that_is_reset_counts_no_more) {
  handler_.at_request = [](Exchange& exchange) { exchange.collect_content(10'000); };
  const auto link = connect();
  for (std::uint32_t stream = 1; stream < 12; stream += 2) {
    send(link, request(stream, post, "/p", false));
    send(link, frame(data, 0, stream, std::string(450, 'c')));
    send(link, frame(data, 0, stream, std::string(450, 'c')));
    EXPECT_EQ(http1_.counters().http2.windows_held, 0u) << stream;
    send(link, frame(rst_stream, 0, stream, big_endian(8, 4)));
  }
  EXPECT_EQ(held(), 0u);
}

struct FewRequestsTest : Http2SessionTest {
  static HttpOptions few() {
    HttpOptions options = ExchangeTest::options();
    options.requests_per_connection_max = 2;
    return options;
  }
  FewRequestsTest() : Http2SessionTest(few()) {}
};

TEST_F(FewRequestsTest, the_last_request_of_a_connection_begins_its_drain) {
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  EXPECT_THAT(told(link), ElementsAre("1 headers 200", "1 data well", "1 end"));
  send(link, request(3, get, "/b", true));
  EXPECT_THAT(told(link), testing::IsSupersetOf({"3 headers 200", "goaway 2147483647"}));
}

TEST_F(Http2SessionTest, a_mistake_of_the_client_ends_the_connection_and_its_work) {
  wait_in_handler();
  const auto link = connect();
  send(link, request(1, get, "/a", true));
  send(link, frame(data, 0, 0, "x"));
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "gone"));
  EXPECT_THAT(told(link), ElementsAre("goaway 1"));
  std::uint64_t failures = 0;
  for (const std::uint64_t each : http1_.counters().http2.failures) failures += each;
  EXPECT_EQ(failures, 1u);
}

}  // namespace
}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
