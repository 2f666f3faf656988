// The Content-Disposition field of a reply (RFC 6266).
//
// Owns       nothing.
// Thread     any.
// Allocates  from the recycler, for the result.
// Fails      never: characters that no file name can have are left out.
// Invariant  the value is valid in a field, whatever the name. It contains no folder.
#pragma once

#include "katana/base/text/text.hpp"

namespace katana {

// Returns `attachment; filename="report.pdf"`. A name that is not plain ASCII also gets filename*,
// in UTF-8 (RFC 8187). Text before a slash or a backslash is left out, and text beyond 200 bytes.
Text content_disposition(Bytes type, Bytes file_name);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
