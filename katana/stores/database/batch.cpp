#include "katana/stores/database/batch.hpp"

#include <algorithm>

namespace katana::database::detail {

// Rows behind the one that failed were on their way already, and say only that the transaction
// had failed.
Result<BatchChanges> together(RowResults results) {
  const auto failed_itself = [](const Result<std::int64_t>& each) {
    return !each && each.error().kind() != Kind::failed_transaction;
  };
  auto failed = std::ranges::find_if(results, failed_itself);
  if (failed == results.end()) {
    failed = std::ranges::find_if(results, [](const auto& each) { return !each; });
  }
  if (failed != results.end()) {
    return std::unexpected(
        failed->error().in_row(static_cast<std::size_t>(failed - results.begin())));
  }
  BatchChanges changes;
  changes.by_row.reserve(results.size());
  for (const Result<std::int64_t>& each : results) {
    changes.rows_changed += *each;
    changes.by_row.push_back(*each);
  }
  return changes;
}

}  // namespace katana::database::detail

// SPDX-License-Identifier: Apache-2.0
