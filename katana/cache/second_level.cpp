#include "katana/cache/second_level.hpp"

namespace katana::cache {

Task<Result<std::optional<Lease>>> SecondLevel::try_lock(std::string, Duration) {
  co_return Lease{};
}

Task<Result<void>> SecondLevel::unlock(std::string, Lease) { co_return {}; }

bool SecondLevel::listen(std::string, std::weak_ptr<ChangeListener>) { return false; }

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
