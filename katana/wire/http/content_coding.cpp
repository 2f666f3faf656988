#include "katana/wire/http/content_coding.hpp"

#include <algorithm>

#include "katana/wire/http/field_list.hpp"

namespace katana::http {
namespace {

constexpr std::array<Bytes, coding_count> coding_names = {"br", "zstd", "gzip", "identity"};

// qvalue, RFC 9110 §12.4.2, in thousandths; 0 for malformed text.
std::uint16_t quality_from(Bytes text) noexcept {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return 0;
  if (text.size() > 1 && text[1] != '.') return 0;
  unsigned value = text[0] == '1' ? 1000 : 0;
  unsigned place = 100;
  for (const char c : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (!is(c, digit_character)) return 0;
    value += static_cast<unsigned>(c - '0') * place;
    place /= 10;
  }
  return value > 1000 ? 0 : static_cast<std::uint16_t>(value);
}

}  // namespace

Bytes coding_name(Coding coding) noexcept { return coding_names[static_cast<std::size_t>(coding)]; }

std::optional<Coding> coding_from(Bytes name) noexcept {
  for (std::size_t index = 0; index < coding_names.size(); ++index) {
    if (equals_ignoring_case(name, coding_names[index])) return static_cast<Coding>(index);
  }
  if (equals_ignoring_case(name, "x-gzip")) return Coding::gzip;
  return std::nullopt;
}

void AcceptedCodings::note(Bytes element) noexcept {
  const std::size_t end = std::min(element.find(';'), element.size());
  const Bytes name = trimmed(element.substr(0, end));
  std::uint16_t quality = 1000;
  if (end < element.size()) {
    const Bytes weight = trimmed(element.substr(end + 1));
    const bool is_weight = weight.size() > 2 && to_lower(weight[0]) == 'q' && weight[1] == '=';
    quality = is_weight ? quality_from(weight.substr(2)) : std::uint16_t{0};
  }
  if (name == "*") {
    any_ = quality;
  } else if (const auto coding = coding_from(name)) {
    qualities_[static_cast<std::size_t>(*coding)] = quality;
  }
}

AcceptedCodings::AcceptedCodings(const Head& head) noexcept {
  qualities_.fill(unknown);
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (!equals_ignoring_case(head.name(index), "Accept-Encoding")) continue;
    Bytes element;
    for (ListReader list(head.value(index)); list.next(element);) note(element);
  }
  // Identity is accepted unless it is refused, by name or by "*". But a client that names other
  // codings wants it least.
  constexpr std::uint16_t least = 1;
  std::uint16_t& identity = qualities_[static_cast<std::size_t>(Coding::identity)];
  if (identity == unknown) identity = any_ == 0 ? std::uint16_t{0} : least;
  for (std::uint16_t& each : qualities_) {
    if (each == unknown) each = any_ == unknown ? std::uint16_t{0} : any_;
  }
}

std::optional<Coding> AcceptedCodings::best_of(Codings available) const noexcept {
  std::optional<Coding> best;
  for (std::size_t index = 0; index < coding_count; ++index) {
    const auto each = static_cast<Coding>(index);
    if (!available.contains(each) || quality(each) == 0) continue;
    if (!best || quality(each) > quality(*best)) best = each;
  }
  return best;
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
