// WebSocketSession on a reactor in virtual time: messages, the end, time, backpressure, and senders
// on other threads.
#include "katana/http/session/websocket_session.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/session/websocket_connection.hpp"
#include "katana/http/topics/topics.hpp"
#include "katana/net/reactor/handover.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::session {
namespace {

// Records the calls, and does what its test says.
struct Notes {
  std::vector<std::string> events;
  std::string reason;  // of the last close
  std::function<void(WebSocket&)> at_open;
  std::function<void(WebSocket&, Bytes)> at_message;
  std::function<void(WebSocket&)> at_writable;
  std::vector<WebSocket*> sockets;
  int handlers = 0;
};

class NotingHandler final : public WebSocketHandler {
 public:
  explicit NotingHandler(Notes& notes) : notes_(notes) { ++notes_.handlers; }
  ~NotingHandler() override { --notes_.handlers; }
  void on_open(WebSocket& socket) override {
    notes_.events.emplace_back("open");
    notes_.sockets.push_back(&socket);
    if (notes_.at_open) notes_.at_open(socket);
  }
  void on_message(WebSocket& socket, Bytes payload, MessageKind kind) override {
    const std::string shown =
        payload.size() < 50 ? std::string(payload) : std::to_string(payload.size()) + " bytes";
    notes_.events.push_back((kind == MessageKind::text ? "text " : "binary ") + shown);
    if (notes_.at_message) notes_.at_message(socket, payload);
  }
  void on_writable(WebSocket& socket) override {
    notes_.events.emplace_back("room");
    if (notes_.at_writable) notes_.at_writable(socket);
  }
  void on_drain(WebSocket&) override { notes_.events.emplace_back("drain"); }
  void on_close(WebSocket&, CloseCode code, Bytes reason) override {
    notes_.reason = reason;
    notes_.events.push_back("close " + std::to_string(static_cast<unsigned>(code)));
  }

 private:
  Notes& notes_;
};

class WebSocketProtocol final : public net::Protocol {
 public:
  WebSocketProtocol(const WebSocketOptions& options, Notes& notes)
      : share(options, counters), notes_(notes) {}
  std::size_t session_bytes() const noexcept override { return sizeof(WebSocketConnection); }
  net::Session* open(void* memory, net::Connection& connection) noexcept override {
    connection_ = &connection;
    return last_ = WebSocketReplacement(share, {.window_bits = window_bits},
                                        std::make_unique<NotingHandler>(notes_))
                       .open(memory, connection);
  }
  // As a reactor whose memory is scarce, with the connection that was opened last.
  std::size_t give_up_memory() {
    const std::size_t going = last_->on_memory_scarce();
    connection_->wake();
    return going;
  }
  WebSocketCounters counters;
  WebSocketShare share;
  int window_bits = 0;  // 0: nothing is compressed

 private:
  Notes& notes_;
  net::Session* last_ = nullptr;
  net::Connection* connection_ = nullptr;
};

class WebSocketSessionTest : public net::ReactorTest {
 protected:
  explicit WebSocketSessionTest(const WebSocketOptions& options = small())
      : protocol_(options, notes_) {
    EXPECT_TRUE(reactor().listen({}, protocol_));
  }
  ~WebSocketSessionTest() override { reactor_.reset(); }

  static WebSocketOptions small() {
    WebSocketOptions options;
    options.limits.message_bytes_max = 10'000;
    options.queue_bytes_max = 8000;
    options.posted_bytes_max = 20'000;
    options.subscriptions_max = 4;
    return options;
  }

