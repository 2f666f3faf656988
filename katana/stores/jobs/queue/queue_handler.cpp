#include "katana/stores/jobs/queue/queue_handler.hpp"

namespace katana::queue::detail {

Task<Result<void>> failed(Error error) { co_return std::unexpected(std::move(error)); }

Task<Result<void>> as_result(Task<void> task) {
  co_await std::move(task);
  co_return {};
}

Task<Result<void>> hold([[maybe_unused]] std::shared_ptr<void> kept, Task<Result<void>> task) {
  co_return co_await std::move(task);
}

}  // namespace katana::queue::detail

// SPDX-License-Identifier: Apache-2.0
