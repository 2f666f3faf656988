#include "katana/http/client/url.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/values/ip_address.hpp"
#include "katana/base/values/network.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/secret_names.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::client {
namespace {

constexpr std::uint16_t http_port = 80, https_port = 443;

std::unexpected<Error> wrong(Bytes url, const char* what) {
  return fail(Code::invalid_argument,
              fmt::format("URL {:?} {}; expected http://host:port/path?query, or https",
                          shown_url(url, 200), what));
}

// A malformed name may be one.
bool is_credential(Bytes encoded) {
  if (!http::needs_form_decoding(encoded)) return http::is_secret_parameter(encoded);
  std::string name(encoded);
  const auto size = http::decode_form(encoded, name);
  return !size || http::is_secret_parameter(Bytes(name).substr(0, *size));
}

// In the form of a URL.
std::string bracketed(const std::string& host) {
  return host.find(':') != std::string::npos ? "[" + host + "]" : host;
}

}  // namespace

std::string Origin::text() const {
  return fmt::format("{}://{}:{}", secure ? "https" : "http", bracketed(host), port);
}

std::string shown_url(Bytes url, std::size_t bytes_max) {
  const std::size_t mark = std::min(url.find('?'), url.size());
  std::string shown(url.substr(0, mark));
  const std::size_t authority = shown.find("://");
  if (authority != std::string::npos) {
    const std::size_t begin = authority + 3;
    const std::size_t at = shown.substr(0, shown.find('/', begin)).rfind('@');
    const std::size_t colon = shown.find(':', begin);
    if (at != std::string::npos && colon < at) shown.replace(colon + 1, at - colon - 1, "***");
  }
  Bytes rest = url.substr(mark);
  while (!rest.empty()) {
    shown += rest.front();  // "?" or "&"
    rest.remove_prefix(1);
    const Bytes pair = rest.substr(0, rest.find('&'));
    const std::size_t equals = pair.find('=');
    const bool hides = equals != Bytes::npos && is_credential(pair.substr(0, equals));
    shown.append(hides ? pair.substr(0, equals + 1) : pair);
    if (hides) shown += "***";
    rest.remove_prefix(pair.size());
  }
  if (shown.size() > bytes_max) shown.resize(bytes_max);
  return shown;
}

bool is_this_machine(const Origin& origin) noexcept {
  const Bytes host = origin.host;
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  const auto address = IpAddress::parse(host);
  if (!address) return false;
  const Network loopback_v4(IpAddress::v4(0x7f000000), 8);
  const Network loopback_v6(IpAddress::of_words(0, 1), 128);
  return loopback_v4.contains(*address) || loopback_v6.contains(*address);
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
