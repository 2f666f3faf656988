// Whatever bytes a second level returns, open() takes only those that seal() would make of the same
// key. It never reads beyond their end.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/cache/envelope.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  using namespace katana::cache::detail;
  const Bytes octets(reinterpret_cast<const char*>(data), size);
  const Timestamp now(std::chrono::seconds(1'700'000'000));
  for (const Bytes key : {Bytes(), Bytes("k"), Bytes("users:1")}) {
    const auto opened = open(octets, key, now);
    if (!opened) continue;
    if (opened->left <= Duration{}) std::abort();
    const std::string value(opened->value);
    const Timestamp until = now + std::chrono::microseconds(opened->left.ns / 1000);
    const std::string sealed = seal(key, opened->tags, opened->absent ? nullptr : &value, until);
    const auto again = open(sealed, key, now);
    if (!again || again->absent != opened->absent || again->value != value ||
        again->left != opened->left || again->tags != opened->tags) {
      std::abort();
    }
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
