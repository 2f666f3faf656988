#include "katana/http/handlers/accept.hpp"

#include <algorithm>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/field_list.hpp"

namespace katana {
namespace {

Bytes without_space(Bytes text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == Bytes::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The weight in thousandths (RFC 9110 §12.4.2): "q=0.8" is 800. Without a weight, or with a
// malformed one, it is 1000.
unsigned weight_of(Bytes parameters) noexcept {
  while (!parameters.empty()) {
    const std::size_t end = parameters.find(';');
    const Bytes each = without_space(parameters.substr(0, end));
    parameters.remove_prefix(end == Bytes::npos ? parameters.size() : end + 1);
    if (each.size() < 3 || !http::equals_ignoring_case(each.substr(0, 2), "q=")) continue;
    if (each[2] != '0') return 1000;
    if (each.substr(3).find_first_not_of(".0") == Bytes::npos) return 0;
    unsigned weight = 0;
    for (std::size_t at = 4; at < 7; ++at) {
      const char c = at < each.size() ? each[at] : '0';
      if (c < '0' || c > '9') return 1000;
      weight = weight * 10 + static_cast<unsigned>(c - '0');
    }
    return weight;
  }
  return 1000;
}

// Returns how specific a fitting range is: 3 the type, 2 "application/*", 1 "*/*"; 0: it does not
// fit.
int fit(Bytes range, Bytes type) noexcept {
  if (http::equals_ignoring_case(range, type)) return 3;
  if (range == "*/*") return 1;
  const std::size_t slash = type.find('/');
  const bool is_group = range.size() == slash + 2 && range.ends_with("/*");
  return is_group && http::equals_ignoring_case(range.substr(0, slash), type.substr(0, slash)) ? 2
                                                                                               : 0;
}

// The most specific range that fits, with its largest weight.
struct Best {
  int fit = 0;
  unsigned weight = 0;
};
Best best_of(Bytes field, Bytes type) noexcept {
  Best best;
  http::ListReader ranges(field);
  for (Bytes each; ranges.next(each);) {
    const std::size_t end = each.find(';');
    const int specific = fit(without_space(each.substr(0, end)), type);
    if (specific == 0 || specific < best.fit) continue;
    const unsigned weight = weight_of(end == Bytes::npos ? Bytes() : each.substr(end + 1));
    best = {specific, specific == best.fit ? std::max(best.weight, weight) : weight};
  }
  return best;
}

}  // namespace

bool accepts(std::optional<Bytes> field, Bytes type) noexcept {
  if (!field || without_space(*field).empty()) return true;
  return best_of(*field, type).weight != 0;
}

bool prefers_html(std::optional<Bytes> field) noexcept {
  if (!field) return false;
  const Best html = best_of(*field, "text/html");
  if (html.fit != 3 || html.weight == 0) return false;
  for (const Bytes type : {Bytes("application/json"), Bytes("application/problem+json")}) {
    const Best json = best_of(*field, type);
    if (json.weight > html.weight || (json.weight == html.weight && json.fit == 3)) return false;
  }
  return true;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
