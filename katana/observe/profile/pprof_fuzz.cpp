// Invariant: bytes of a stranger give a profile whose indices exist, or an error. A profile that
// was read is written and read again as it was, and each form of it can be written.
#include <cstddef>
#include <cstdint>

#include "katana/base/system/check.hpp"
#include "katana/observe/profile/flame_graph.hpp"
#include "katana/observe/profile/folded.hpp"
#include "katana/observe/profile/pprof.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  using namespace katana::profile;
  const Bytes bytes(reinterpret_cast<const char*>(data), size);
  (void)decompress(bytes, 1 << 20);
  const auto read = from_pprof(bytes);
  if (!read) return 0;
  const std::string message = to_pprof(*read);
  const auto again = from_pprof(message);
  KATANA_CHECK(again.has_value());
  // Texts become UTF-8 when they are written first.
  KATANA_CHECK(to_pprof(*again) == message);
  (void)to_folded(*read);
  (void)flame_graph_page(*read);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
