// Shares of a request's state, and the state that an exchange leaves to continuing work.
#include "katana/http/session/request_state.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "katana/http/session/exchange_core.hpp"
#include "katana/net/reactor/client_limits.hpp"

namespace katana::session {
namespace {

struct Kept final : RequestState {
  explicit Kept(int& given) : alive(given) { ++alive; }
  ~Kept() override { --alive; }
  std::size_t held_bytes() const noexcept override { return 1'000; }
  void on_exchange_end(const RequestShare& self) noexcept override {
    ++ends;
    if (goes_on) taken = self;
  }
  bool keep_places() noexcept override { return has_places; }

  int& alive;
  int ends = 0;
  bool goes_on = false;  // it has work left
  bool has_places = false;
  RequestShare taken;
};

class RequestStateTest : public ::testing::Test {
 protected:
  RequestStateTest() {
    slot_ =
        limits_.admit(engine::PeerEndpoint::of(*IpAddress::parse("192.0.2.1"), 1), false, {}).slot;
  }
  net::ClientPlace place() { return *limits_.begin_request(slot_); }

  HeldMemory memory_{1024 * 1024};
  net::ClientLimits limits_{{.requests_max = 4}, 1};
  net::ClientLimits::Slot slot_ = 0;
  http2::StreamPlaces streams_;
  int alive_ = 0;
};

TEST_F(RequestStateTest, lives_as_long_as_the_last_share) {
  RequestShare first(new Kept(alive_));
  EXPECT_FALSE(first.is_shared());
  {
    const RequestShare second = first;
    EXPECT_TRUE(first.is_shared());
    first.reset();
    EXPECT_EQ(alive_, 1);
  }
  EXPECT_EQ(alive_, 0);
  EXPECT_FALSE(RequestShare());
}

TEST_F(RequestStateTest, an_exchange_that_ends_leaves_its_places_to_the_work_that_goes_on) {
  ExchangeCore core;
  core.state = RequestShare(new Kept(alive_));
  RequestShare work = core.state;
  EXPECT_TRUE(core.stop_work(memory_));
  core.leave(memory_, {.client = place(), .stream = streams_.take()});
  EXPECT_FALSE(core.state);
  EXPECT_EQ(limits_.requests(), 1u);
  EXPECT_EQ(streams_.taken(), 1u);
  EXPECT_EQ(memory_.used_by(Holder::work), 1'000u) << "of what it keeps";
  work.reset();
  EXPECT_EQ(limits_.requests(), 0u);
  EXPECT_EQ(streams_.taken(), 0u);
  EXPECT_EQ(memory_.used(), 0u);
}

TEST_F(RequestStateTest, without_work_that_goes_on_all_ends_with_the_exchange) {
  ExchangeCore core;
  core.state = RequestShare(new Kept(alive_));
  EXPECT_FALSE(core.stop_work(memory_));
  core.leave(memory_, {.client = place(), .stream = streams_.take()});
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(limits_.requests(), 0u);
  EXPECT_EQ(streams_.taken(), 0u);
  EXPECT_EQ(memory_.used(), 0u);
}

TEST_F(RequestStateTest, a_state_that_has_something_left_to_do_keeps_the_request_counted) {
  ExchangeCore core;
  auto* const kept = new Kept(alive_);
  kept->goes_on = true;
  core.state = RequestShare(kept);
  EXPECT_TRUE(core.stop_work(memory_));
  core.leave(memory_, {.client = place()});
  EXPECT_EQ(kept->ends, 1);
  EXPECT_EQ(limits_.requests(), 1u);
  RequestShare last = std::move(kept->taken);
  last.reset();
  EXPECT_EQ(limits_.requests(), 0u);
  EXPECT_EQ(alive_, 0);
}

TEST_F(RequestStateTest, what_an_exchange_becomes_has_its_places_and_nothing_else) {
  for (const bool has_places : {false, true}) {
    ExchangeCore core;
    auto* const kept = new Kept(alive_);
    kept->has_places = has_places;
    core.state = RequestShare(kept);
    EXPECT_EQ(static_cast<bool>(core.take_places()), has_places);
    core.end(memory_);
    EXPECT_EQ(alive_, 0);
  }
  ExchangeCore counted;
  counted.state = RequestShare(new RequestState);
  counted.state->places.client = place();
  const RequestShare socket = counted.take_places();
  EXPECT_TRUE(socket);
  counted.end(memory_);
  EXPECT_EQ(limits_.requests(), 1u);
}

TEST_F(RequestStateTest, a_grace_shortens_the_exchange_and_not_the_work) {
  ExchangeCore core;
  core.state = RequestShare(new Kept(alive_));
  core.handler_deadline = Instant{seconds(30).ns};
  core.give_grace(Instant{seconds(1).ns}, core.handler_deadline);
  EXPECT_EQ(core.handler_deadline, Instant{seconds(1).ns});
  EXPECT_EQ(core.state->due, Instant{seconds(30).ns});
  core.give_grace(Instant{seconds(2).ns}, core.handler_deadline);
  EXPECT_EQ(core.state->due, Instant{seconds(30).ns}) << "the first says it";
}

}  // namespace
}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
