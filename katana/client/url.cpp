#include "katana/client/url.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::client {
namespace {

constexpr std::uint16_t http_port = 80, https_port = 443;

std::unexpected<Error> wrong(Bytes url, const char* what) {
  return fail(Code::invalid_argument,
              fmt::format("URL {:?} {}; expected http://host:port/path?query, or https",
                          url.substr(0, 200), what));
}

// In the form of a URL.
std::string bracketed(const std::string& host) {
  return host.find(':') != std::string::npos ? "[" + host + "]" : host;
}

}  // namespace

std::string Origin::text() const {
  return fmt::format("{}://{}:{}", secure ? "https" : "http", bracketed(host), port);
}

Result<Url> parse_url(Bytes text) {
  const Bytes whole = text;
  text = text.substr(0, text.find('#'));
  const auto split = http::split_target(text, http::Method::get);
  if (!split || split->form != http::TargetForm::absolute) return wrong(whole, "is not absolute");
  Url url;
  url.origin.secure = http::equals_ignoring_case(split->scheme, "https");
  if (!url.origin.secure && !http::equals_ignoring_case(split->scheme, "http")) {
    return wrong(whole, "has a scheme other than http and https");
  }
  const auto authority = http::split_authority(split->authority);
  const bool named =
      authority && !authority->host.empty() &&
      (authority->bracketed || http::all_are(authority->host, http::plain_host_character));
  if (!named) return wrong(whole, "has no valid host");
  if (!http::all_are(split->path, http::target_character) ||
      !http::all_are(split->query, http::target_character)) {
    return wrong(whole, "has a character that must be percent-encoded (a space is %20)");
  }
  url.origin.host.assign(authority->host);
  std::ranges::transform(url.origin.host, url.origin.host.begin(), http::to_lower);
  const std::uint16_t implied = url.origin.secure ? https_port : http_port;
  url.origin.port = authority->port.value_or(implied);
  if (url.origin.port == 0) return wrong(whole, "has port 0");
  url.authority = bracketed(url.origin.host);
  if (url.origin.port != implied) url.authority += ":" + std::to_string(url.origin.port);
  url.target.assign(split->path.empty() ? Bytes("/") : split->path);
  if (split->has_query) url.target.append("?").append(split->query);
  return url;
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
