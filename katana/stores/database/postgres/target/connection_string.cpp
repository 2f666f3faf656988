#include "katana/stores/database/postgres/target/connection_string.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "katana/base/system/propagate.hpp"
#include "katana/base/text/nearest_name.hpp"

namespace katana::database::postgres::target {
namespace {

std::unexpected<katana::Error> wrong_string(std::string what) {
  return katana::fail(Code::invalid_argument, "the connection string " + std::move(what));
}

// Reads "name = value" pairs from left to right.
class PairReader {
 public:
  explicit PairReader(Bytes text) : text_(text) {}

  bool is_at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  // The byte that is next, counted from 1.
  std::size_t position() const { return at_ + 1; }

  katana::Result<Bytes> read_name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '=' && !detail::is_blank(text_[at_])) ++at_;
    const Bytes name = text_.substr(start, at_ - start);
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != '=') {
      return wrong_string(
          fmt::format("has no '=' behind the word at byte {}: write KEYWORD=VALUE, and "
                      "quote a value that has blanks with '",
                      start + 1));
    }
    ++at_;
    return name;
  }

  katana::Result<SecretText> read_value() {
    skip_blanks();
    std::string value;
    value.reserve(text_.size() - at_);  // no growth leaves a copy of a password behind
    const bool is_quoted = at_ < text_.size() && text_[at_] == '\'';
    const std::size_t start = at_;
    if (is_quoted) ++at_;
    const bool is_whole = is_quoted ? read_quoted(value) : read_plain(value);
    SecretText made(value);
    erase_secret(value);
    if (is_whole) return made;
    return wrong_string(
        fmt::format("has no ' that ends the quoted value at byte {}: add it, and write \\' for "
                    "a ' within the value",
                    start + 1));
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && detail::is_blank(text_[at_])) ++at_;
  }
  // A backslash makes the next byte a part of the value. As the last byte it is dropped.
  void read_byte(std::string& value) {
    if (text_[at_] == '\\') ++at_;
    if (at_ < text_.size()) value += text_[at_++];
  }
  bool read_plain(std::string& value) {
    while (at_ < text_.size() && !detail::is_blank(text_[at_])) read_byte(value);
    return true;
  }
  bool read_quoted(std::string& value) {
    while (at_ < text_.size() && text_[at_] != '\'') read_byte(value);
    return at_++ < text_.size();
  }

  Bytes text_;
  std::size_t at_ = 0;
};

bool looks_like_keyword(Bytes name) {
  constexpr std::size_t bytes_max = 40;
  return !name.empty() && name.size() <= bytes_max && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string hint_for(Bytes name) {
  std::array<std::string_view, keyword_count> names;
  std::ranges::transform(keywords(), names.begin(), &KeywordFacts::name);
  return nearest_hint(name, names);
}

}  // namespace

bool is_url(Bytes text) noexcept {
  return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

katana::Result<Settings> parse(Bytes text) {
  if (text.size() > connection_string_bytes_max) {
    return wrong_string(
        fmt::format("has {} bytes: at most {} are read", text.size(), connection_string_bytes_max));
  }
  if (text.find('\0') != Bytes::npos) return wrong_string("has a zero byte: remove it");
  return is_url(text) ? detail::parse_url(text) : detail::parse_pairs(text);
}

namespace detail {

katana::Result<Settings> parse_pairs(Bytes text) {
  Settings settings;
  PairReader reader(text);
  while (!reader.is_at_end()) {
    const std::size_t position = reader.position();
    KATANA_TRY(const Bytes name, reader.read_name());
    KATANA_TRY(const SecretText value, reader.read_value());
    if (store(settings, name, value.reveal())) continue;
    // A blank in a password that is not quoted makes a word of its second part.
    const bool may_be_secret =
        settings.find(Keyword::password) || settings.find(Keyword::sslpassword);
    return wrong_string("has " + describe_unknown(name, position, may_be_secret));
  }
  return settings;
}

bool store(Settings& settings, Bytes name, Bytes value) {
  constexpr Origin origin = Origin::connection_string;
  if (name == "requiressl") {
    settings.set(Keyword::sslmode, value.starts_with('1') ? "require" : "prefer", origin);
    return true;
  }
  const auto keyword = find_keyword(name);
  if (keyword) settings.set(*keyword, value, origin);
  return keyword.has_value();
}

std::string describe_unknown(Bytes name, std::size_t position, bool may_be_secret) {
  if (may_be_secret || !looks_like_keyword(name)) {
    return fmt::format(
        "an unknown keyword at byte {}: quote or encode a value that continues there", position);
  }
  return fmt::format("the unknown keyword '{}'{}", name, hint_for(name));
}

}  // namespace detail
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
