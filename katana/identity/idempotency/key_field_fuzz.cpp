// Invariant: any Idempotency-Key field is a key of 1 to 255 bytes of printable ASCII, or is
// refused. Nothing beyond the field is read. A key that is written as a string again is the same
// key. A reader that accepts bare keys reads a quoted key in the same way as other readers. Any
// reply text of a store is refused, or is written again unchanged.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/identity/idempotency/key_field.hpp"
#include "katana/identity/idempotency/stored_reply.hpp"

namespace {

using namespace katana;
using namespace katana::idempotency;

std::string as_string(const std::string& key) {
  std::string text = "\"";
  for (const char c : key) {
    if (c == '"' || c == '\\') text.push_back('\\');
    text.push_back(c);
  }
  return text + '"';
}

void check_key(Bytes field) {
  const auto strict = parse_key(field, false);
  const auto lenient = parse_key(field, true);
  if (strict) KATANA_CHECK(lenient == strict);
  if (!lenient) return;
  KATANA_CHECK(!lenient->empty() && lenient->size() <= key_bytes_max);
  for (const char c : *lenient) KATANA_CHECK(c >= ' ' && c <= '~');
  KATANA_CHECK(parse_key(as_string(*lenient), false) == *lenient);
  KATANA_CHECK(parse_key("  " + as_string(*lenient) + ";a;b=1 ", false) == *lenient);
}

void check_reply(Bytes octets) {
  const auto reply = decode(octets);
  if (reply) KATANA_CHECK(encode(*reply) == octets);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> apart(data, data + size);
  const Bytes input(apart.data(), apart.size());
  check_key(input);
  check_reply(input);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
