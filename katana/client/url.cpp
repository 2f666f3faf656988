#include "katana/client/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

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

// Splits off the port, and the brackets of `host`. False: no host, or one with escapes.
bool split_authority(Bytes authority, Bytes& host, Bytes& port) {
  const std::size_t bracket = authority.find(']');
  const std::size_t colon = authority.find(':', bracket == Bytes::npos ? std::size_t{0} : bracket);
  host = authority.substr(0, colon);
  port = colon == Bytes::npos ? Bytes() : authority.substr(colon + 1);
  if (bracket != Bytes::npos) {
    host = host.substr(1, bracket - 1);
    return http::all_are(host, http::host_character) || host.find(':') != Bytes::npos;
  }
  return !host.empty() && http::all_are(host, http::plain_host_character);
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
  Bytes host, port;
  if (!http::valid_authority(split->authority) || !split_authority(split->authority, host, port)) {
    return wrong(whole, "has no valid host");
  }
  if (!http::all_are(split->path, http::target_character) ||
      !http::all_are(split->query, http::target_character)) {
    return wrong(whole, "has a character that must be percent-encoded (a space is %20)");
  }
  url.origin.host.assign(host);
  std::ranges::transform(url.origin.host, url.origin.host.begin(), http::to_lower);
  const std::uint16_t implied = url.origin.secure ? https_port : http_port;
  url.origin.port = implied;
  if (!port.empty()) {
    std::from_chars(port.data(), port.data() + port.size(), url.origin.port);
    if (url.origin.port == 0) return wrong(whole, "has port 0");
  }
  url.authority = bracketed(url.origin.host);
  if (url.origin.port != implied) url.authority += ":" + std::to_string(url.origin.port);
  url.target.assign(split->path.empty() ? Bytes("/") : split->path);
  if (split->has_query) url.target.append("?").append(split->query);
  return url;
}

}  // namespace katana::client
