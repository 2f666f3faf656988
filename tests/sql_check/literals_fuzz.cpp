// Invariant for any source: literals are found in the order of their places, and each place lies
// within the source. A statement's outline ends without reading beyond its tokens.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "katana_tool/sql/literals.hpp"
#include "katana_tool/sql/outline.hpp"
#include "katana_tool/sql/records.hpp"

using namespace katana::tool::sql;

namespace {

const Catalog& catalog() {
  static const Catalog tables = [] {
    Catalog made;
    made.tables["t"] = {{"id", {"integer", Storage::integer}, true, true},
                        {"a", {"text", Storage::text}, false, false}};
    return made;
  }();
  return tables;
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* octets, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(octets), size);
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  for (const Literal& each : literals_in(text, "fuzz.cpp")) {
    require(each.begin.line >= 1 && each.begin.line <= lines);
    for (std::size_t at = 0; at <= each.text.size(); ++at) {
      const Place place = each.place_of(at);
      require(place.line >= each.begin.line && place.line <= lines && place.column <= size + 1);
    }
  }
  const Outline outline(text, catalog());
  (void)outline.parameters(9);
  for (const Outline::Range& range : outline.results()) {
    require(range.begin <= range.end && range.end <= outline.tokens().size());
    if (range.begin == range.end) continue;
    (void)outline.never_null(range);
    (void)outline.type_of(range);
    (void)outline.is_column(range);
  }
  (void)records_in(text, "fuzz.o");
  (void)parse_record(text);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
