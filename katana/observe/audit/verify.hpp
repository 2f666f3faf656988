// Verifies audit logs: no line was changed, removed, added, moved or cut off.
//
// Owns       nothing.
// Thread     any.
// Allocates  a line.
// Fails      with an Error that names the file, the line and its mistake (Code::data_loss).
// Invariant  a file that passes with a key and an anchor is unchanged, at least up to the anchor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/observe/audit/chain.hpp"

namespace katana::audit {

// The verified part: lines `first` to `head.next` - 1.
struct VerifiedAudit {
  std::uint64_t first = 0;  // the number of the first line
  AuditHead head;           // behind the last one
};

// Files in their order, oldest first; the first one need not be the first of the log. `anchor`: a
// head that was kept elsewhere.
Result<VerifiedAudit> verify_audit(std::span<const std::string> files, Bytes key,
                                   const std::optional<AuditHead>& anchor);

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
