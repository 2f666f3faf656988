#include "katana/stores/database/call.hpp"

#include "katana/base/coroutine/deadline.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::database::detail {

Duration within_deadline(Duration timeout, Duration usual) noexcept {
  const net::Reactor* const reactor = net::Reactor::current();
  if (reactor == nullptr || current_deadline == never) return timeout;
  return time_left(reactor->now(), timeout > Duration{} ? timeout : usual);
}

}  // namespace katana::database::detail

// SPDX-License-Identifier: Apache-2.0
