// Invariant: whatever the file is, it is read within its bytes, and a build ID is hexadecimal.
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/observe/crash/build_id.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const katana::Bytes input(reinterpret_cast<const char*>(data), size);
  if (const auto found = katana::crash::build_id_of(input)) {
    KATANA_CHECK(!found->empty() && found->size() <= 128);
    KATANA_CHECK(found->find_first_not_of("0123456789abcdef") == std::string::npos);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
