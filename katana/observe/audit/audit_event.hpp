// AuditEvent: one action: its actor, its object, its client's address, and its outcome.
//
// Owns       its texts.
// Thread     a value.
// Allocates  as strings do.
// Fails      render() with Code::out_of_range for more than line_bytes_max.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana::audit {

// The outcome of an action.
enum class Outcome : std::uint8_t {
  succeeded,  // it was done
  denied,     // its actor lacks the permission
  failed,     // it was tried and failed
};
// The words of a line.
KATANA_DESCRIBE_ENUM(Outcome, succeeded, denied, failed)

inline constexpr std::size_t line_bytes_max = 16 * 1024;

struct AuditEvent {
  std::string action;                    // "user.delete"; "audit.…" is reserved for the log itself
  std::string actor;                     // the principal's id; empty: unknown
  std::string issuer = {};               // of the principal
  std::string object = {};               // "user/17"
  Outcome outcome = Outcome::succeeded;  // as far as it is known
  std::string address = {};              // of the client
  std::string request_id = {};           // empty: that of the request that the caller serves
  // Further facts, by name.
  std::vector<std::pair<std::string, std::string>> details = {};
};

// The event as members of a JSON object, without braces.
Result<std::string> render(const AuditEvent& event, Timestamp at);

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
