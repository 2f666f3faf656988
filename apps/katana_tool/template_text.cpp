#include "katana_tool/template_text.hpp"

#include <vector>

#include "katana/base/system/check.hpp"

namespace katana::tool {
namespace {

struct Mark {
  std::size_t begin = 0, end = 0;  // part of the text, with the braces
  char kind = 0;                   // '#', '^', '/', or 0: a value
  std::string_view name;
};

bool find_mark(std::string_view text, std::size_t from, Mark& mark) {
  mark.begin = text.find("{{", from);
  if (mark.begin == text.npos) return false;
  const std::size_t close = text.find("}}", mark.begin);
  KATANA_REQUIRE(close != text.npos);
  mark.name = text.substr(mark.begin + 2, close - mark.begin - 2);
  mark.end = close + 2;
  mark.kind = 0;
  if (!mark.name.empty() && std::string_view("#^/").contains(mark.name[0])) {
    mark.kind = mark.name[0];
    mark.name.remove_prefix(1);
  }
  return true;
}

// A mark alone on its line takes the line with it.
void widen_to_line(std::string_view text, Mark& mark) {
  const bool at_begin = mark.begin == 0 || text[mark.begin - 1] == '\n';
  if (mark.kind != 0 && at_begin && mark.end < text.size() && text[mark.end] == '\n') ++mark.end;
}

}  // namespace

std::string fill_template(std::string_view text, const TemplateValues& values) {
  std::string filled;
  std::vector<bool> shown = {true};
  std::size_t at = 0;
  for (Mark mark; find_mark(text, at, mark); at = mark.end) {
    if (shown.back()) filled += text.substr(at, mark.begin - at);
    widen_to_line(text, mark);
    if (mark.kind == '/') {
      shown.pop_back();
      KATANA_REQUIRE(!shown.empty());
    } else if (mark.kind != 0) {
      shown.push_back(shown.back() && values.choices.contains(mark.name) == (mark.kind == '#'));
    } else if (shown.back()) {
      const auto found = values.values.find(mark.name);
      KATANA_REQUIRE(found != values.values.end());
      filled += found->second;
    }
  }
  KATANA_REQUIRE(shown.size() == 1);
  return filled += text.substr(at);
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
