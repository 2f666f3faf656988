// Invariant: for any bytes, reading ends and reads nothing outside of them. Accepted text is JSON
// for simdjson's parser, too, and the value is written and read back equal. Malformed text is no
// JSON for simdjson either, except for depth and half surrogate pairs, which simdjson accepts.
#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/shapes_fuzz.hpp"

namespace {

using namespace katana;
using namespace katana::container;

bool simdjson_accepts(Bytes text) {
  static simdjson::dom::parser parser;
  return parser.parse(simdjson::padded_string(text)).error() == simdjson::SUCCESS;
}

bool is_laxer_there(const Findings& findings) {
  const std::string& words = findings.list().front().words;
  return words.find("deep") != std::string::npos || words.find("surrogate") != std::string::npos;
}

void read_as_value(Bytes text) {
  Value value;
  Findings findings;
  if (!read_json(text, value, findings)) {
    KATANA_CHECK(!findings.empty());
    KATANA_CHECK(!findings.malformed() || is_laxer_there(findings) || !simdjson_accepts(text));
    return;
  }
  KATANA_CHECK(simdjson_accepts(text));
  const std::string written = to_json(value);
  Value again;
  KATANA_CHECK(read_json(Bytes(written), again, findings));
  KATANA_CHECK(again == value);
  KATANA_CHECK(to_json(again) == written);
}

void read_as_struct(Bytes text) {
  Everything value;
  Findings findings;
  if (!read_json(text, value, findings)) {
    KATANA_CHECK(!findings.empty() && !findings.error().message().empty());
    return;
  }
  Everything again;
  KATANA_CHECK(read_json(Bytes(to_json(value)), again, findings));
  KATANA_CHECK(is_same(again, value));
}

void read_as_changes(Bytes text) {
  Changes value;
  Findings findings;
  if (!read_json(text, value, findings)) {
    KATANA_CHECK(!findings.empty() && !findings.error().message().empty());
    KATANA_CHECK(!findings.malformed() || is_laxer_there(findings) || !simdjson_accepts(text));
    return;
  }
  const std::string written = to_json(value);
  Changes again;
  KATANA_CHECK(read_json(Bytes(written), again, findings));
  KATANA_CHECK(to_json(again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A heap block of the exact size, so that AddressSanitizer sees the first byte too many.
  const auto block = std::make_unique<char[]>(size);
  if (size != 0) std::memcpy(block.get(), data, size);
  read_as_value({block.get(), size});
  read_as_struct({block.get(), size});
  read_as_changes({block.get(), size});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
