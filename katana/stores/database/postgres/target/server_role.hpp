// judge_role(): whether a session is of the kind that target_session_attrs wants.
//
// Owns       nothing; SessionFacts are values.
// Thread     any.
// Allocates  never.
// Fails      never; answer() is false for a value that is neither on nor off.
// Invariant  behind an answer() that was true, the same kind is not asked for again.
// Source     PostgreSQL 18, "target_session_attrs"
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/postgres/target/target.hpp"

namespace katana::database::postgres::target {

// The facts about a session. It reports them by ParameterStatus (PostgreSQL 14 and later).
struct SessionFacts {
  // The settings of these names; nothing: they are not known.
  std::optional<bool> in_hot_standby = {};
  std::optional<bool> default_read_only = {};

  // Reads one ParameterStatus; others than these two are ignored.
  void note(Bytes name, Bytes value) noexcept;
  // Reads the value that answers the question of judge_role(), as text.
  bool answer(SessionKind wanted, Bytes value) noexcept;
  // The server is known to take no writes.
  bool is_read_only() const noexcept { return in_hot_standby == true || default_read_only == true; }
};

// The result of judge_role().
struct RoleVerdict {
  // The next step of the driver.
  enum class Kind : std::uint8_t {
    use,     // the session is of that kind
    ask,     // `text` is a statement with one row of one column, whose value answer() takes
    refuse,  // the session is of another kind; `text` says which, for people
  };
  Kind kind = Kind::use;       // starts as use
  std::string_view text = {};  // see Kind
};

// `wanted` is SessionKind::any when prefer_standby has found no standby.
RoleVerdict judge_role(SessionKind wanted, const SessionFacts& facts) noexcept;

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
