// found(): the row that has to be there, or an Error that a handler answers with 404.
//
//   KATANA_CO_TRY(Article article,
//                 database::found(co_await db->query_one<Article>("SELECT …", slug), "article"));
//
// Owns       the row.
// Thread     any.
// Allocates  the message, if there is no row.
// Fails      as the statement does; Code::not_found with "There is no such article." without a row.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/error.hpp"

namespace katana::database {

// `what` is the name that clients use for it.
template <class Row>
katana::Result<Row> found(Result<std::optional<Row>> row, std::string_view what) {
  if (!row) return std::unexpected<katana::Error>(std::move(row).error());
  if (*row) return **std::move(row);
  return fail(Code::not_found, "There is no such " + std::string(what) + ".");
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
