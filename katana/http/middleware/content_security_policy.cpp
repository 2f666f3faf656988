#include "katana/http/middleware/content_security_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "katana/wire/http/characters.hpp"

namespace katana {
namespace {

constexpr std::array<Bytes, 16> directive_names = {
    "default-src", "script-src",  "style-src",       "img-src",
    "font-src",    "connect-src", "media-src",       "object-src",
    "frame-src",   "child-src",   "worker-src",      "manifest-src",
    "base-uri",    "form-action", "frame-ancestors", "upgrade-insecure-requests"};
constexpr std::array<Bytes, 9> keywords = {
    "'self'",          "'none'",        "'nonce'",         "'strict-dynamic'",
    "'unsafe-inline'", "'unsafe-eval'", "'unsafe-hashes'", "'wasm-unsafe-eval'",
    "'report-sample'"};
constexpr Bytes nonce_keyword = "'nonce'";

bool are_all_of(Bytes text, Bytes more) noexcept {
  return std::ranges::all_of(text, [more](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           more.find(c) != Bytes::npos;
  });
}

// hash-source: 'sha256-…' with base64 in it.
bool is_hash(Bytes text) noexcept {
  if (text.size() < 3 || !text.ends_with('\'')) return false;
  const bool is_known =
      text.starts_with("'sha256-") || text.starts_with("'sha384-") || text.starts_with("'sha512-");
  return is_known && text.size() > 9 && are_all_of(text.substr(8, text.size() - 9), "+/=-_");
}

bool is_source(Bytes text) noexcept {
  if (text.starts_with('\'')) {
    return std::ranges::find(keywords, text) != keywords.end() || is_hash(text);
  }
  return !text.empty() && text.size() <= 512 && are_all_of(text, ".-_*:/%~");
}

std::optional<CspDirective> directive_of(Bytes name) noexcept {
  const auto* const found = std::ranges::find_if(
      directive_names, [name](Bytes each) { return http::equals_ignoring_case(each, name); });
  if (found == directive_names.end()) return std::nullopt;
  return static_cast<CspDirective>(found - directive_names.begin());
}

// Takes the next word off the front; empty: there is none.
Bytes take_word(Bytes& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const Bytes word = text.substr(0, text.find_first_of(" \t\r\n"));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

ContentSecurityPolicy ContentSecurityPolicy::strict() {
  ContentSecurityPolicy policy;
  policy.allow(CspDirective::default_src, {CspSource::self()})
      .allow(CspDirective::object_src, {CspSource::none()})
      .allow(CspDirective::base_uri, {CspSource::none()})
      .allow(CspDirective::form_action, {CspSource::self()})
      .allow(CspDirective::frame_ancestors, {CspSource::none()});
  return policy;
}

Result<ContentSecurityPolicy> ContentSecurityPolicy::parse(Bytes text) {
  ContentSecurityPolicy policy;
  while (!text.empty()) {
    Bytes words = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(words.size() + 1, text.size()));
    const Bytes name = take_word(words);
    if (name.empty()) continue;
    const auto directive = directive_of(name);
    if (!directive) {
      return fail(Code::invalid_argument,
                  fmt::format("content security policy: '{}' is no directive that is known here; "
                              "they are {}",
                              name, fmt::join(directive_names, ", ")));
    }
    if (std::ranges::find(policy.directives_, *directive,
                          &decltype(policy.directives_)::value_type::first) !=
        policy.directives_.end()) {
      return fail(Code::invalid_argument,
                  fmt::format("content security policy: {} stands there twice, and browsers take "
                              "the first alone; put the sources into one",
                              name));
    }
    policy.allow(*directive, {});
    for (Bytes word = take_word(words); !word.empty(); word = take_word(words)) {
      policy.add(*directive, std::string(word));
    }
  }
  if (!policy.mistake_.empty()) return fail(Code::invalid_argument, policy.mistake_);
  return policy;
}

ContentSecurityPolicy& ContentSecurityPolicy::allow(CspDirective directive,
                                                    std::initializer_list<CspSource> sources) {
  if (std::ranges::find(directives_, directive, &decltype(directives_)::value_type::first) ==
      directives_.end()) {
    directives_.emplace_back(directive, std::vector<std::string>());
  }
  for (const CspSource& source : sources) add(directive, source.text());
  return *this;
}

void ContentSecurityPolicy::add(CspDirective directive, std::string source) {
  const Bytes name = directive_names[static_cast<std::size_t>(directive)];
  if (!is_source(source)) {
    if (mistake_.empty()) {
      mistake_ = fmt::format(
          "content security policy: '{}' of {} is no source; take a keyword in single quotes "
          "('self', 'nonce', …), a scheme with its colon, a host, or 'sha256-…'",
          source, name);
    }
    return;
  }
  if (directive == CspDirective::upgrade_insecure_requests) {
    if (mistake_.empty())
      mistake_ = fmt::format("content security policy: {} has no sources", name);
    return;
  }
  auto& list =
      std::ranges::find(directives_, directive, &decltype(directives_)::value_type::first)->second;
  if (source == "'none'") list.clear();
  std::erase(list, "'none'");
  if (std::ranges::find(list, source) == list.end()) list.push_back(std::move(source));
}

bool ContentSecurityPolicy::has_nonce() const noexcept {
  return std::ranges::any_of(directives_, [](const auto& each) {
    return std::ranges::find(each.second, nonce_keyword) != each.second.end();
  });
}

std::vector<std::string> ContentSecurityPolicy::parts() const {
  std::vector<std::string> parts(1);
  for (const auto& [directive, sources] : directives_) {
    if (&directive != &directives_.front().first) parts.back() += "; ";
    parts.back() += directive_names[static_cast<std::size_t>(directive)];
    for (const std::string& source : sources) {
      if (source == nonce_keyword) {
        parts.back() += " 'nonce-";
        parts.emplace_back("'");
      } else {
        parts.back().append(" ").append(source);
      }
    }
  }
  return parts;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
