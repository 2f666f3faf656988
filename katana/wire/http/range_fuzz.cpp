// Invariant: for any Range field, its ranges lie inside of the representation, have at least one
// byte, and are together no longer than it.
//
// The input is eight bytes for the size of the representation, and the value.
#include <cstdint>
#include <cstring>

#include "katana/base/system/check.hpp"
#include "katana/wire/http/range.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana::http;
  if (size < 9) return 0;
  std::uint64_t bytes;
  std::memcpy(&bytes, data, sizeof bytes);
  bytes >>= data[8] & 63;
  bytes &= INT64_MAX;  // no file is larger
  const katana::Bytes value(reinterpret_cast<const char*>(data) + 9, size - 9);
  const Ranges ranges = Ranges::parse(value, bytes);
  KATANA_CHECK((ranges.kind() == RangeKind::satisfiable) == !ranges.all().empty());
  std::uint64_t total = 0;
  for (const ByteRange& range : ranges.all()) {
    KATANA_CHECK(range.size > 0 && range.size <= bytes && range.first <= bytes - range.size);
    total += range.size;
    KATANA_CHECK(total <= bytes);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
