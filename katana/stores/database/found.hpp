// found(): the row that has to be there, or an Error that a handler answers with 404.
// not_taken(): the result of a statement. If a value is taken: an Error that is answered with 409.
//
//   KATANA_CO_TRY(Article article,
//                 database::found(co_await db->query_one<Article>("SELECT …", slug), "article"));
//   KATANA_CO_TRY_DONE(database::not_taken(co_await db->execute("INSERT …", name, email)));
//
// Owns       the row.
// Thread     any.
// Allocates  the message of an Error.
// Fails      as the statement does. Without a row Code::not_found: "There is no such article." For
//            a broken unique constraint or primary key Code::already_exists: "email has already
//            been taken." Where the database names anything but plain columns, such as an index,
//            it is "The value has already been taken."
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/error.hpp"

namespace katana::database {
namespace detail {

// The same, with a message about a value that is taken.
katana::Error taken_error(Error error);

}  // namespace detail

// `what` is the name that clients use for it.
template <class Row>
katana::Result<Row> found(Result<std::optional<Row>> row, std::string_view what) {
  if (!row) return std::unexpected(std::move(row).error());
  if (*row) return **std::move(row);
  return fail(Code::not_found, "There is no such " + std::string(what) + ".");
}

// The message has the names of the columns. Nothing else of the schema is shown.
template <class T>
katana::Result<T> not_taken(Result<T> done) {
  if (done) {
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return *std::move(done);
    }
  }
  return std::unexpected(detail::taken_error(std::move(done).error()));
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
