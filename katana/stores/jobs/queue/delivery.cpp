#include "katana/stores/jobs/queue/delivery.hpp"

#include <fmt/format.h>

namespace katana::queue {

Task<Result<void>> Delivery::complete(database::Queries in) {
  const Lease mine = lease();
  const database::Result<bool> finished = co_await table_.finish(in, mine, keeps_done_);
  if (!finished) co_return std::unexpected(finished.error());
  if (!*finished) {
    co_return fail(Code::cancelled,
                   fmt::format("job {} of '{}': its lease is lost, and another worker may have it",
                               job_.id, queue_));
  }
  completed_within_ = true;
  co_return {};
}

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
