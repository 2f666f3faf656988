// State that WebSocket connections share: blocks of output, observers of failures and ends, and
// ids of their requests.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "katana/http/session/websocket_connection.hpp"
#include "katana/http/session/websocket_session.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::session {
namespace {

struct KeptFailures final : FailureObserver {
  void on_failure(const Failure& failure) noexcept override { places.emplace_back(failure.place); }
  std::vector<std::string> places;
};

struct CountedEnds final : ExchangeObserver {
  void on_exchange_end(Exchange&, const ExchangeRecord&) noexcept override {}
  void on_websocket_end(Duration) noexcept override { ++ends; }
  int ends = 0;
};

class ThrowingHandler final : public WebSocketHandler {
 public:
  explicit ThrowingHandler(std::vector<WebSocket*>& sockets) : sockets_(sockets) {}
  void on_open(WebSocket& socket) override { sockets_.push_back(&socket); }
  void on_message(WebSocket&, Bytes, MessageKind) override { throw std::runtime_error("x"); }

 private:
  std::vector<WebSocket*>& sockets_;
};

class SharingProtocol final : public net::Protocol {
 public:
  explicit SharingProtocol(const WebSocketOptions& options) : share(options, counters, &ends) {}
  std::size_t session_bytes() const noexcept override { return sizeof(WebSocketConnection); }
  net::Session* open(void* memory, net::Connection& connection) noexcept override {
    return WebSocketReplacement(share, {}, std::make_unique<ThrowingHandler>(sockets))
        .open(memory, connection);
  }
  std::vector<WebSocket*> sockets;
  CountedEnds ends;
  WebSocketCounters counters;
  WebSocketShare share;
};

// A block that several connections send; the number of those that still need it.
struct SharedBlock final : Retained {
  SharedBlock() : Retained([](Retained&) noexcept {}) {}
};

class WebSocketSharing : public net::ReactorTest {
 protected:
  WebSocketSharing() { EXPECT_TRUE(reactor().listen({}, protocol_)); }
  ~WebSocketSharing() override { reactor_.reset(); }
  WebSocketOptions options() {
    WebSocketOptions options;
    options.queue_bytes_max = 8000;
    options.failures = &failures_;
    return options;
  }
  WebSocket& open() {
    accept(1);
    return *protocol_.sockets.back();
  }

  KeptFailures failures_;
  SharedBlock block_;
  SharingProtocol protocol_{options()};
};

TEST_F(WebSocketSharing, a_shared_block_is_taken_while_the_queue_has_room_for_it) {
  WebSocket& socket = open();
  link_state(0).kernel = net::Kernel::borrows;
  const std::string text(3000, 'x');
  EXPECT_EQ(socket.send_shared(text, block_, MessageKind::text), SendOutcome::sent);
  turn();
  EXPECT_EQ(socket.send_shared(text, block_, MessageKind::text), SendOutcome::sent);
  EXPECT_EQ(socket.send_shared(text, block_, MessageKind::text), SendOutcome::full);
  EXPECT_EQ(protocol_.counters.messages_sent, 2u);
  link_state(0).kernel = net::Kernel::takes;
  complete(0);
  turn();
  turn();
  EXPECT_EQ(socket.send_shared(text, block_, MessageKind::text), SendOutcome::sent);
  socket.close(CloseCode::normal, "");
  EXPECT_EQ(socket.send_shared(text, block_, MessageKind::text), SendOutcome::closed);
  turn();
}

TEST_F(WebSocketSharing, a_failure_of_a_handler_without_a_request_is_told_and_its_end_is_not) {
  (void)open();
  bytes(0, std::string("\x81\x81\0\0\0\0a", 7));  // a text of one byte, with a mask of zero
  turn();
  EXPECT_EQ(failures_.places, std::vector<std::string>{"WebSocket"});
  broken(0);
  turn();
  EXPECT_EQ(protocol_.counters.closed, 1u);
  EXPECT_EQ(protocol_.ends.ends, 0) << "no request says when it began";
}

TEST(UpgradeRequestIds, are_copied_and_cut_at_255_bytes) {
  const auto request = UpgradeRequest::make("chat", nullptr, "request", "trace", Instant{7});
  EXPECT_EQ(request->subprotocol(), "chat");
  EXPECT_EQ(request->request_id(), "request");
  EXPECT_EQ(request->trace_id(), "trace");
  EXPECT_EQ(request->time(), Instant{7});
  const std::string longest(255, 'r'), longer(300, 't');
  const auto cut = UpgradeRequest::make("", nullptr, longest, longer, Instant{});
  EXPECT_EQ(cut->request_id(), longest);
  EXPECT_EQ(cut->trace_id(), longer.substr(0, 255));
}

}  // namespace
}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
