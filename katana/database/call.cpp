#include "katana/database/call.hpp"

#include "katana/base/deadline.hpp"
#include "katana/core/reactor.hpp"

namespace katana::database::detail {

Duration within_deadline(Duration timeout, Duration usual) noexcept {
  const core::Reactor* const reactor = core::Reactor::current();
  if (reactor == nullptr || current_deadline == never) return timeout;
  return time_left(reactor->now(), timeout > Duration{} ? timeout : usual);
}

}  // namespace katana::database::detail

// SPDX-License-Identifier: Apache-2.0
