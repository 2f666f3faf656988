// Invariant: any bytes of a collector's reply are read within their bounds. The result is a count
// that is not negative and a message of bounded size in UTF-8.
#include <cstddef>
#include <cstdint>

#include "katana/base/system/check.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/observe/otlp/export_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  const auto reply = otlp::read_reply(Bytes(reinterpret_cast<const char*>(data), size));
  if (!reply) return 0;
  KATANA_CHECK(reply->rejected >= 0);
  KATANA_CHECK(is_utf8(reply->message) && reply->message.size() <= 600);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