  // Returns the link.
  std::uint32_t open() {
    accept(1);
    return static_cast<std::uint32_t>(world_.links.size() - 1);
  }
  // A frame as a client sends it, with a mask of zero.
  static std::string frame(ws::Opcode opcode, Bytes payload, bool last = true,
                           bool compressed = false) {
    std::string out(ws::header_bytes_max, '\0');
    const char* const end =
        ws::write_header(out.data(), opcode, last, compressed, payload.size(), true, 0);
    out.resize(static_cast<std::size_t>(end - out.data()));
    return out + std::string(payload);
  }
  static std::string close_frame(unsigned code) {
    return frame(ws::Opcode::close,
                 std::string{static_cast<char>(code >> 8), static_cast<char>(code & 255)});
  }
  // The frames that were sent on a link, one word each: "text hi", "close 1000".
  std::vector<std::string> frames(std::uint32_t link) {
    std::vector<std::string> all;
    Bytes rest = sent(link);
    while (!rest.empty()) {
      const ws::Frame frame = ws::read_frame(rest, false, false);
      EXPECT_NE(frame.header_bytes, 0u);
      const Bytes payload = rest.substr(frame.header_bytes, frame.length);
      rest.remove_prefix(frame.header_bytes + frame.length);
      if (frame.opcode == ws::Opcode::close) {
        all.push_back("close " + std::to_string(static_cast<std::uint8_t>(payload[0]) * 256 +
                                                static_cast<std::uint8_t>(payload[1])));
      } else {
        constexpr const char* names[] = {"cont ", "text ", "binary "};
        const auto number = static_cast<std::size_t>(frame.opcode);
        all.push_back((number < 3    ? names[number]
                       : number == 9 ? "ping "
                                     : "pong ") +
                      (payload.size() < 50 ? std::string(payload)
                                           : std::to_string(payload.size()) + " bytes"));
      }
    }
    return all;
  }
  void expect_events(const std::vector<std::string>& events) {
    EXPECT_EQ(std::exchange(notes_.events, {}), events);
  }
  WebSocketCounters& counts() { return protocol_.share.counters(); }
  using Words = std::vector<std::string>;

