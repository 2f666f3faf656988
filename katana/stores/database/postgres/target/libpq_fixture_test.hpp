// The values of a connection string by libpq's parser and by KATANA's, for tests that compare them.
//
//   keywords that are newer than this libpq    not compared
//   white space in a URL, before libpq 18      not compared: older ones took it as it is
//
// Owns       nothing.
// Thread     any.
#pragma once

#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "katana/stores/database/postgres/target/connection_string.hpp"

namespace katana::database::postgres::target::test {

using KeywordValues = std::map<std::string, std::string>;
using LibpqOptions = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

inline KeywordValues values_of(const PQconninfoOption* options) {
  KeywordValues values;
  for (; options != nullptr && options->keyword != nullptr; ++options) {
    if (options->val != nullptr) values[options->keyword] = options->val;
  }
  return values;
}

inline KeywordValues values_of(const Settings& settings) {
  KeywordValues values;
  for (const KeywordFacts& each : keywords()) {
    const auto value = settings.find(each.keyword);
    if (value) values[std::string(each.name)] = *value;
  }
  return values;
}

// Nothing: the string is refused.
inline std::optional<KeywordValues> parse_by_libpq(const std::string& text) {
  char* error = nullptr;
  const LibpqOptions options(PQconninfoParse(text.c_str(), &error), &PQconninfoFree);
  if (error != nullptr) PQfreemem(error);
  if (!options) return std::nullopt;
  return values_of(options.get());
}

inline std::optional<KeywordValues> parse_by_katana(const std::string& text) {
  const auto settings = parse(text);
  if (!settings) return std::nullopt;
  return values_of(*settings);
}

inline int libpq_major() { return PQlibVersion() / 10'000; }

inline bool is_known_to_libpq(Keyword keyword) { return facts_of(keyword).since <= libpq_major(); }

// False for the exceptions above.
inline bool is_comparable(const std::string& text) {
  if (text.find('\0') != std::string::npos) return false;
  if (text.size() > connection_string_bytes_max) return false;
  const bool has_blank = std::ranges::any_of(text, detail::is_blank);
  if (is_url(text) && has_blank && libpq_major() < 18) return false;
  const auto settings = parse(text);
  return !settings || std::ranges::none_of(keywords(), [&](const KeywordFacts& each) {
    return settings->find(each.keyword) && !is_known_to_libpq(each.keyword);
  });
}

}  // namespace katana::database::postgres::target::test

// SPDX-License-Identifier: Apache-2.0
