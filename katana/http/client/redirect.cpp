#include "katana/http/client/redirect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/secret_names.hpp"

namespace katana::client {
namespace {

constexpr std::array<Bytes, 4> about_content = {"Content-Type", "Content-Encoding",
                                                "Content-Language", "Content-Location"};

bool is_any_of(const auto& names, Bytes name) {
  return std::ranges::any_of(names,
                             [&](Bytes each) { return http::equals_ignoring_case(each, name); });
}

bool has_scheme(Bytes reference) {
  const std::size_t end = reference.find_first_of(":/?#");
  return end != Bytes::npos && end > 0 && reference[end] == ':';
}

// RFC 3986 §5.2.4, without decoding: the server interprets escapes.
std::string without_dot_segments(Bytes path) {
  std::string made;
  while (!path.empty()) {
    const std::size_t end = path.find('/', 1);
    const Bytes segment = path.substr(0, end);  // with the slash before it
    const bool is_last = end == Bytes::npos;
    path = is_last ? Bytes() : path.substr(end);
    const bool climbs = segment == "/..";
    if (climbs) made.erase(std::min(made.rfind('/'), made.size()));
    if (!climbs && segment != "/.") {
      made.append(segment);
    } else if (is_last) {
      made.push_back('/');
    }
  }
  return made;
}

// Percent-encodes the characters of a reference that need it, as browsers and other clients do. The
// host is left as it is: this code cannot know how a host name is to be encoded.
std::string with_escapes(const std::string& url) {
  const std::size_t authority = url.find("//");
  if (authority == std::string::npos) return url;
  const std::size_t begin = std::min(url.find_first_of("/?#", authority + 2), url.size());
  std::string made = url.substr(0, begin);
  for (const char c : Bytes(url).substr(begin)) {
    if (c == '#' || http::is(c, http::target_character)) {
      made += c;
    } else {
      made += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return made;
}

Result<void> check_target(const Url& from, const Url& to, Bytes text,
                          const HttpClientOptions& options) {
  if (!from.origin.secure || to.origin.secure || options.redirects_to_plaintext) return {};
  return fail(Code::permission_denied,
              fmt::format("redirect from https to {:?} refused: the request would be sent in "
                          "plaintext; set redirects_to_plaintext to allow it",
                          shown_url(text, 200)));
}

}  // namespace

bool is_redirect(unsigned status) noexcept {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string resolve_reference(const Url& base, Bytes reference) {
  if (has_scheme(reference)) return std::string(reference);
  const std::string scheme = base.origin.secure ? "https:" : "http:";
  if (reference.starts_with("//")) return scheme + std::string(reference);
  const std::string root = scheme + "//" + base.authority;
  const Bytes target = base.target;
  const Bytes path = target.substr(0, target.find('?'));
  if (reference.empty() || reference[0] == '#') return root + std::string(target);
  if (reference[0] == '?') return root + std::string(path) + std::string(reference);
  const std::size_t end = std::min(reference.find_first_of("?#"), reference.size());
  const Bytes rest = reference.substr(end);
  std::string whole(reference.substr(0, end));
  if (whole[0] != '/') whole.insert(0, path.substr(0, path.rfind('/') + 1));
  return root + without_dot_segments(whole) + std::string(rest);
}

Result<void> follow_redirect(Request& request, const Url& from, unsigned status, Bytes location,
                             const HttpClientOptions& options) {
  std::string text = with_escapes(resolve_reference(from, location));
  auto to = parse_url(text);
  if (!to) return std::unexpected(to.error().within("redirect"));
  if (auto right = check_target(from, *to, text, options); !right) return right;

  const bool becomes_get = status == 303
                               ? request.method() != "HEAD"
                               : (status == 301 || status == 302) && request.method() == "POST";
  const bool is_foreign = to->origin != from.origin;
  const auto is_dropped = [&](const Request::Field& field) {
    if (becomes_get && is_any_of(about_content, field.name)) return true;
    return is_foreign &&
           (http::is_secret_field(field.name) || is_any_of(options.secret_fields, field.name) ||
            is_any_of(request.secret_fields(), field.name) ||
            http::equals_ignoring_case(field.name, "Host"));
  };
  request.follow(std::move(text), becomes_get, is_dropped);
  return {};
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
