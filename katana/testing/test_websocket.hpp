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
// Owns       its side of the connection, and what it received. Destroyed while open, it resets it.
// Borrows    its server. When that ends the socket is closed, and may still be asked.
// Thread     one: that of its server.
// Allocates  freely: a test's tool.
// Fails      receive() and wait_for_close() with an Error that says what came instead; commands are
//            false when nothing may be sent any more.
// Invariant  what the server sends is judged as a client must (RFC 6455): a server that breaks a
//            rule is a close with `problem`. Pings are answered whenever time passes, and the close
//            frame is, too.
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

// What the handshake of a client offers.
struct TestSocketOptions {
  TestFields fields = {};                      // of the handshake, such as Origin or Cookie
  std::vector<std::string> subprotocols = {};  // that the client offers, the preferred one first
  bool compression = false;                    // offers permessage-deflate (RFC 7692)
  bool answers_pings = true;                   // false: a client that is dead
};

// A message of the server's.
struct TestMessage {
  std::string content = {};  // put together of its frames
  bool is_text = false;      // false: binary
};

// How a connection ended.
struct TestClose {
  std::uint16_t code = 1006;  // 1005: the close frame had none; 1006: there was no close frame
  std::string reason = {};    // of the close frame; empty: none
  std::string problem = {};   // of the connection or of what the server sent; empty: none
};

// A frame as it stands, right or wrong.
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

  // The handshake succeeded, and neither side has closed.
  bool is_open() const noexcept;
  // 101, or 200 over HTTP/2; or the refusal; or why no reply came.
  const TestReply& handshake() const noexcept;
  std::string_view subprotocol() const noexcept;  // empty: none was agreed on
  bool is_compressed() const noexcept;            // permessage-deflate was agreed on

  // Each is false when it could not be sent.
  bool send(std::string_view text);
  bool send_binary(std::string_view bytes);
  // A message in fragments: all but the last have `last` false.
  bool send_part(std::string_view text, bool last);
  bool ping(std::string_view payload = {});
  bool close(std::uint16_t code = 1000, std::string_view reason = {});
  bool send_frame(const TestFrame& frame);
  // Bytes that need be no frame.
  bool send_bytes(std::string_view bytes);

  // The oldest message that was not taken; waits for it. The limit of none is reply_timeout of
  // TestOptions.
  Result<TestMessage> receive(Duration limit = {});
  // Messages that are here.
  std::size_t waiting() const noexcept;
  Result<TestClose> wait_for_close(Duration limit = {});
  bool wait_for_pong(Duration limit = {});
  std::size_t pings() const noexcept;  // that the server sent
  std::size_t pongs() const noexcept;

  // As in PendingReply.
  void pause_reading();
  void resume_reading();
  void reset();
  void half_close();
  // For the message of a test that failed.
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
