// statement_name(): the name of a statement in logs, metrics and traces. StatementNames: the
// numbered names of a program's statements, up to a bound.
//
//   -- name: find_user        "find_user"; also as /* name: find_user */
//   SELECT id FROM users …    "SELECT users": the verb and the first table
//
// The server also shows a name that stands in the text (pg_stat_activity). Two statements without
// such a name share one if they have the same verb and the same table.
//
// Owns       the names.
// Borrows    nothing: a statement is known by its hash.
// Thread     any; find() takes a lock only for a text that it has not seen.
// Allocates  for a text that it has not seen.
// Fails      never: a statement for which there is no room is "other".
// Invariant  a name and its number stay where they are. There are at most count_max names.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/sql.hpp"
#include "katana/stores/database/work.hpp"

namespace katana::database {

// A name that is longer is cut between two characters.
inline constexpr std::size_t statement_name_bytes_max = 64;

// The name of a statement with this text.
std::string statement_name(Bytes text);

// A name that is kept, and its number.
struct StatementName {
  std::string text;          // statement_name(), or that of an order
  std::uint32_t number = 0;  // below StatementNames::count_max
};

// The names of a program's statements.
class StatementNames {
 public:
  // The number of texts, which each have a name.
  static constexpr std::size_t texts_max = 1024;
  static constexpr std::size_t orders_max = 8;  // names of what has no text: COMMIT and its kin
  static constexpr std::size_t count_max = texts_max + orders_max;

  StatementNames();
  StatementNames(const StatementNames&) = delete;
  StatementNames& operator=(const StatementNames&) = delete;
  ~StatementNames();

  const StatementName& find(const Sql& sql) noexcept;
  // The name of a request without a statement.
  const StatementName& find(Order order) const noexcept;
  const StatementName& other() const noexcept { return orders_[0]; }

 private:
  struct Known {
    std::uint64_t hash;
    const StatementName* name;
  };
  static constexpr std::size_t slots_count = 2 * texts_max;

  const Known* seen(std::uint64_t hash) const noexcept;
  const StatementName& add(const Sql& sql);

  const std::vector<StatementName> orders_;
  std::vector<std::atomic<const Known*>> slots_;
  std::mutex mutex_;  // what follows
  std::vector<std::unique_ptr<const Known>> known_;
  std::vector<std::unique_ptr<const StatementName>> names_;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
