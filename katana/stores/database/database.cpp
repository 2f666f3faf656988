#include "katana/stores/database/database.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/values/random.hpp"
#include "katana/net/reactor/destinations.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::database::detail {
namespace {

// The random numbers of a reactor's pauses.
struct Jitter final : net::Attachment {
  explicit Jitter(std::uint64_t seed) noexcept : random(seed) {}
  static Random& of(net::Reactor& reactor) {
    static constexpr char key = 0;  // its address is the key
    auto* found = static_cast<Jitter*>(reactor.attached(&key));
    if (found == nullptr) {
      auto made = std::make_unique<Jitter>(net::Destinations::seed_for(reactor));
      found = made.get();
      reactor.attach(&key, std::move(made));
    }
    return found->random;
  }
  Random random;
};

}  // namespace

Task<bool> may_run_again(unsigned attempts, const TransactionOptions& options) {
  if (attempts >= options.attempts_max) co_return false;
  const net::Reactor* const reactor = net::Reactor::current();
  // A thread without a reactor has no clock to wait by.
  if (reactor == nullptr || Executor::current() != reactor) co_return true;
  Random& random = Jitter::of(*net::Reactor::current());
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
