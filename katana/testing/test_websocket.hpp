// TestWebSocket: a WebSocket client of a TestServer, in virtual time.
//
//   testing::TestWebSocket socket = server.websocket("/chat", {.subprotocols = {"chat.v1"}});
//   EXPECT_TRUE(socket.is_open()) << socket.handshake();   // a refusal is a reply, with its status
//   socket.send("hello");
//   EXPECT_EQ(socket.receive()->content, "hello");
//   socket.close();
//   EXPECT_EQ(socket.wait_for_close()->code, 1000);
//
// Over HTTP/1.1 it has its own connection, with TestProtocol::http2 a stream (RFC 8441).
//
// Owns       its side of the connection, and its received messages. Destroyed while open, it resets
//            the connection.
// Borrows    its server. When the server ends the socket is closed; its functions can still be
//            called.
// Thread     one: that of its server.
// Allocates  freely: a test's tool.
// Fails      receive() and wait_for_close() with an Error that describes the actual outcome.
//            Commands return false when nothing may be sent any more.
// Invariant  the server's output is checked as a client must (RFC 6455): a broken rule is a close
//            with `problem`. Pings and close frames are answered whenever time passes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/testing/pending_reply.hpp"
#include "katana/testing/test_reply.hpp"

namespace katana::testing {

// The offer of a client's handshake.
struct TestSocketOptions {
  TestFields fields = {};                      // of the handshake, such as Origin or Cookie
  std::vector<std::string> subprotocols = {};  // offered by the client, the preferred one first
  bool compression = false;                    // offers permessage-deflate (RFC 7692)
  bool answers_pings = true;                   // false: like a dead client
};

// A message of the server.
struct TestMessage {
  std::string content = {};  // joined from its frames
  bool is_text = false;      // false: binary
};

// How a connection ended.
struct TestClose {
  std::uint16_t code = 1006;  // 1005: the close frame had none; 1006: there was no close frame
  std::string reason = {};    // of the close frame; empty: none
  std::string problem = {};   // of the connection or of the server's output; empty: none
};

// A frame, valid or not.
struct TestFrame {
  unsigned opcode = 1;            // RFC 6455 §5.2; 1: text
  std::string_view payload = {};  // before masking; borrowed
  bool last = true;               // FIN
  bool masked = true;             // false: a fault of a client
  bool compressed = false;        // RSV1
};

class TestWebSocket {
 public:
  TestWebSocket(TestWebSocket&&) noexcept;
  TestWebSocket& operator=(TestWebSocket&&) noexcept;
  ~TestWebSocket();

  // Whether the handshake succeeded and neither side has closed.
  bool is_open() const noexcept;
  // 101, or 200 over HTTP/2; or the refusal; or the reason why no reply arrived.
  const TestReply& handshake() const noexcept;
  std::string_view subprotocol() const noexcept;  // empty: none was agreed on
  bool is_compressed() const noexcept;            // permessage-deflate was agreed on

  // Each returns false when it could not send.
  bool send(std::string_view text);
  bool send_binary(std::string_view bytes);
  // A message in fragments: all but the last have `last` false.
  bool send_part(std::string_view text, bool last);
  bool ping(std::string_view payload = {});
  bool close(std::uint16_t code = 1000, std::string_view reason = {});
  bool send_frame(const TestFrame& frame);
  // Bytes that need not be a frame.
  bool send_bytes(std::string_view bytes);

  // Waits for the oldest message that was not taken. The default limit is reply_timeout of
  // TestOptions.
  Result<TestMessage> receive(Duration limit = {});
  // The number of messages that can be taken now.
  std::size_t waiting() const noexcept;
  Result<TestClose> wait_for_close(Duration limit = {});
  bool wait_for_pong(Duration limit = {});
  std::size_t pings() const noexcept;  // sent by the server
  std::size_t pongs() const noexcept;

  // As in PendingReply.
  void pause_reading();
  void resume_reading();
  void reset();
  void half_close();
  // For the message of a failed test.
  std::string describe() const;

 private:
  friend class TestServer;
  struct Inner;
  static TestFields handshake_fields(const TestSocketOptions& options);
  TestWebSocket(PendingReply pending, const TestSocketOptions& options);
  std::unique_ptr<Inner> inner_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
