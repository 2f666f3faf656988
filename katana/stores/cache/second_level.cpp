#include "katana/stores/cache/second_level.hpp"

namespace katana::cache {

namespace {
std::unexpected<Error> no_tags() {
  return fail(Code::unsupported, "the second level of the cache knows no tags");
}
}  // namespace

Task<Result<std::uint64_t>> SecondLevel::tag_mark(std::string) { co_return no_tags(); }

Task<Result<bool>> SecondLevel::put_tagged(std::string, std::string, Duration, std::string,
                                           std::vector<std::string>, std::uint64_t) {
  co_return no_tags();
}

Task<Result<void>> SecondLevel::remove_tag(std::string, std::string) { co_return no_tags(); }

Task<Result<std::optional<Lease>>> SecondLevel::try_lock(std::string, Duration) {
  co_return Lease{};
}

Task<Result<void>> SecondLevel::unlock(std::string, Lease) { co_return {}; }

bool SecondLevel::listen(std::string, std::weak_ptr<ChangeListener>) { return false; }

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
