#include "katana/observe/log/layout.hpp"

#include "katana/observe/log/binary_layout.hpp"
#include "katana/observe/log/json_layout.hpp"
#include "katana/observe/log/text_layout.hpp"

namespace katana::log {

std::unique_ptr<Layout> make_layout(LayoutKind kind) {
  switch (kind) {
    case LayoutKind::text: return std::make_unique<TextLayout>(false);
    case LayoutKind::coloured_text: return std::make_unique<TextLayout>(true);
    case LayoutKind::json: return std::make_unique<JsonLayout>();
    case LayoutKind::binary: return std::make_unique<BinaryLayout>();
  }
  return nullptr;
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
