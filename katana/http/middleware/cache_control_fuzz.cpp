// Whatever the fields: Cache-Control that is read, written and read again has the same values.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/http/middleware/cache_control.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  const Bytes text(reinterpret_cast<const char*>(data), size);
  (void)CacheControl::of_targeted_fields("CDN-Cache-Control: " + std::string(text));
  for (const std::string& lines : {std::string(text), "Cache-Control: " + std::string(text)}) {
    const std::string once = CacheControl::of_fields(lines).text();
    if (CacheControl::of_fields("Cache-Control: " + once + "\r\n").text() != once) std::abort();
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
