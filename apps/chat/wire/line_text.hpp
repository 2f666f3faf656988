// The bytes that a line may hold: UTF-8 without control characters; and the bytes of a name.
//
// Thread     any.
// Allocates  never.
// Fails      never: the mistake in the bytes is a result.
// Source     RFC 3629 §4; control characters are U+0000 to U+001F and U+007F to U+009F (Unicode's
//            category Cc).
#pragma once

#include "apps/chat/wire/refusal.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::chat {

// none, not_utf8 or control_character: the first that is met.
Refusal check_text(Bytes text) noexcept;

// REQUIRES text that check_text() has nothing against.
bool is_name(Bytes text) noexcept;

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
