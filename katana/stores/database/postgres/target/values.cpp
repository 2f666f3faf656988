#include "katana/stores/database/postgres/target/values.hpp"

#include <fmt/format.h>

#include <charconv>

#include "katana/base/system/propagate.hpp"
#include "katana/stores/database/postgres/target/connection_string.hpp"

namespace katana::database::postgres::target {
namespace {

std::string shown(const Settings& settings, Keyword keyword, std::string_view remedy) {
  constexpr std::size_t shown_bytes_max = 40;
  const Bytes value = settings.text(keyword);
  const bool is_cut = value.size() > shown_bytes_max;
  return fmt::format("{} is '{}'{}: {}", settings.describe(keyword),
                     value.substr(0, shown_bytes_max), is_cut ? "…" : "", remedy);
}

}  // namespace

std::unexpected<katana::Error> wrong_value(const Settings& settings, Keyword keyword,
                                           std::string_view remedy) {
  return katana::fail(Code::invalid_argument, shown(settings, keyword, remedy));
}

std::unexpected<katana::Error> unsupported_value(const Settings& settings, Keyword keyword,
                                                 std::string_view remedy) {
  return katana::fail(Code::unsupported, shown(settings, keyword, remedy));
}

std::optional<int> read_integer(Bytes text) noexcept {
  while (!text.empty() && detail::is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && detail::is_blank(text.back())) text.remove_suffix(1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, failure] = std::from_chars(text.data(), end, value);
  if (text.empty() || failure != std::errc() || behind != end) return std::nullopt;
  return value;
}

katana::Result<std::optional<int>> integer_of(const Settings& settings, Keyword keyword) {
  const auto text = settings.find(keyword);
  if (!text) return std::optional<int>();
  const auto value = read_integer(*text);
  if (!value) return wrong_value(settings, keyword, "it is a whole number");
  return value;
}

std::vector<Bytes> split_list(Bytes list) {
  std::vector<Bytes> parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.push_back(list.substr(0, comma));
    if (comma == Bytes::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
