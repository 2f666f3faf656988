// Readers of single values of settings: choices, numbers, lists.
//
// Owns       nothing.
// Thread     any.
// Allocates  errors, and the parts of lists.
// Fails      invalid_argument with the keyword, its source and the permitted values.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/postgres/target/settings.hpp"

namespace katana::database::postgres::target {

// The error "sslmode is 'x': …" of a keyword. Long values are cut.
std::unexpected<katana::Error> wrong_value(const Settings& settings, Keyword keyword,
                                           std::string_view remedy);
// The error of something that libpq has and KATANA does not.
std::unexpected<katana::Error> unsupported_value(const Settings& settings, Keyword keyword,
                                                 std::string_view remedy);

// A decimal integer of 32 bits, with white space around it, as strtol() reads it.
std::optional<int> read_integer(Bytes text) noexcept;
// The integer of a keyword; nothing: no source has the keyword.
katana::Result<std::optional<int>> integer_of(const Settings& settings, Keyword keyword);

// "a,b,c" in its parts; an empty text is one empty part.
std::vector<Bytes> split_list(Bytes list);

// The texts of a keyword, each with its value.
template <class T, std::size_t count>
using Choices = std::array<std::pair<std::string_view, T>, count>;

// One of the named values; `otherwise` if no source has the keyword.
template <class T, std::size_t count>
katana::Result<T> choice_of(const Settings& settings, Keyword keyword, T otherwise,
                            const Choices<T, count>& choices) {
  const auto value = settings.find(keyword);
  if (!value) return otherwise;
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (name == *value) return choice;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return wrong_value(settings, keyword, "it is one of " + names);
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
