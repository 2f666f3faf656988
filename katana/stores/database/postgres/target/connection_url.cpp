// The URL form of connection strings.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "katana/base/system/propagate.hpp"
#include "katana/stores/database/postgres/target/connection_string.hpp"

namespace katana::database::postgres::target::detail {
namespace {

std::unexpected<katana::Error> wrong(const std::string& what) {
  return katana::fail(
      Code::invalid_argument,
      fmt::format("the database URL {}: it is as postgresql://USER:PASSWORD@HOST:PORT/"
                  "DATABASE?NAME=VALUE",
                  what));
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The byte of "%4A", which is 1 to 255.
katana::Result<char> read_escape(Bytes escape, std::string_view part) {
  const int high = escape.size() < 3 ? -1 : digit_of(escape[1]);
  const int low = high < 0 ? -1 : digit_of(escape[2]);
  if (low < 0) {
    return wrong(fmt::format(
        "has a {} with a '%' that two hexadecimal digits do not follow (write %25 for '%')", part));
  }
  if (high == 0 && low == 0) return wrong(fmt::format("has a {} with %00, a zero byte", part));
  return static_cast<char>(high * 16 + low);
}

// Replaces percent escapes. `part` names the text in an error.
katana::Result<SecretText> decode(Bytes text, std::string_view part) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::string decoded;
  decoded.reserve(text.size());  // no growth leaves a copy of a password behind
  std::size_t at = 0;
  while (at < text.size() && !is_blank(text[at])) {
    char byte = text[at];
    if (byte == '%') {
      const auto escaped = read_escape(text.substr(at), part);
      if (!escaped) {
        erase_secret(decoded);
        return std::unexpected(escaped.error());
      }
      byte = *escaped;
      at += 2;
    }
    decoded += byte;
    ++at;
  }
  SecretText made(decoded);
  erase_secret(decoded);
  while (at < text.size() && text[at] == ' ') ++at;
  if (at < text.size()) {
    return wrong(fmt::format("has a {} with white space (write %20 for a space)", part));
  }
  return made;
}

class UrlReader {
 public:
  explicit UrlReader(Bytes url) : url_(url), at_(url.find("://") + 3) {}

  katana::Result<Settings> read() && {
    KATANA_TRY_DONE(read_login());
    KATANA_TRY_DONE(read_hosts());
    if (next() == '/') {
      ++at_;
      KATANA_TRY_DONE(set_part(Keyword::dbname, take_until("?"), "database"));
    }
    if (next() == '?') {
      ++at_;
      KATANA_TRY_DONE(read_parameters());
    }
    return std::move(settings_);
  }

 private:
  // The next byte; 0: the end.
  char next() const { return at_ < url_.size() ? url_[at_] : '\0'; }
  // The text before the next of these bytes.
  Bytes take_until(Bytes ends) {
    const std::size_t start = at_;
    at_ = std::min(url_.find_first_of(ends, at_), url_.size());
    return url_.substr(start, at_ - start);
  }
  // An empty part counts as none, so that the environment may have the value.
  katana::Result<void> set_part(Keyword keyword, Bytes text, std::string_view part) {
    if (text.empty()) return {};
    KATANA_TRY(const SecretText value, decode(text, part));
    settings_.set(keyword, value.reveal(), Origin::connection_string);
    return {};
  }

  katana::Result<void> read_login() {
    const std::size_t end = url_.find_first_of("@/", at_);
    if (end == Bytes::npos || url_[end] != '@') return {};
    has_login_ = true;
    const Bytes user = take_until(":@");
    KATANA_TRY_DONE(set_part(Keyword::user, user, "user"));
    if (next() == ':') {
      ++at_;
      KATANA_TRY_DONE(set_part(Keyword::password, take_until("@"), "password"));
    }
    ++at_;  // '@'
    return {};
  }

  katana::Result<Bytes> read_host() {
    if (next() != '[') return take_until(":/?,");
    ++at_;
    const Bytes host = take_until("]");
    if (next() != ']') return wrong("has an address with '[' and without ']'");
    if (host.empty()) return wrong("has no address between '[' and ']'");
    ++at_;
    if (next() != '\0' && Bytes(":/?,").find(next()) == Bytes::npos) {
      return wrong("has neither ':' nor '/' behind the ']' of an address");
    }
    return host;
  }

  katana::Result<void> read_hosts() {
    std::string hosts;
    std::string ports;
    while (true) {
      KATANA_TRY(const Bytes host, read_host());
      hosts += host;
      if (next() == ':') {
        ++at_;
        ports += take_until("/?,");
      }
      if (next() != ',') break;
      ++at_;
      hosts += ',';
      ports += ',';
    }
    KATANA_TRY_DONE(set_part(Keyword::host, hosts, "host"));
    return set_part(Keyword::port, ports, "port");
  }

  katana::Result<void> read_parameters() {
    while (at_ < url_.size()) {
      const std::size_t position = at_ + 1;
      const Bytes parameter = take_until("&");
      if (next() == '&') ++at_;
      const std::size_t equals = parameter.find('=');
      if (equals == Bytes::npos || parameter.find('=', equals + 1) != Bytes::npos) {
        return wrong(
            fmt::format("has a parameter at byte {} that is not NAME=VALUE (write %3D "
                        "for a '=' within a value)",
                        position));
      }
      KATANA_TRY(const SecretText name, decode(parameter.substr(0, equals), "parameter's name"));
      KATANA_TRY(const SecretText value, decode(parameter.substr(equals + 1), "parameter's value"));
      KATANA_TRY_DONE(add_parameter(name.reveal(), value.reveal(), position));
    }
    return {};
  }

  katana::Result<void> add_parameter(Bytes name, Bytes value, std::size_t position) {
    // The name that JDBC uses.
    if (name == "ssl" && value == "true") {
      settings_.set(Keyword::sslmode, "require", Origin::connection_string);
      return {};
    }
    if (store(settings_, name, value)) return {};
    // A password with '/' or '@' ends early, and its rest may stand here.
    const std::size_t first = url_.find('@');
    const bool may_be_secret =
        first != Bytes::npos && (!has_login_ || url_.find('@', first + 1) != Bytes::npos);
    return wrong("has " + describe_unknown(name, position, may_be_secret));
  }

  Bytes url_;
  std::size_t at_;
  bool has_login_ = false;  // an '@' ends the user and the password
  Settings settings_;
};

}  // namespace

katana::Result<Settings> parse_url(Bytes url) { return UrlReader(url).read(); }

}  // namespace katana::database::postgres::target::detail

// SPDX-License-Identifier: Apache-2.0
