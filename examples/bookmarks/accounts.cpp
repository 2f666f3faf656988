#include <map>

#include "bookmarks.hpp"

namespace bookmarks {

std::unique_ptr<Accounts> own_accounts() {
  return std::make_unique<Accounts>(
      [](std::string authorization) -> katana::Task<std::optional<User>> {
        static const std::map<std::string, User> users = {{"Bearer ann-secret", {1, "Ann"}},
                                                          {"Bearer bob-secret", {2, "Bob"}}};
        const auto found = users.find(authorization);
        co_return found == users.end() ? std::nullopt : std::optional(found->second);
      });
}

}  // namespace bookmarks

// SPDX-License-Identifier: Apache-2.0
