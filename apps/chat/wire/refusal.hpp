// Refusal: why a line is not accepted, with a sentence for the client.
//
// Every refusal is the client's doing. The connection goes on with the next line, because where
// that begins is never in doubt.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::chat {

enum class Refusal : std::uint8_t {
  none,
  line_too_long,
  not_utf8,
  control_character,
  unknown_command,
  bad_name,
  missing_name,
  unwanted_argument,
  count_,
};

struct RefusalText {
  Bytes name;
  Bytes sentence;
};

inline constexpr std::array<RefusalText, static_cast<std::size_t>(Refusal::count_)> refusal_texts =
    {{
        {"none", ""},
        {"line_too_long", "The line is too long and was skipped to its end."},
        {"not_utf8", "The line is not UTF-8 and was skipped."},
        {"control_character", "The line has a control character and was skipped."},
        {"unknown_command",
         "There are /join ROOM, /leave, /who, /nick NAME and /quit; begin with // for a message "
         "that begins with /."},
        {"bad_name", "A name has 1 to 32 bytes, and neither spaces nor any of [ ] * ! / , in it."},
        {"missing_name", "The command wants a name: /join ROOM, /nick NAME."},
        {"unwanted_argument", "The command stands alone: /leave, /quit."},
    }};

constexpr const RefusalText& text_of(Refusal refusal) noexcept {
  return refusal_texts[static_cast<std::size_t>(refusal)];
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
