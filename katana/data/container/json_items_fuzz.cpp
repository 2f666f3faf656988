// Invariant: items and errors do not depend on how the text is cut. If the text is a JSON array,
// its items equal those of a read of the whole text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/data/container/json_items.hpp"
#include "katana/data/container/json_read.hpp"

namespace {

using namespace katana;
using namespace katana::container;

struct Split {
  std::vector<std::string> items;
  std::string error;
  bool operator==(const Split&) const = default;
};

Split split(JsonItems::Form form, Bytes text, std::size_t piece) {
  JsonItems items(form, 256);
  Split all;
  while (true) {
    const auto item = items.next();
    if (!item) {
      all.error = item.error().describe();
      return all;
    }
    if (*item) {
      all.items.emplace_back(**item);
    } else if (items.done()) {
      return all;
    } else if (text.empty()) {
      items.end();
    } else {
      items.append(text.substr(0, piece));
      text.remove_prefix(std::min(piece, text.size()));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 7;
  const Bytes text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const auto form : {JsonItems::Form::array, JsonItems::Form::lines}) {
    KATANA_CHECK(split(form, text, piece) == split(form, text, SIZE_MAX));
  }
  const auto whole = read_json<Value>(text);
  if (!whole || whole->get_list() == nullptr) return 0;
  const Split items = split(JsonItems::Form::array, text, piece);
  if (!items.error.empty()) {
    KATANA_CHECK(items.error.ends_with("is longer than 256 bytes"));
    return 0;
  }
  KATANA_CHECK(items.items.size() == whole->as_list().size());
  for (std::size_t index = 0; index < items.items.size(); ++index) {
    const auto item = read_json<Value>(Bytes(items.items[index]));
    KATANA_CHECK(item && *item == whole->as_list()[index]);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
