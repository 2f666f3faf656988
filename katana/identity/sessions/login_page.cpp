#include "katana/identity/sessions/login_page.hpp"

#include <algorithm>
#include <utility>

#include "katana/http/handlers/accept.hpp"
#include "katana/http/handlers/reply_fields.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::sessions {
namespace {

using katana::detail::PreparedReply;

constexpr std::size_t return_bytes_max = 2048;

bool is_path(Bytes path) noexcept {
  if (!path.starts_with('/') || path.starts_with("//")) return false;
  // Browsers take '\' for '/', and leave out tabs and line ends.
  return std::ranges::none_of(path, [](char c) {
    return c == '\\' || static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
  });
}

bool is_navigation(const RequestView& request) noexcept {
  if (request.method() != http::Method::get && request.method() != http::Method::head) return false;
  const auto mode = request.field("sec-fetch-mode");
  return (!mode || *mode == "navigate") && prefers_html(request.field("accept"));
}

bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
         c == '-' || c == '.' || c == '_' || c == '~';
}

void append_encoded(std::string& to, Bytes text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_unreserved(c)) {
      to += c;
      continue;
    }
    const auto value = static_cast<unsigned char>(c);
    to.append({'%', digits[value >> 4], digits[value & 15]});
  }
}

std::string location_of(const LoginPage& page, Bytes target) {
  std::string location = page.path;
  if (page.return_parameter.empty() || !is_path(target) || target.size() > return_bytes_max) {
    return location;
  }
  location += location.find('?') == std::string::npos ? '?' : '&';
  append_encoded(location, page.return_parameter);
  location += '=';
  append_encoded(location, target);
  return location;
}

void lead_to(const LoginPage& page, const RequestView& request, Reply& reply) {
  if (reply.status() != 401 || reply.invalid() || PreparedReply::is_head(reply)) return;
  const bool leads = is_navigation(request) && request.path() != Bytes(page.path);
  if (leads) {
    Reply redirect = Reply::redirect(location_of(page, request.target()));
    for_each_line(reply.fields(), [&](Bytes name, Bytes, Bytes line) {
      const bool is_challenge = http::equals_ignoring_case(name, "www-authenticate");
      if (!is_challenge) PreparedReply::append_fields(redirect, line);
    });
    if (!find_field(redirect.fields(), "Cache-Control")) {
      redirect.add_field("Cache-Control", "no-store");
    }
    if (reply.closes()) redirect.close();
    reply = std::move(redirect);
  }
  add_vary(reply, "Accept");
}

}  // namespace

Middleware login_page(LoginPage page) {
  Middleware middleware;
  middleware.phase = Phase::identity;
  if (!is_path(page.path) && !page.path.starts_with("https://")) {
    middleware.mistake = "login_page() has no path: give it one such as \"/login\"";
  }
  middleware.after = [page = std::move(page)](const RequestView& request, Reply& reply) {
    lead_to(page, request, reply);
  };
  return middleware;
}

Bytes safe_return_path(Bytes path) noexcept { return is_path(path) ? path : Bytes("/"); }

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
