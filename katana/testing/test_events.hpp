// TestEvents: a reader of server-sent events (HTML §9.2.6) of a TestServer, in virtual time.
//
//   testing::TestEvents events = server.events("/prices");
//   EXPECT_EQ(events.status(), 200u) << events.describe();
//   prices.publish({.data = "3", .name = "tea"});
//   EXPECT_EQ(events.next()->data, "3");
//   server.advance(seconds(60));
//   EXPECT_EQ(events.comments(), 4u);        // heartbeats
//
// To come again as a browser does, open another with {"Last-Event-ID", events.last_event_id()}.
//
// Owns       what it received. Destroyed while the stream goes on, it leaves: a reset.
// Borrows    its server. When that ends the stream has ended.
// Thread     one: that of its server.
// Allocates  freely: a test's tool.
// Fails      next() with an Error that says what came instead.
// Invariant  events come in the order of the stream; what is not complete when it ends is dropped,
//            as browsers do.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "katana/base/system/result.hpp"
#include "katana/testing/pending_reply.hpp"
#include "katana/testing/test_reply.hpp"

namespace katana::testing {

// An event as a client reads it.
struct TestEvent {
  std::string id = {};    // the last that the stream gave, as browsers report it
  std::string name = {};  // "message" where the stream gives none
  std::string data = {};
};

class TestEvents {
 public:
  TestEvents(TestEvents&&) noexcept;
  TestEvents& operator=(TestEvents&&) noexcept;
  ~TestEvents();

  unsigned status() const noexcept;  // 0: no head came
  // A header of the reply, ignoring case; empty: it has none.
  std::optional<std::string_view> header(std::string_view name) const noexcept;
  // A reply that is no stream of events, such as a refusal: waits for all of it.
  TestReply reply();

  // The oldest event that was not taken; waits for it. The limit of none is reply_timeout of
  // TestOptions.
  Result<TestEvent> next(Duration limit = {});
  std::size_t waiting();               // events that are here
  std::size_t comments();              // so far; heartbeats are comments
  std::optional<Duration> retry();     // that the stream gave last
  const std::string& last_event_id();  // empty: none
  bool is_over() const noexcept;       // the stream has ended, or broke off
  bool wait_for_end(Duration limit = {});
  void pause_reading();
  void resume_reading();
  void reset();  // leaves
  // For the message of a test that failed.
  std::string describe();

 private:
  friend class TestServer;
  struct Inner;
  explicit TestEvents(PendingReply pending);
  std::unique_ptr<Inner> inner_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
