#include "katana/stores/database/postgres/target/server_role.hpp"

namespace katana::database::postgres::target {
namespace {

using Kind = RoleVerdict::Kind;

bool is_about_writes(SessionKind wanted) noexcept {
  return wanted == SessionKind::read_write || wanted == SessionKind::read_only;
}

std::optional<bool> read_switch(Bytes value) noexcept {
  if (value == "on" || value == "t") return true;
  if (value == "off" || value == "f") return false;
  return std::nullopt;
}

}  // namespace

void SessionFacts::note(Bytes name, Bytes value) noexcept {
  if (name == "in_hot_standby") in_hot_standby = read_switch(value);
  if (name == "default_transaction_read_only") default_read_only = read_switch(value);
}

bool SessionFacts::answer(SessionKind wanted, Bytes value) noexcept {
  const std::optional<bool> is_on = read_switch(value);
  if (!is_on) return false;
  if (is_about_writes(wanted)) {
    // The answer covers both.
    in_hot_standby = false;
    default_read_only = is_on;
  } else {
    in_hot_standby = is_on;
  }
  return true;
}

RoleVerdict judge_role(SessionKind wanted, const SessionFacts& facts) noexcept {
  if (wanted == SessionKind::any) return {};
  if (is_about_writes(wanted)) {
    // A standby takes no writes, whatever its other setting is.
    const bool is_known =
        facts.in_hot_standby == true || (facts.in_hot_standby && facts.default_read_only);
    if (!is_known) return {Kind::ask, "SHOW transaction_read_only"};
    if (facts.is_read_only() == (wanted == SessionKind::read_only)) return {};
    return {Kind::refuse,
            facts.is_read_only() ? "the server takes no writes" : "the server takes writes"};
  }
  // A pooler does not report it.
  if (!facts.in_hot_standby) return {Kind::ask, "SELECT pg_catalog.pg_is_in_recovery()"};
  if (*facts.in_hot_standby == (wanted != SessionKind::primary)) return {};
  return {Kind::refuse,
          *facts.in_hot_standby ? "the server is a standby" : "the server is no standby"};
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
