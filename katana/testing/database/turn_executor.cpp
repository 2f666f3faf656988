#include "katana/testing/database/turn_executor.hpp"

#include "katana/base/system/check.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::testing {

void TurnExecutor::post(Message& message) noexcept {
  net::Reactor* const reactor = net::Reactor::current();
  const bool in_turn =
      reactor != nullptr && reactor == Executor::current() && reactor->busy_since() != never;
  if (in_turn) return reactor->post(message);
  const std::lock_guard lock(mutex_);
  if (!outside_) {
    auto made = thread::Pool::create({.name = "test-db", .threads_min = 1, .queue_max = 1024});
    KATANA_CHECK(made);
    outside_ = *std::move(made);
  }
  const auto admission = outside_->post([given = &message] { given->run(*given); });
  KATANA_CHECK(admission == thread::Admission::accepted);
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
