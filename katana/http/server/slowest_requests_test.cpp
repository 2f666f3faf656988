#include "katana/http/server/slowest_requests.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "katana/base/coroutine/activity.hpp"

namespace katana::server {
namespace {

void end_after(SlowestRequests& slowest, Duration duration, unsigned status = 200) {
  session::ExchangeRecord record;
  record.method = "GET";
  record.status = status;
  record.duration = duration;
  slowest.on_end(record);
}

TEST(SlowestRequests, the_slowest_come_first_with_their_ids) {
  SlowestRequests slowest;
  Activity activity;
  activity.name = "request-7";
  activity.trace = "trace-7";
  const Activity* const before = std::exchange(current_activity, &activity);
  end_after(slowest, milliseconds(20));
  current_activity = before;
  end_after(slowest, milliseconds(50), 503);
  const auto entries = slowest.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].duration, milliseconds(50));
  EXPECT_EQ(entries[0].status, 503u);
  EXPECT_EQ(entries[0].request_id, "");
  EXPECT_EQ(entries[1].request_id, "request-7");
  EXPECT_EQ(entries[1].trace_id, "trace-7");
  EXPECT_GT(entries[1].at_ms, 1'600'000'000'000);
}

TEST(SlowestRequests, requests_that_are_fast_are_not_kept) {
  SlowestRequests slowest;
  end_after(slowest, SlowestRequests::least);
  EXPECT_TRUE(slowest.entries().empty());
}

TEST(SlowestRequests, of_many_only_the_slowest_stay) {
  SlowestRequests slowest;
  for (int each = 2; each <= 100; ++each) end_after(slowest, milliseconds(each));
  end_after(slowest, milliseconds(80));  // is faster than all that are kept
  const auto entries = slowest.entries();
  ASSERT_EQ(entries.size(), SlowestRequests::kept_max);
  EXPECT_EQ(entries.front().duration, milliseconds(100));
  EXPECT_EQ(entries.back().duration, milliseconds(81));
}

TEST(SlowestRequests, a_window_that_begins_keeps_faster_ones_too) {
  SlowestRequests slowest;
  for (int each = 0; each < 30; ++each) end_after(slowest, seconds(1));
  slowest.next_window();
  end_after(slowest, milliseconds(5));
  for (std::size_t each = 0; each + 1 < SlowestRequests::windows_max; ++each) {
    slowest.next_window();
  }
  // The first window has gone, and the second has not.
  const auto entries = slowest.entries();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].duration, milliseconds(5));
  slowest.next_window();
  EXPECT_TRUE(slowest.entries().empty());
}

TEST(SlowestRequests, a_stream_of_events_is_not_a_slow_request) {
  SlowestRequests slowest;
  session::ExchangeRecord record;
  record.duration = seconds(100);
  record.kind = session::ExchangeKind::events;
  slowest.on_end(record);
  EXPECT_TRUE(slowest.entries().empty());
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
