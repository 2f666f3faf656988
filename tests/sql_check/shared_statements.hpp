// A header with a statement, which is found by the #include of a source.
#pragma once

#include <cstdint>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/database/database.hpp"

namespace sql_check {

inline katana::Task<void> count_all(katana::database::Database& db) {
  (void)co_await db.query_one<std::int64_t>("SELECT count(*) FROM nowhere");
  // want refused: nowhere
}

}  // namespace sql_check

// SPDX-License-Identifier: Apache-2.0
