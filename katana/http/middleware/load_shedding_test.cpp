// The share of requests that pass, for a reactor with simulated time: a queue that is served one
// request after another.
#include "katana/http/middleware/load_shedding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana {
namespace {

constexpr Duration work = microseconds(100);     // of a request that passes
constexpr Duration refusal = microseconds(5);    // of a refused one
constexpr Duration patience = milliseconds(50);  // of its client

struct Outcome {
  double good = 0;  // answered in time, as a share of what a reactor can answer
  double refused = 0;
  double late = 0;  // answered, when no client waits any more
};

// `load`: requests, as a multiple of what the reactor can answer.
Outcome run(double load, bool sheds, Duration length = seconds(5)) {
  Instant now{seconds(1).ns};
  const Instant begin = now;
  detail::SheddingControl control(0.95, milliseconds(50), now);
  const Duration between{static_cast<std::int64_t>(static_cast<double>(work.ns) / load)};
  Instant next = now;
  std::deque<Instant> queue;
  Outcome of;
  int counted = 0;
  while (now < begin + length) {
    if (next > now && queue.empty()) now = next;  // it waits
    const Instant turn_began = now;
    for (; next <= now; next = next + between) queue.push_back(next);
    for (std::size_t left = std::min<std::size_t>(queue.size(), 64); left > 0; --left) {
      const Instant came = queue.front();
      queue.pop_front();
      const bool passes = !sheds || control.admit(turn_began, now);
      now = now + (passes ? work : refusal);
      if (now < begin + seconds(2)) continue;  // it has settled by then
      ++counted;
      if (!passes) {
        ++of.refused;
      } else {
        ++(now - came <= patience ? of.good : of.late);
      }
    }
    control.end_turn(now);
  }
  const auto possible =
      static_cast<double>(length.ns - seconds(2).ns) / static_cast<double>(work.ns);
  of.good /= possible;
  of.refused /= counted;
  of.late /= counted;
  return of;
}

TEST(LoadShedding, at_twice_the_capacity_most_of_it_is_still_answered_in_time) {
  const Outcome without = run(2, false);
  EXPECT_LT(without.good, 0.01) << "the queue grows for ever";
  const Outcome with = run(2, true);
  EXPECT_GT(with.good, 0.85);
  EXPECT_LT(with.late, 0.02);
  EXPECT_GT(run(5, true).good, 0.7);
}

TEST(LoadShedding, below_the_limit_nothing_is_refused) {
  for (const double load : {0.1, 0.5, 0.9}) EXPECT_EQ(run(load, true).refused, 0) << load;
}

TEST(LoadShedding, everything_passes_again_when_the_load_has_gone) {
  Instant now{seconds(1).ns};
  detail::SheddingControl control(0.95, milliseconds(50), now);
  for (int turn = 0; turn < 2'000; ++turn) {  // without a break
    (void)control.admit(now, now + work);
    now = now + milliseconds(1);
    control.end_turn(now);
  }
  EXPECT_LT(control.admitted(), 0.2);
  for (int turn = 0; turn < 2'000; ++turn) {
    (void)control.admit(now, now + work);
    control.end_turn(now + work);
    now = now + milliseconds(1);
  }
  EXPECT_EQ(control.admitted(), 1);
}

TEST(LoadShedding, a_limit_that_is_raised_while_it_serves_lets_everything_pass_again) {
  Instant now{seconds(1).ns};
  detail::SheddingControl control(0.5, milliseconds(50), now);
  const auto serve = [&] {
    for (int turn = 0; turn < 2'000; ++turn) {  // busy for four fifths of the time
      (void)control.admit(now, now);
      control.end_turn(now + microseconds(800));
      now = now + milliseconds(1);
    }
  };
  serve();
  EXPECT_LT(control.admitted(), 0.9);
  control.set_utilisation_max(0.95);
  serve();
  EXPECT_EQ(control.admitted(), 1);
}

TEST(LoadShedding, an_option_that_makes_no_sense_says_so) {
  EXPECT_THROW((void)load_shedding({.utilisation_max = 1}), std::logic_error);
  EXPECT_THROW((void)load_shedding({.window = {}}), std::logic_error);
  EXPECT_THROW(LoadShedding({}).set_utilisation_max(1), std::logic_error);
}

// A reactor on which each clock reading is later than the one before: it is never idle.
class BusyReactor final : public StillReactor {
 public:
  Instant read_clock() const noexcept override {
    clock_ = clock_ + milliseconds(1);
    return clock_;
  }

 private:
  mutable Instant clock_ = Instant{seconds(1'000).ns};
};

TEST(LoadShedding, a_request_that_is_refused_is_answered_at_once_and_others_are_spared) {
  const Service service = make_service([](Router& router) {
    router.use(load_shedding(
        {.spares = [](const RequestView& request) { return request.path() == "/health"; }}));
    router.get("/health", [] { return Reply(204); });
    router.get("/", [] { return Reply(200); });
  });
  Dispatcher dispatcher(service);
  BusyReactor reactor;
  int refused = 0;
  for (int count = 0; count < 5'000; ++count) {
    for (const char* path : {"/", "/health"}) {
      FakeExchange exchange("GET", path);
      exchange.on = &reactor;
      exchange.serve(dispatcher);
      if (path == std::string("/health")) {
        EXPECT_EQ(exchange.status, 204u);
      } else if (exchange.status == 503) {
        ++refused;
        EXPECT_NE(exchange.fields_sent.find("Retry-After: 1"), std::string::npos);
      }
    }
  }
  EXPECT_GT(refused, 2'000);
}

// A reactor whose turns begin every millisecond, and take 0.8 ms.
class PartlyBusyReactor final : public StillReactor {
 public:
  Instant read_clock() const noexcept override { return now() + microseconds(800); }
};

TEST(LoadShedding, a_limit_that_is_lowered_while_it_serves_holds_for_each_reactor) {
  LoadShedding shedding({.utilisation_max = 0.95, .window = milliseconds(50)});
  const Service service = make_service([&](Router& router) {
    router.use(shedding.middleware());
    router.get("/", [] { return Reply(200); });
  });
  Dispatcher dispatcher(service);
  PartlyBusyReactor reactor;
  const auto refused = [&] {
    int count = 0;
    for (int turn = 0; turn < 2'000; ++turn) {
      FakeExchange exchange("GET", "/");
      exchange.on = &reactor;
      reactor.pass(milliseconds(1));
      exchange.serve(dispatcher);
      count += exchange.status == 503 ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(refused(), 0);
  shedding.set_utilisation_max(0.5);
  EXPECT_GT(refused(), 100);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
