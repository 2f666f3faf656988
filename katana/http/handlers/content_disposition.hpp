// The Content-Disposition field of a reply (RFC 6266).
//
// Owns       nothing.
// Thread     any.
// Allocates  from the recycler, for the result.
// Fails      never: what no file can be named is left out.
// Invariant  the value is valid in a field, whatever the name. No folder is named in it.
#pragma once

#include "katana/base/text/text.hpp"

namespace katana {

// `attachment; filename="report.pdf"`; of a name that is not plain ASCII also filename*, in UTF-8
// (RFC 8187). Text before a slash or a backslash is left out, and text behind 200 bytes.
Text content_disposition(Bytes type, Bytes file_name);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
