// PublicSuffixes: the list of domains below which everybody may register a name ("com", "co.uk",
// "github.io"), in the format of publicsuffix.org. A cookie for such a domain would go to hosts of
// different owners.
//
// Owns       the rules.
// Thread     any; const once it is made.
// Allocates  at construction.
// Fails      read() names the file; parse() ignores lines that are no rule.
// Invariant  the suffix of a name without a rule is its last label. A list without rules is not
//            known(): a CookieJar then keeps every cookie only for its host.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::client {

class PublicSuffixes {
 public:
  // The path in the package `publicsuffix` of Debian and others.
  static constexpr const char* system_file = "/usr/share/publicsuffix/public_suffix_list.dat";

  // `text`: the list in the form of publicsuffix.org; lines that are no rules are ignored.
  static PublicSuffixes parse(Bytes text);
  // not_found: the file cannot be read. invalid_argument: it has no rule.
  static Result<PublicSuffixes> read(const std::string& file);
  // The list of system_file, read once for the process; not known() if the file is missing.
  static std::shared_ptr<const PublicSuffixes> system();

  // False: there is no list, or it is empty.
  bool known() const noexcept { return !rules_.empty(); }
  // Returns whether `domain` is a public suffix. It is in lower case, without a leading dot; labels
  // beyond ASCII are Punycode ("xn--…").
  bool contains(std::string_view domain) const;

 private:
  enum class Rule : unsigned char { plain, wildcard, exception };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };

  // A wildcard is stored at the name below which everything is a suffix.
  std::unordered_map<std::string, Rule, Hash, std::equal_to<>> rules_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
