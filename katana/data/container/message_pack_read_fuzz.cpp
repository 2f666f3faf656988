// Invariant: for any bytes, reading ends and reads nothing outside of them. An accepted Value or
// struct is written and read back equal.
#include "katana/data/container/message_pack_read.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/data/container/message_pack_write.hpp"
#include "katana/data/container/shapes_fuzz.hpp"

namespace {

using namespace katana;
using namespace katana::container;

template <class T>
void read_as(Bytes octets, bool (*is_equal)(const T&, const T&)) {
  T value{};
  Findings findings;
  if (!read_message_pack(octets, value, findings)) {
    KATANA_CHECK(!findings.empty() && !findings.error().message().empty());
    return;
  }
  T again{};
  KATANA_CHECK(read_message_pack(Bytes(to_message_pack(value)), again, findings));
  KATANA_CHECK(is_equal(again, value));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A heap block of the exact size, so that AddressSanitizer sees the first byte too many.
  const auto block = std::make_unique<char[]>(size);
  if (size != 0) std::memcpy(block.get(), data, size);
  const Bytes octets(block.get(), size);
  read_as<Value>(octets, [](const Value& a, const Value& b) { return a == b; });
  read_as<Everything>(octets, is_same);
  read_as<Changes>(octets, [](const Changes& a, const Changes& b) {
    return to_message_pack(a) == to_message_pack(b);
  });
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
