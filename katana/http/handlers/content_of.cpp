#include "katana/http/handlers/content_of.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::detail {

std::string content_type_of(const RequestView& request) {
  Bytes type = request.field("content-type").value_or(Bytes());
  type = type.substr(0, type.find(';'));
  while (type.starts_with(' ') || type.starts_with('\t')) type.remove_prefix(1);
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  std::string lower(type);
  for (char& c : lower) c = http::to_lower(c);
  // A range is a list entry of a handler, and no media type.
  return lower.find('/') == std::string::npos || lower.contains('*') ? std::string() : lower;
}

int best_fit(std::span<const Bytes> ranges, Bytes type) noexcept {
  int best = 0;
  if (type.empty()) return best;
  for (const Bytes range : ranges) best = std::max(best, media_type_fit(range, type));
  return best;
}

Refusal refuse_media_type(const RequestView& request, std::span<const Bytes> taken) {
  constexpr std::size_t shown_bytes_max = 64;
  const std::string all = fmt::format("{}", fmt::join(taken, ", "));
  const std::optional<Bytes> type = request.field("content-type");
  const std::string words = type ? fmt::format("The Content-Type is '{}'; this takes {}.",
                                               type->substr(0, shown_bytes_max), all)
                                 : fmt::format("There is no Content-Type; this takes {}.", all);
  return Refusal(problem(problem_types::unsupported_media_type, words)
                     .with("Accept", all));  // RFC 9110 §15.5.16
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
