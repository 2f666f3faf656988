// Verifies audit logs: that no line was changed, taken out, added, moved or cut off.
//
// Owns       nothing.
// Thread     any.
// Allocates  a line.
// Fails      with an Error that names file, line, and what is wrong with it (Code::data_loss).
// Invariant  what passes with a key and an anchor is what was written, up to the anchor at least.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/observe/audit/chain.hpp"

namespace katana::audit {

// What was verified: lines `first` to `head.next` - 1.
struct VerifiedAudit {
  std::uint64_t first = 0;  // the number of the first line
  AuditHead head;           // behind the last one
};

// Files in their order, oldest first; the first one need not be the first of the log. `anchor`: a
// head that was kept.
Result<VerifiedAudit> verify_audit(std::span<const std::string> files, Bytes key,
                                   const std::optional<AuditHead>& anchor);

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
