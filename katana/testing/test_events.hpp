// TestEvents: a reader of server-sent events (HTML §9.2.6) of a TestServer, in virtual time.
//
//   testing::TestEvents events = server.events("/prices");
//   EXPECT_EQ(events.status(), 200u) << events.describe();
//   prices.publish({.data = "3", .name = "tea"});
//   EXPECT_EQ(events.next()->data, "3");
//   server.advance(seconds(60));
//   EXPECT_EQ(events.comments(), 4u);        // heartbeats
//
// To reconnect like a browser, open another one with {"Last-Event-ID", events.last_event_id()}.
//
// Owns       its received events. Destroyed while the stream goes on, it resets the stream.
// Borrows    its server. When the server ends, the stream has ended.
// Thread     one: that of its server.
// Allocates  freely: a test's tool.
// Fails      next() with an Error that describes the actual outcome.
// Invariant  events come in the order of the stream; an incomplete event at its end is dropped, as
//            browsers do.
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

// An event, as a client reads it.
struct TestEvent {
  std::string id = {};    // the stream's last id so far, as browsers report it
  std::string name = {};  // "message" if the stream gives none
  std::string data = {};
};

class TestEvents {
 public:
  TestEvents(TestEvents&&) noexcept;
  TestEvents& operator=(TestEvents&&) noexcept;
  ~TestEvents();

  unsigned status() const noexcept;  // 0: no head came
  // A header of the reply, ignoring case; empty: no such header.
  std::optional<std::string_view> header(std::string_view name) const noexcept;
  // Waits for a whole reply that is no stream of events, such as a refusal.
  TestReply reply();

  // Waits for the oldest event that was not taken. The default limit is reply_timeout of
  // TestOptions.
  Result<TestEvent> next(Duration limit = {});
  std::size_t waiting();               // events that can be taken now
  std::size_t comments();              // so far; heartbeats are comments
  std::optional<Duration> retry();     // the last one of the stream
  const std::string& last_event_id();  // empty: no event had one
  bool is_over() const noexcept;       // the stream has ended, or broke off
  bool wait_for_end(Duration limit = {});
  void pause_reading();
  void resume_reading();
  void reset();  // resets the connection
  // For the message of a failed test.
  std::string describe();

 private:
  friend class TestServer;
  struct Inner;
  explicit TestEvents(PendingReply pending);
  std::unique_ptr<Inner> inner_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
