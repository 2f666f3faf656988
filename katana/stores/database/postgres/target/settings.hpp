// Settings: the values of keywords, as texts, each with the source that it came from.
//
// Owns       the values. Each is overwritten when it goes, because some are passwords.
// Thread     a value; move-only.
// Allocates  one text for each value.
// Fails      never.
// Invariant  a value that exists is not replaced by set_if_absent().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/stores/database/postgres/target/keywords.hpp"

namespace katana::database::postgres::target {

// The source of a value, in the order of their precedence.
enum class Origin : std::uint8_t {
  // The string itself, the file of its service, and the variables of the process.
  connection_string,
  service_file,
  environment,
  fallback,  // the table of keywords
};

class Settings {
 public:
  // The value, valid until it is replaced; nothing: no source has one. An empty value is a value.
  std::optional<Bytes> find(Keyword keyword) const noexcept KATANA_VIEW;
  // The value, or an empty text.
  Bytes text(Keyword keyword) const noexcept KATANA_VIEW;
  // The source of the value. REQUIRES that there is one.
  Origin origin(Keyword keyword) const noexcept;
  // "sslmode", or "sslmode (of PGSSLMODE)": the keyword for an error message.
  std::string describe(Keyword keyword) const;

  // Stores a value in place of an earlier one.
  void set(Keyword keyword, Bytes value, Origin origin);
  // As set(), unless there is a value.
  void set_if_absent(Keyword keyword, Bytes value, Origin origin);

 private:
  struct Value {
    SecretText text;
    Origin origin = Origin::fallback;
  };

  const std::optional<Value>& at(Keyword keyword) const noexcept {
    return values_[static_cast<std::size_t>(keyword)];
  }

  std::array<std::optional<Value>, keyword_count> values_;
};

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
