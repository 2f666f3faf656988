// PendingReply: a request of a test that is under way, and what has come of its reply.
//
//   testing::PendingReply upload = server.begin_pieces("POST", "/files");
//   upload.send_some("the first half");
//   EXPECT_EQ(upload.status(), 200u);        // the handler has begun to answer
//   upload.reset();                          // the client leaves
//
// Owns       a share of what came; its copies have the others. Dropping it does not end the
//            request.
// Borrows    its server, while the request is under way.
// Thread     one: that of its server.
// Allocates  freely: a test's tool.
// Fails      by the reply's problem().
// Invariant  once the request is done, or its server has ended, what would change it does nothing
//            and is false.
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
  // Until `done`, or so much virtual time has passed; zero: TestOptions::reply_timeout.
  virtual void wait(const std::function<bool()>& done, Duration limit) = 0;
  // Until `done`, or nothing is under way on the network.
  virtual void run_network(const std::function<bool()>& done) = 0;
  // Why a reply did not come in time.
  virtual std::string no_reply() const = 0;

 protected:
  ~ClientLoop() = default;
};

struct PendingState : ClientExchange {
  ClientLoop* loop = nullptr;  // while it is under way
  std::uint64_t seed = 0;
};

}  // namespace detail

class PendingReply {
 public:
  // The reply is complete, or the connection has ended.
  bool is_done() const noexcept;
  // Lets time pass until the reply has come, or the timeout of TestOptions.
  TestReply reply();

  // ---- what has come of a reply that is not complete ----
  unsigned status() const noexcept;  // 0: no head
  // None: no such field, or no head yet.
  std::optional<std::string_view> header(std::string_view name) const noexcept;
  // Valid until time passes.
  std::string_view content_so_far() const noexcept;
  // Takes it away: neither content_so_far() nor reply() has it again.
  std::string take_content();
  // 100 (Continue), 103 (Early Hints) and the like, in order.
  const std::vector<TestReply>& interim_replies() const noexcept;
  // Let time pass until it has come. False: it did not within the timeout of TestOptions, or the
  // request is done without it.
  bool wait_for_head();
  bool wait_for_content(std::size_t bytes);
  bool wait_for_interim_reply();

  // ---- content of a request that begin_pieces() began ----
  bool send_some(std::string_view piece);
  bool finish();

  // ---- a client that is slow, or leaves ----
  // The client takes nothing more of the reply: the server's windows and buffers fill.
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
  // Until it does, the request is done, or the limit (TestOptions::reply_timeout, if it is zero).
  bool wait_for(const std::function<bool()>& holds, Duration limit);
  void run();  // what is on the network arrives
  std::shared_ptr<detail::PendingState> state_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
