// Media types by file name extension.
//
// Owns      the text, for the life of the program.
// Thread    any; the table is built by the compiler.
// Allocates never.
// Fails     an extension that is not known is application/octet-stream.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana {

// For a path's last segment: "site.css" is text/css; charset=utf-8. Ignores case.
Bytes media_type_of(Bytes path) noexcept;

// Returns the text behind the last dot of the last segment, without the dot. Empty if there is no
// dot, or if it comes first, as in ".profile".
Bytes extension_of(Bytes path) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
