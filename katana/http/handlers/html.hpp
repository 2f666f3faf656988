// Html: markup in which every value is escaped.
//
//   Html row(const User& user) {
//     return html(R"(<li><a href="/users/{}">{}</a></li>)", user.id, user.name);
//   }
//
//   Html page(const std::vector<User>& users) {
//     std::vector<Html> rows;
//     for (const User& user : users) rows.push_back(row(user));
//     return html("<!doctype html><title>Users</title><ul>{}</ul>", rows);
//   }
//   router.get("/users", [] { return page(all_users()); });      // text/html; charset=utf-8
//
// The pattern is a literal, and {} stands for the next argument ({{ and }} for braces). The
// compiler reads it: {} may stand only in text and in quoted attributes, where escaping makes any
// value harmless. These do not compile:
// - {} as a name, in an attribute without quotes, in a comment, in <script> or <style>, or in on…
//   and style attributes
// - a URL attribute that begins with {}, unless the argument is a SafeUrl
// - markup in an attribute
// - a tag without an end
//
// An argument is text, a number, a bool, a described enumeration, a type with a TextForm, SafeUrl,
// Html or std::vector<Html>. The last two are not escaped again. Html::raw() trusts its argument.
//
// Owns       its markup.
// Thread     a value.
// Allocates  the result.
// Fails      never at run time.
// Invariant  a value begins no tag, ends no attribute, and is no character reference.
#pragma once

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/http/handlers/html_pattern.hpp"
#include "katana/http/handlers/reply.hpp"

namespace katana {

// Writes & < > " ' as character references, for text between tags and in quoted attributes. Not for
// text in <script> or <style>, in an attribute without quotes, or for the scheme of a URL.
std::string escape_html(Bytes text);
void append_html(std::string& to, Bytes text);

class Html {
 public:
  Html() noexcept = default;
  // Uses `markup` as it is. It must come from the program, never from a user.
  static Html raw(std::string markup) { return Html(std::move(markup)); }

  // The markup that is sent.
  const std::string& markup() const noexcept KATANA_VIEW { return markup_; }
  Html& operator+=(const Html& more) {
    markup_ += more.markup_;
    return *this;
  }
  // Lets a handler return it.
  operator Reply() const { return Reply::html(Text(markup_)); }

 private:
  explicit Html(std::string markup) noexcept : markup_(std::move(markup)) {}
  std::string markup_;
};

// A URL that cannot run a script: relative, or of http, https, mailto or tel; "#" instead of any
// other.
class SafeUrl {
 public:
  explicit SafeUrl(Bytes url);
  // The URL, not yet escaped for HTML.
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

namespace detail {

template <class T>
inline constexpr bool is_html = std::same_as<T, Html> || std::same_as<T, std::vector<Html>>;

template <class T>
consteval HtmlArgument html_argument() {
  return is_html<T>                 ? HtmlArgument::markup
         : std::same_as<T, SafeUrl> ? HtmlArgument::url
                                    : HtmlArgument::value;
}

// The approximate number of bytes that an argument becomes.
template <class T>
std::size_t html_octets(const T& argument) noexcept {
  if constexpr (std::same_as<T, Html>) {
    return argument.markup().size();
  } else if constexpr (std::same_as<T, std::vector<Html>>) {
    std::size_t octets = 0;
    for (const Html& each : argument) octets += each.markup().size();
    return octets;
  } else if constexpr (std::convertible_to<const T&, Bytes>) {
    const std::size_t octets = Bytes(argument).size();
    return octets + octets / 8;
  } else {
    return 16;
  }
}

template <class T>
void append_html_argument(std::string& to, const T& argument) {
  if constexpr (std::same_as<T, Html>) {
    to += argument.markup();
  } else if constexpr (std::same_as<T, std::vector<Html>>) {
    for (const Html& each : argument) to += each.markup();
  } else if constexpr (std::same_as<T, SafeUrl>) {
    append_html(to, argument.text());
  } else if constexpr (std::convertible_to<const T&, Bytes>) {
    append_html(to, argument);
  } else if constexpr (std::same_as<T, Text>) {
    append_html(to, argument.bytes());
  } else if constexpr (DescribedEnum<T>) {
    append_html(to, enumerator_name(argument));
  } else if constexpr (TextFormed<T>) {
    append_html(to, TextForm<T>::write(argument));
  } else {
    static_assert(
        std::is_arithmetic_v<T>,
        "a value in html() is text, a number, a bool, a described enumeration, a type with "
        "a katana::TextForm, SafeUrl, Html or std::vector<Html>");
    if constexpr (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>) {
      std::array<char, 24> digits;
      const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), argument);
      to.append(digits.data(), written.ptr);
    } else {
      to += fmt::format("{}", argument);
    }
  }
}

// The text of a pattern as it is written, but for `{{` and `}}`.
void append_literal(std::string& to, Bytes literal, bool has_doubled_braces);

}  // namespace detail

// A literal that fits these arguments.
template <class... A>
class HtmlPattern {
 public:
  template <std::size_t size>
  consteval HtmlPattern(const char (&text)[size]) : text_(text, size - 1) {  // NOLINT: implicit
    detail::HtmlScanner scanner(text_);
    ((scanner.take_argument(detail::html_argument<A>())), ...);
    scanner.finish();
    find_literals();
  }
  // The pattern as it was written.
  constexpr Bytes text() const noexcept { return text_; }
  // The text before the argument of that number; the last one is behind all arguments.
  constexpr Bytes literal(std::size_t number) const noexcept {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1] + 2;
    return text_.substr(begin, ends_[number] - begin);
  }
  constexpr bool has_doubled_braces() const noexcept { return has_doubled_braces_; }

 private:
  consteval void find_literals() {
    std::size_t number = 0;
    for (std::size_t at = 0; at < text_.size(); ++at) {
      if (text_[at] != '{' && text_[at] != '}') continue;
      if (text_.substr(at, 2) == "{}") {
        ends_[number++] = at;
      } else {
        has_doubled_braces_ = true;
      }
      ++at;
    }
    ends_[number] = text_.size();
  }

  Bytes text_;
  std::array<std::size_t, sizeof...(A) + 1> ends_{};
  bool has_doubled_braces_ = false;
};

// Returns the pattern with each `{}` replaced by its argument, escaped for its place. A pattern
// with a place that is not safe for a value does not compile.
template <class... A>
Html html(HtmlPattern<std::type_identity_t<A>...> pattern, const A&... arguments) {
  std::string markup;
  markup.reserve((pattern.text().size() + ... + detail::html_octets(arguments)));
  const bool doubled = pattern.has_doubled_braces();
  std::size_t number = 0;
  ((detail::append_literal(markup, pattern.literal(number++), doubled),
    detail::append_html_argument(markup, arguments)),
   ...);
  detail::append_literal(markup, pattern.literal(number), doubled);
  return Html::raw(std::move(markup));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
