// Invariant: for any bytes of a binary log, reading ends and stays within them. Every resulting
// entry can be formatted as one line of text, and as one of JSON.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "katana/base/system/check.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/observe/log/binary_reader.hpp"
#include "katana/observe/log/json_layout.hpp"
#include "katana/observe/log/text_layout.hpp"

namespace {

using namespace katana;

bool is_one_line(const log::Buffer& out) {
  const Bytes text(out.data(), out.size());
  return !text.empty() && std::ranges::count(text, '\n') == 1 && text.back() == '\n';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A heap block of the exact size: AddressSanitizer sees any access beyond it.
  const auto block = std::make_unique<char[]>(size);
  if (size != 0) std::memcpy(block.get(), data, size);
  log::BinaryReader reader({block.get(), size});
  log::TextLayout text(false);
  log::JsonLayout json;
  while (true) {
    const std::size_t before = reader.offset();
    const auto entry = reader.next();
    if (entry && !*entry) break;
    KATANA_CHECK(reader.offset() > before);
    if (!entry) continue;
    log::Buffer line;
    text.add(**entry, line);
    KATANA_CHECK(is_one_line(line));
    line.clear();
    json.add(**entry, line);
    KATANA_CHECK(is_one_line(line));
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
