// PendingReply: a request of a test in progress, and the received part of its reply.
//
//   testing::PendingReply upload = server.begin_pieces("POST", "/files");
//   upload.send_some("the first half");
//   EXPECT_EQ(upload.status(), 200u);        // the handler has begun to answer
//   upload.reset();                          // the client leaves
//
// Owns       a share of the received bytes; its copies have the others. Dropping it does not end
//            the request.
// Borrows    its server, while the request is in progress.
// Thread     one: that of its server.
// Allocates  freely: a test's tool.
// Fails      by the reply's problem().
// Invariant  once the request is done, or its server has ended, functions that change it do nothing
//            and return false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/testing/client_exchange.hpp"
#include "katana/testing/test_reply.hpp"

namespace katana::testing {

namespace detail {

// Lets time pass.
class ClientLoop {
 public:
  // Waits until `done`, or so much virtual time has passed; zero: TestOptions::reply_timeout.
  virtual void wait(const std::function<bool()>& done, Duration limit) = 0;
  // Waits until `done`, or until nothing is in transit on the network.
  virtual void run_network(const std::function<bool()>& done) = 0;
  // The reason why a reply did not arrive in time.
  virtual std::string no_reply() const = 0;

 protected:
  ~ClientLoop() = default;
};

struct PendingState : ClientExchange {
  ClientLoop* loop = nullptr;  // while it is in progress
  std::uint64_t seed = 0;
};

}  // namespace detail

class PendingReply {
 public:
  // The reply is complete, or the connection has ended.
  bool is_done() const noexcept;
  // Lets time pass until the reply has arrived, or until the timeout of TestOptions.
  TestReply reply();

  // ---- the received part of an incomplete reply ----
  unsigned status() const noexcept;  // 0: no head
  // None: no such field, or no head yet.
  std::optional<std::string_view> header(std::string_view name) const noexcept;
  // Valid until time passes.
  std::string_view content_so_far() const noexcept;
  // Removes the content: neither content_so_far() nor reply() returns it again.
  std::string take_content();
  // 100 (Continue), 103 (Early Hints) and the like, in order.
  const std::vector<TestReply>& interim_replies() const noexcept;
  // Let time pass until the head, the content or the interim reply has arrived. False: it did not
  // within the timeout of TestOptions, or the request is done without it.
  bool wait_for_head();
  bool wait_for_content(std::size_t bytes);
  bool wait_for_interim_reply();

  // ---- body of a request of begin_pieces() ----
  bool send_some(std::string_view piece);
  bool finish();

  // ---- a client that is slow, or leaves ----
  // The client takes no more of the reply: the server's windows and buffers fill.
  void pause_reading();
  void resume_reading();
  // The client resets the connection; over HTTP/2 the stream alone.
  void reset();
  // The client sends no more on the connection, and still receives.
  void half_close();

 private:
  friend class TestServer;
  friend class TestWebSocket;
  friend class TestEvents;
  explicit PendingReply(std::shared_ptr<detail::PendingState> state) : state_(std::move(state)) {}
  // Waits until `holds()`, until the request is done, or until the limit
  // (TestOptions::reply_timeout, if it is zero).
  bool wait_for(const std::function<bool()>& holds, Duration limit);
  void run();  // delivers data on the network
  std::shared_ptr<detail::PendingState> state_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
