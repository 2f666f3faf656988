// Invariant: for any bytes, reading ends and reads nothing outside of them. An accepted Value is
// written back to the same bytes, and a struct is read back equal.
#include "katana/data/container/binary_read.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/data/container/shapes_fuzz.hpp"

namespace {

using namespace katana;
using namespace katana::container;

// The head is given, because no fuzzer guesses a fingerprint.
template <class T>
bool read_behind_head(Bytes octets, T& value) {
  const std::size_t size = 8 + octets.size();
  const auto block = std::make_unique<char[]>(size);
  const std::string head = to_binary(T{}).substr(0, 8);
  std::memcpy(block.get(), head.data(), head.size());
  if (!octets.empty()) std::memcpy(block.get() + 8, octets.data(), octets.size());
  Findings findings;
  const bool good = read_binary(Bytes(block.get(), size), value, findings);
  KATANA_CHECK(good == findings.empty());
  return good;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes octets(reinterpret_cast<const char*>(data), size);
  if (Value value; read_behind_head(octets, value)) {
    KATANA_CHECK(Bytes(to_binary(value)).substr(8) == octets);
  }
  if (Everything value; read_behind_head(octets, value)) {
    Everything again;
    KATANA_CHECK(read_behind_head(Bytes(to_binary(value)).substr(8), again));
    KATANA_CHECK(is_same(again, value));
  }
  Value whole;
  Findings findings;
  (void)read_binary(octets, whole, findings);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
