// Whatever the text, it is refused with words or read as a value that is written and read again as
// the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "katana/data/config/units.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  using namespace katana::config;
  const Bytes text(reinterpret_cast<const char*>(data), size);
  if (const auto duration = read_duration(text)) {
    if (duration->ns < 0 || read_duration(write_duration(*duration)) != *duration) std::abort();
  } else if (duration.error().message().empty()) {
    std::abort();
  }
  if (const auto count = read_byte_count(text)) {
    if (read_byte_count(write_byte_count(*count)) != *count) std::abort();
  } else if (count.error().message().empty()) {
    std::abort();
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
