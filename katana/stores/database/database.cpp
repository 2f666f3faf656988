#include "katana/stores/database/database.hpp"

#include <algorithm>
#include <random>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/values/random.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::database::detail {

Task<bool> may_run_again(unsigned attempts, const TransactionOptions& options) {
  if (attempts >= options.attempts_max) co_return false;
  const net::Reactor* const reactor = net::Reactor::current();
  // A thread without a reactor has no clock to wait by.
  if (reactor == nullptr || Executor::current() != reactor) co_return true;
  static constinit thread_local Random random{0};
  static thread_local bool seeded = false;
  if (!std::exchange(seeded, true)) random = Random(std::random_device()());
  std::int64_t most = std::max<std::int64_t>(options.backoff_min.ns, 2);
  for (unsigned count = 1; count < attempts && most < options.backoff_max.ns; ++count) most *= 2;
  most = std::max<std::int64_t>(std::min(most, options.backoff_max.ns), 2);
  const Duration pause =
      nanoseconds(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most))));
  if (current_deadline != never && reactor->now() + pause >= current_deadline) co_return false;
  co_await net::sleep_for(pause);
  co_return true;
}

}  // namespace katana::database::detail

// SPDX-License-Identifier: Apache-2.0
