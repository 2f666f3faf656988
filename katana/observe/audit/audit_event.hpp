// AuditEvent: who did what to what, from where, and what came of it.
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

// What came of an action.
enum class Outcome : std::uint8_t {
  succeeded,  // it was done
  denied,     // its actor may not do it
  failed,     // it was tried, and did not work
};
// As they stand in a line.
KATANA_DESCRIBE_ENUM(Outcome, succeeded, denied, failed)

inline constexpr std::size_t line_bytes_max = 16 * 1024;

struct AuditEvent {
  std::string action;       // "user.delete"; what begins with "audit." is the log's own
  std::string actor;        // the principal's id; empty: unknown
  std::string issuer = {};  // of the principal
  std::string object = {};  // "user/17"
  Outcome outcome = Outcome::succeeded;  // as far as it is known
  std::string address = {};              // of the client
  std::string request_id = {};           // empty: of the request that the caller serves
  // Whatever else there is to say, by name.
  std::vector<std::pair<std::string, std::string>> details = {};
};

// Members of a JSON object, without its braces.
Result<std::string> render(const AuditEvent& event, Timestamp at);

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
