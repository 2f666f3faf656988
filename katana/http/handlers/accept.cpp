#include "katana/http/handlers/accept.hpp"

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/field_list.hpp"

namespace katana {
namespace {

Bytes without_space(Bytes text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == Bytes::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The weight is 0 (RFC 9110 §12.4.2): "q=0", "q=0.", "q=0.0", …
bool has_no_weight(Bytes parameters) noexcept {
  while (!parameters.empty()) {
    const std::size_t end = parameters.find(';');
    const Bytes each = without_space(parameters.substr(0, end));
    parameters.remove_prefix(end == Bytes::npos ? parameters.size() : end + 1);
    if (each.size() < 3 || !http::equals_ignoring_case(each.substr(0, 2), "q=")) continue;
    return each[2] == '0' && each.substr(3).find_first_not_of(".0") == Bytes::npos;
  }
  return false;
}

// How specific a range is that fits: 3 the type, 2 "application/*", 1 "*/*"; 0: it does not fit.
int fit(Bytes range, Bytes type) noexcept {
  if (http::equals_ignoring_case(range, type)) return 3;
  if (range == "*/*") return 1;
  const std::size_t slash = type.find('/');
  const bool is_group = range.size() == slash + 2 && range.ends_with("/*");
  return is_group && http::equals_ignoring_case(range.substr(0, slash), type.substr(0, slash)) ? 2
                                                                                               : 0;
}

}  // namespace

bool accepts(std::optional<Bytes> field, Bytes type) noexcept {
  if (!field || without_space(*field).empty()) return true;
  int best = 0;
  bool taken = false;
  http::ListReader ranges(*field);
  for (Bytes each; ranges.next(each);) {
    const std::size_t end = each.find(';');
    const int specific = fit(without_space(each.substr(0, end)), type);
    if (specific == 0 || specific < best) continue;
    const bool wanted = end == Bytes::npos || !has_no_weight(each.substr(end + 1));
    taken = specific == best ? taken || wanted : wanted;
    best = specific;
  }
  return taken;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