  Notes notes_;
  WebSocketProtocol protocol_;
};

TEST_F(WebSocketSessionTest, a_message_is_given_to_the_handler_and_its_answer_sent) {
  notes_.at_message = [](WebSocket& socket, Bytes payload) {
    EXPECT_EQ(socket.send_text("you said " + std::string(payload)), SendOutcome::sent);
  };
  const auto link = open();
  bytes(link, frame(ws::Opcode::text, "hi") + frame(ws::Opcode::text, "there"));
  turn();
  expect_events({"open", "text hi", "text there"});
  EXPECT_EQ(frames(link), (Words{"text you said hi", "text you said there"}));
  EXPECT_EQ(link_state(link).sends, 1) << "what is pipelined is answered with one send";
  EXPECT_EQ(reactor().memory_used().output, 0u);
  EXPECT_EQ(reactor().memory_used().carry, 0u);
}

TEST_F(WebSocketSessionTest, a_message_in_pieces_is_given_whole) {
  const auto link = open();
  const std::string text(3000, 'x');
  const std::string sent = frame(ws::Opcode::text, text.substr(0, 1000), false) +
                           frame(ws::Opcode::ping, "p") +
                           frame(ws::Opcode::continuation, text.substr(1000));
  for (std::size_t at = 0; at < sent.size(); at += 700) {
    bytes(link, sent.substr(at, 700));
    turn();
  }
  expect_events({"open", "text 3000 bytes"});
  EXPECT_EQ(frames(link), Words{"pong p"});
  EXPECT_EQ(reactor().memory_used().carry, 0u);
  EXPECT_EQ(reactor().memory().used_by(Holder::message), 0u);
}

struct Compressing : WebSocketSessionTest {
  static WebSocketOptions with_deflate() {
    WebSocketOptions options = small();
    options.deflate.enabled = true;
    return options;
  }
  Compressing() : WebSocketSessionTest(with_deflate()) {
    protocol_.window_bits = protocol_.share.options().deflate.window_bits;
  }
};

TEST_F(Compressing, a_message_in_pieces_keeps_no_memory_when_it_is_decompressed) {
  notes_.at_message = [this](WebSocket&, Bytes) {
    EXPECT_EQ(reactor().memory().used_by(Holder::message), 0u);
  };
  const auto link = open();
  // Stored blocks of DEFLATE (RFC 1951 §3.2.4): one, and one without its end (RFC 7692 §7.2.1).
  const std::string packed = std::string("\0\x05\0\xfa\xff", 5) + "hello" + std::string(1, '\0');
  bytes(link, frame(ws::Opcode::text, Bytes(packed).substr(0, 7), false, true));
  turn();
  EXPECT_GT(reactor().memory().used_by(Holder::message), 0u);
  bytes(link, frame(ws::Opcode::continuation, Bytes(packed).substr(7)));
  turn();
  expect_events({"open", "text hello"});
}

TEST_F(WebSocketSessionTest, the_peer_closes_and_the_connection_ends) {
  const auto link = open();
  bytes(link, close_frame(1000));
  turn();
  expect_events({"open", "close 1000"});
  EXPECT_EQ(frames(link), Words{"close 1000"});
  EXPECT_FALSE(link_state(link).open);
  EXPECT_FALSE(link_state(link).was_reset);
  EXPECT_EQ(notes_.handlers, 0);
}

TEST_F(WebSocketSessionTest, the_handler_closes_and_what_still_comes_is_dropped) {
  notes_.at_message = [](WebSocket& socket, Bytes) {
    socket.close(CloseCode::normal, "enough");
    EXPECT_EQ(socket.send_text("late"), SendOutcome::closed);
  };
  const auto link = open();
  bytes(link, frame(ws::Opcode::text, "a") + frame(ws::Opcode::text, "b"));
  turn();
  EXPECT_TRUE(link_state(link).open) << "the peer's close frame is awaited";
  bytes(link, close_frame(1000));
  turn();
  EXPECT_FALSE(link_state(link).open);
  expect_events({"open", "text a", "close 1000"});
  EXPECT_EQ(frames(link), Words{"close 1000"});
}

TEST_F(WebSocketSessionTest, a_peer_that_does_not_answer_a_close_frame_is_cut_off) {
  notes_.at_open = [](WebSocket& socket) { socket.close(CloseCode::normal, ""); };
  const auto link = open();
  turn(seconds(4));
  EXPECT_TRUE(link_state(link).open);
  turn(seconds(2));
  EXPECT_FALSE(link_state(link).open);
  EXPECT_EQ(counts().timeouts, 1u);
}

TEST_F(WebSocketSessionTest, a_peer_that_breaks_a_rule_is_told_which) {
  const auto link = open();
  bytes(link, frame(ws::Opcode::continuation, "x") + "rubbish");
  turn();
  expect_events({"open", "close 1002"});
  EXPECT_EQ(frames(link), Words{"close 1002"});
  EXPECT_TRUE(link_state(link).send_ended) << "it lingers, so that the reason arrives";
  EXPECT_EQ(counts().refused, 1u);
}

TEST_F(WebSocketSessionTest, a_connection_that_breaks_off_is_told_once) {
  const auto first = open();
  const auto second = open();
  broken(first);
  input_end(second);
  turn();
  expect_events({"open", "open", "close 1006", "close 1006"});
  EXPECT_EQ(notes_.handlers, 0);
  EXPECT_EQ(counts().opened, counts().closed);
}

TEST_F(WebSocketSessionTest, a_handler_that_throws_ends_its_connection_and_no_other) {
  notes_.at_message = [](WebSocket&, Bytes) { throw std::runtime_error("x"); };
  const auto first = open();
  const auto second = open();
  bytes(first, frame(ws::Opcode::text, "a"));
  turn();
  EXPECT_EQ(frames(first), Words{"close 1011"});
  EXPECT_TRUE(link_state(second).open);
  EXPECT_EQ(counts().handler_failures, 1u);
}

TEST_F(WebSocketSessionTest, a_silent_peer_is_asked_and_then_cut_off) {
  const auto link = open();
  turn(seconds(31));
  EXPECT_EQ(frames(link), Words{"ping "});
  turn(seconds(15));
  bytes(link, frame(ws::Opcode::pong, ""));
  turn();
  turn(seconds(31));
  EXPECT_EQ(frames(link).size(), 2u);
  EXPECT_TRUE(link_state(link).open);
  turn(seconds(21));
  EXPECT_FALSE(link_state(link).open);
  EXPECT_EQ(counts().pings, 2u);
  EXPECT_EQ(counts().timeouts, 1u);
}

TEST_F(WebSocketSessionTest, who_drains_says_that_it_goes_away) {
  const auto link = open();
  reactor().request_drain(seconds(10));
  turn();
  EXPECT_EQ(frames(link), Words{"close 1001"});
  bytes(link, close_frame(1001));
  turn();
  EXPECT_FALSE(link_state(link).open);
  expect_events({"open", "drain", "close 1001"});
}

TEST_F(WebSocketSessionTest, who_hands_over_tells_each_peer_to_come_back_in_its_own_moment) {
  const net::Handover handover{.spread = seconds(4)};
  const auto first = open();
  const auto second = open();
  reactor().request_handover(seconds(20), handover);
  turn();
  EXPECT_EQ(frames(first), Words{});
  EXPECT_EQ(frames(second), Words{});
  bytes(second, frame(ws::Opcode::text, "still served"));
  turn();
  std::vector<int> told(2, -1);
  for (int tenth = 0; tenth < 41; ++tenth) {
    turn(milliseconds(100));
    for (std::size_t each = 0; each < 2; ++each) {
      const Words words = frames(each == 0 ? first : second);
      if (told[each] < 0 && !words.empty() && words.back() == "close 1012") told[each] = tenth;
    }
  }
  // A multiple of the golden ratio's fraction, 0.618: 2.47 s, and 0.94 s.
  EXPECT_EQ(told, (std::vector<int>{24, 9}));
  expect_events({"open", "open", "text still served", "drain", "drain"});
  bytes(first, close_frame(1012));
  turn();
  EXPECT_FALSE(link_state(first).open);
}

// ---- backpressure ------------------------------------------------------------------------------

TEST_F(WebSocketSessionTest, a_full_queue_takes_nothing_more_until_there_is_room) {
  const auto link = open();
  link_state(link).kernel = net::Kernel::borrows;
  WebSocket& socket = *notes_.sockets.back();
  const std::string text(3000, 'x');
  EXPECT_EQ(socket.send_text(text), SendOutcome::sent);
  turn();
  EXPECT_EQ(socket.send_text(text), SendOutcome::sent);
  EXPECT_EQ(socket.send_text(text), SendOutcome::full);
  complete(link);
  turn();
  complete(link);
  turn();
  expect_events({"open", "room"});
  EXPECT_EQ(frames(link), (Words{"text 3000 bytes", "text 3000 bytes"}));
}

TEST_F(WebSocketSessionTest, one_message_is_taken_by_an_empty_queue_whatever_its_size) {
  const auto link = open();
  EXPECT_EQ(notes_.sockets.back()->send_text(std::string(20'000, 'x')), SendOutcome::sent);
  turn();
  EXPECT_EQ(frames(link), Words{"text 20000 bytes"});
}

TEST_F(WebSocketSessionTest, a_peer_that_does_not_read_is_not_read) {
  notes_.at_message = [](WebSocket& socket, Bytes payload) { (void)socket.send_text(payload); };
  const auto link = open();
  link_state(link).kernel = net::Kernel::borrows;
  const std::string each = frame(ws::Opcode::text, std::string(900, 'x'));
  for (int count = 0; count < 6; ++count) {
    if (!link_state(link).paused) bytes(link, each);
    turn();
  }
  EXPECT_TRUE(link_state(link).paused);
  EXPECT_EQ(reactor().paused_links().outbox_full, 1u);
  EXPECT_LE(notes_.sockets.back()->queued_bytes(), 6000u);
  link_state(link).kernel = net::Kernel::takes;
  complete(link);
  turn();
  turn();
  EXPECT_FALSE(link_state(link).paused);
}

TEST_F(WebSocketSessionTest, a_handler_that_pauses_gets_the_rest_when_it_resumes) {
  notes_.at_message = [](WebSocket& socket, Bytes) { socket.pause(); };
  const auto link = open();
  bytes(link, frame(ws::Opcode::text, "a") + frame(ws::Opcode::text, "b"));
  turn();
  turn(seconds(120));  // the client is not at fault for the silence
  expect_events({"open", "text a"});
  EXPECT_EQ(frames(link), Words{});
  notes_.sockets.back()->resume();
  turn();
  expect_events({"text b"});
}

// RFC 6455 §5.6: a client would end the connection because of it.
TEST_F(WebSocketSessionTest, text_that_is_not_utf8_is_not_sent) {
  const auto link = open();
  WebSocket& socket = *notes_.sockets.back();
  const std::string cut = "caf\xc3";
  const WebSocketHandle handle = socket.handle();
  EXPECT_EQ(socket.send_text(cut), SendOutcome::not_utf8);
  EXPECT_EQ(handle.send_text(cut), SendOutcome::not_utf8);
  std::thread([&] { EXPECT_EQ(handle.send_text(cut), SendOutcome::not_utf8); }).join();
  EXPECT_EQ(socket.send_binary(cut), SendOutcome::sent) << "other bytes are not text";
  EXPECT_EQ(socket.send_text("caf\u00e9"), SendOutcome::sent);
  turn();
  EXPECT_EQ(frames(link), (Words{"binary " + cut, "text caf\u00e9"}));
}

// ---- from elsewhere ----------------------------------------------------------------------------

TEST_F(WebSocketSessionTest, a_handle_sends_from_another_thread_and_knows_when_it_is_gone) {
  const auto link = open();
  const WebSocketHandle handle = notes_.sockets.back()->handle();
  std::thread([&] {
    EXPECT_EQ(handle.send_text("from elsewhere"), SendOutcome::sent);
    EXPECT_EQ(handle.send_binary("twice"), SendOutcome::sent);
  }).join();
  EXPECT_TRUE(world_.woken);
  turn();
  EXPECT_EQ(frames(link), (Words{"text from elsewhere", "binary twice"}));
  EXPECT_EQ(handle.send_text("from here"), SendOutcome::sent);
  turn();
  EXPECT_EQ(frames(link).back(), "text from here");
  broken(link);
  turn();
  EXPECT_EQ(handle.send_text("late"), SendOutcome::closed);
  std::thread([&] { EXPECT_EQ(handle.send_text("late"), SendOutcome::closed); }).join();
}

TEST_F(WebSocketSessionTest, a_handle_never_reaches_who_came_after) {
  const auto first = open();
  const WebSocketHandle old = notes_.sockets.back()->handle();
  broken(first);
  turn();
  const auto second = open();
  const WebSocketHandle young = notes_.sockets.back()->handle();
  std::thread([&] {
    EXPECT_EQ(old.send_text("for the first"), SendOutcome::sent) << "that is not known here";
    EXPECT_EQ(young.send_text("for the second"), SendOutcome::sent);
    EXPECT_EQ(old.close(CloseCode::normal, ""), SendOutcome::sent);
  }).join();
  turn();
  EXPECT_EQ(frames(second), Words{"text for the second"});
}

TEST_F(WebSocketSessionTest, what_other_threads_hand_over_is_bounded) {
  const auto link = open();
  const WebSocketHandle handle = notes_.sockets.back()->handle();
  std::thread([&] {
    int taken = 0;
    while (handle.send_text(std::string(1000, 'x')) == SendOutcome::sent) ++taken;
    EXPECT_GE(taken, 8);
    EXPECT_LE(taken, 20);
  }).join();
  turn();
  std::thread([&] { EXPECT_EQ(handle.send_text("again"), SendOutcome::sent); }).join();
  (void)link;
}

TEST_F(WebSocketSessionTest, behind_a_message_beyond_the_bound_nothing_is_handed_over) {
  (void)open();
  const WebSocketHandle handle = notes_.sockets.back()->handle();
  EXPECT_EQ(handle.send_text(std::string(30'000, 'x')), SendOutcome::sent) << "one may be larger";
  EXPECT_EQ(handle.send_text("more"), SendOutcome::full);
  turn();
  EXPECT_EQ(handle.send_text("again"), SendOutcome::sent);
}

TEST_F(WebSocketSessionTest, a_handle_closes_from_another_thread_or_says_why_not) {
  const auto link = open();
  const WebSocketHandle handle = notes_.sockets.back()->handle();
  std::thread([&] {
    EXPECT_EQ(handle.send_text(std::string(30'000, 'x')), SendOutcome::sent);
    EXPECT_EQ(handle.close(CloseCode::normal, "no room"), SendOutcome::full);
  }).join();
  turn();
  std::thread([&] { EXPECT_EQ(handle.close(CloseCode::normal, "bye"), SendOutcome::sent); }).join();
  turn();
  EXPECT_EQ(frames(link), (Words{"text 30000 bytes", "close 1000"}));
  reactor_.reset();
  EXPECT_EQ(handle.close(CloseCode::normal, "late"), SendOutcome::closed);
}

TEST_F(WebSocketSessionTest, a_handle_on_its_own_thread_sends_at_once_until_its_session_is_gone) {
  std::optional<WebSocketHandle> first;
  SendOutcome to_first = SendOutcome::full;
  notes_.at_message = [&](WebSocket& socket, Bytes) {
    if (!first) first = socket.handle();
    to_first = first->send_text("hi");
  };
  const auto link = open();
  bytes(link, frame(ws::Opcode::text, "x"));
  turn();
  EXPECT_EQ(to_first, SendOutcome::sent);
  EXPECT_EQ(frames(link), Words{"text hi"});
  broken(link);
  turn();
  const auto other = open();
  bytes(other, frame(ws::Opcode::text, "x"));
  turn();
  EXPECT_EQ(to_first, SendOutcome::closed);
  notes_.at_message = [&](WebSocket& socket, Bytes) {
    EXPECT_EQ(first->close(CloseCode::normal, "gone"), SendOutcome::closed);
    EXPECT_EQ(socket.handle().close(CloseCode::normal, "bye"), SendOutcome::sent);
  };
  bytes(other, frame(ws::Opcode::text, "x"));
  turn();
  EXPECT_EQ(frames(other), Words{"close 1000"});
}

TEST_F(WebSocketSessionTest, scarce_memory_ends_a_message_that_is_not_whole) {
  const auto link = open();
  bytes(link, frame(ws::Opcode::text, std::string(900, 'x'), false));
  turn();
  EXPECT_GT(reactor().memory().used_by(Holder::message), 0u);
  EXPECT_EQ(protocol_.give_up_memory(), 0u);
  turn();
  EXPECT_EQ(reactor().memory().used_by(Holder::message), 0u);
  EXPECT_EQ(counts().memory_refusals, 1u);
  EXPECT_EQ(frames(link), Words{"close 1013"});
}

TEST_F(WebSocketSessionTest, scarce_memory_cuts_off_who_reads_too_slowly_what_others_share) {
  Topics topics;
  notes_.at_open = [&](WebSocket& socket) { (void)topics.subscribe(socket, "news"); };
  const auto slow = open();
  link_state(slow).kernel = net::Kernel::borrows;
  for (int count = 0; count < 2; ++count) {
    (void)topics.publish("news", std::string(3000, 'x'), MessageKind::text);
    turn();
  }
  const std::size_t queued = notes_.sockets.back()->queued_bytes();
  EXPECT_EQ(protocol_.give_up_memory(), queued) << "as much goes with it";
  turn();
  EXPECT_TRUE(link_state(slow).was_reset) << "a close frame would wait behind its output";
  EXPECT_EQ(counts().disconnects, 1u);
  expect_events({"open", "close 1006"});
  EXPECT_EQ(notes_.reason, "The client reads too slowly, and memory is scarce.");
}

TEST_F(WebSocketSessionTest, handles_survive_their_reactor) {
  (void)open();
  const WebSocketHandle handle = notes_.sockets.back()->handle();
  std::thread([&] { EXPECT_EQ(handle.send_text("never delivered"), SendOutcome::sent); }).join();
  reactor_.reset();
  EXPECT_EQ(handle.send_text("late"), SendOutcome::closed);
  expect_events({"open", "close 1006"});
}

TEST_F(WebSocketSessionTest, threads_that_send_while_connections_come_and_go_reach_only_their_own) {
  std::vector<WebSocketHandle> handles;
  notes_.at_open = [&](WebSocket& socket) { handles.push_back(socket.handle()); };
  for (int count = 0; count < 8; ++count) (void)open();
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&, thread] {
      while (!stop) {
        for (std::size_t at = static_cast<std::size_t>(thread); at < 8; at += 2) {
          (void)handles[at].send_text(std::to_string(at));
        }
      }
    });
  }
  for (int round = 0; round < 200; ++round) turn();
  for (std::uint32_t link = 0; link < 4; ++link) broken(link);
  for (int round = 0; round < 200; ++round) turn();
  stop = true;
  for (std::thread& each : threads) each.join();
  turn();
  for (std::uint32_t link = 0; link < 8; ++link) {
    for (const std::string& each : frames(link)) ASSERT_EQ(each, "text " + std::to_string(link));
  }
}

// ---- topics ------------------------------------------------------------------------------------

TEST_F(WebSocketSessionTest, what_is_published_reaches_every_subscriber_from_one_block) {
  Topics topics;
  notes_.at_open = [&](WebSocket& socket) { (void)topics.subscribe(socket, "news"); };
  const auto first = open();
  const auto second = open();
  EXPECT_EQ(topics.subscribe(*notes_.sockets[0], "news"), SubscribeOutcome::already);
  EXPECT_EQ(topics.subscribers("news"), 2u);
  EXPECT_EQ(topics.publish("news", "one", MessageKind::text).subscribers, 2u);
  std::thread([&] {
    EXPECT_EQ(topics.publish("news", "two", MessageKind::binary).subscribers, 2u);
    EXPECT_EQ(topics.publish("nothing", "x", MessageKind::text).subscribers, 0u);
  }).join();
  turn();
  for (const auto link : {first, second}) {
    EXPECT_EQ(frames(link), (Words{"text one", "binary two"}));
  }
  EXPECT_TRUE(topics.unsubscribe(*notes_.sockets[0], "news"));
  EXPECT_FALSE(topics.unsubscribe(*notes_.sockets[0], "news"));
  broken(second);
  turn();
  EXPECT_EQ(topics.subscribers("news"), 0u);
  EXPECT_EQ(topics.publish("news", "three", MessageKind::text).subscribers, 0u);
}

TEST_F(WebSocketSessionTest, text_that_is_not_utf8_is_published_to_no_subscriber) {
  Topics topics;
  notes_.at_open = [&](WebSocket& socket) { (void)topics.subscribe(socket, "news"); };
  const auto link = open();
  const TopicPublished refused = topics.publish("news", "caf\xc3", MessageKind::text);
  EXPECT_TRUE(refused.not_utf8);
  EXPECT_EQ(refused.subscribers, 0u);
  EXPECT_FALSE(topics.publish("news", "caf\xc3", MessageKind::binary).not_utf8);
  turn();
  EXPECT_EQ(frames(link), Words{"binary caf\xc3"});
}

TEST_F(WebSocketSessionTest, subscribers_that_go_leave_the_others_subscribed) {
  Topics topics;
  notes_.at_open = [&](WebSocket& socket) {
    EXPECT_EQ(topics.subscribe(socket, "a"), SubscribeOutcome::subscribed);
    EXPECT_EQ(topics.subscribe(socket, "b"), SubscribeOutcome::subscribed);
  };
  for (int count = 0; count < 6; ++count) (void)open();
  for (const std::uint32_t gone : {0u, 3u, 5u}) {
    broken(gone);
    turn();
  }
  EXPECT_EQ(topics.publish("a", "for a", MessageKind::text).subscribers, 3u);
  EXPECT_EQ(topics.publish("b", "for b", MessageKind::text).subscribers, 3u);
  turn();
  for (const std::uint32_t link : {1u, 2u, 4u}) {
    EXPECT_EQ(frames(link), (Words{"text for a", "text for b"}));
  }
}

TEST_F(WebSocketSessionTest, a_subscriber_that_reads_too_slowly_is_disconnected) {
  Topics topics;
  notes_.at_open = [&](WebSocket& socket) { (void)topics.subscribe(socket, "news"); };
  const auto slow = open();
  const auto fast = open();
  link_state(slow).kernel = net::Kernel::borrows;
  for (int count = 0; count < 5; ++count) {
    (void)topics.publish("news", std::string(3000, 'x'), MessageKind::text);
    turn();
  }
  EXPECT_EQ(counts().disconnects, 1u);
  EXPECT_EQ(frames(fast).size(), 5u);
  link_state(slow).kernel = net::Kernel::takes;
  complete(slow);
  turn();
  turn();
  EXPECT_EQ(frames(slow).back(), "close 1008");
}

TEST_F(WebSocketSessionTest, what_slow_subscribers_keep_is_charged_once_and_given_back) {
  Topics topics;
  notes_.at_open = [&](WebSocket& socket) { (void)topics.subscribe(socket, "news"); };
  const HeldMemory& memory = reactor().memory();
  const auto slow = open();
  const auto other = open();
  (void)open();  // takes everything
  for (const auto link : {slow, other}) link_state(link).kernel = net::Kernel::borrows;
  for (int count = 0; count < 2; ++count) {
    (void)topics.publish("news", std::string(3000, 'x'), MessageKind::text);
    turn();
  }
  EXPECT_GE(memory.used_by(Holder::queue), 2 * 3000u);
  EXPECT_LE(memory.used_by(Holder::queue), 2 * 4096u);
  broken(slow);
  turn();
  EXPECT_GE(memory.used_by(Holder::queue), 2 * 3000u);
  broken(other);
  turn();
  EXPECT_EQ(memory.used(), 0u);
}

TEST_F(WebSocketSessionTest, a_subscription_beyond_the_limit_is_refused_to_the_handler) {
  Topics topics;
  (void)open();
  WebSocket& socket = *notes_.sockets[0];
  for (int count = 0; count < 4; ++count) {
    ASSERT_EQ(topics.subscribe(socket, std::to_string(count)), SubscribeOutcome::subscribed);
  }
  EXPECT_EQ(topics.subscribe(socket, "more"), SubscribeOutcome::full);
  EXPECT_EQ(topics.subscribe(socket, "3"), SubscribeOutcome::already);
  EXPECT_EQ(topics.statistics().names, 4u) << "nothing is kept for who is refused";
  EXPECT_EQ(topics.publish("more", "x", MessageKind::text).subscribers, 0u);
  EXPECT_TRUE(topics.unsubscribe(socket, "0"));
  EXPECT_EQ(topics.subscribe(socket, "more"), SubscribeOutcome::subscribed);
  EXPECT_TRUE(link_state(0).open);
}

TEST_F(WebSocketSessionTest, a_new_topic_examines_a_few_names_however_many_there_are) {
  Topics topics;
  std::vector<std::uint32_t> links;
  for (int connection = 0; connection < 100; ++connection) {
    links.push_back(open());
    for (int count = 0; count < 4; ++count) {
      ASSERT_EQ(topics.subscribe(*notes_.sockets.back(), std::to_string(connection * 4 + count)),
                SubscribeOutcome::subscribed);
    }
  }
  EXPECT_LE(topics.statistics().examined, 3 * 400u);
  for (const std::uint32_t link : links) broken(link);
  turn();
  // One connection changes from topic to topic, as clients that choose the names can make it do.
  (void)open();
  for (int count = 0; count < 10'000; ++count) {
    const std::string name = "passing " + std::to_string(count);
    ASSERT_EQ(topics.subscribe(*notes_.sockets.back(), name), SubscribeOutcome::subscribed);
    ASSERT_TRUE(topics.unsubscribe(*notes_.sockets.back(), name));
  }
  EXPECT_LE(topics.statistics().names, 10u);
  EXPECT_LE(topics.statistics().examined, 3 * 10'400u);
}

class Dropping : public WebSocketSessionTest {
 protected:
  static WebSocketOptions options() {
    WebSocketOptions options = small();
    options.slow_peer = SlowPeer::drop;
    return options;
  }
  Dropping() : WebSocketSessionTest(options()) {}
};

TEST_F(Dropping, a_subscriber_that_reads_too_slowly_misses_messages_which_are_counted) {
  Topics topics;
  notes_.at_open = [&](WebSocket& socket) { (void)topics.subscribe(socket, "news"); };
  const auto slow = open();
  link_state(slow).kernel = net::Kernel::borrows;
  for (int count = 0; count < 5; ++count) {
    (void)topics.publish("news", std::string(3000, 'x'), MessageKind::text);
    turn();
  }
  EXPECT_EQ(counts().dropped, 3u);
  link_state(slow).kernel = net::Kernel::takes;
  complete(slow);
  turn();
  turn();
  EXPECT_EQ(frames(slow).size(), 2u);
  EXPECT_TRUE(link_state(slow).open);
}

TEST(WebSocketMemory, a_connection_needs_no_more_than_an_http_one_and_its_handler) {
  EXPECT_LE(sizeof(WebSocketConnection), 240u);
}

}  // namespace
}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
