// Parameters in other styles than one name for each value, as OpenAPI has them:
//
//   SplitQuery<T>, SplitHeader<T>, SplitCookie<T>
//                                   lists that katana_separators() names
//                                   (base/values/separators.hpp) come in one text: ?ids=1,2
//   StyledPath<T, style, explode>   a segment .1.2 or ;id=1,2, or a list: 1,2
//   IfSent<P>                       content that may be left out: IfSent<Json<T>>
//
// Everything else is as in extract.hpp, head_fields.hpp and json.hpp. `katana openapi generate`
// writes such parameters.
//
// Owns       its values.
// Thread     its reactor's.
// Allocates  what the members need.
// Fails      400 with the parameter's name, the expected and the received value.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/separators.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/head_fields.hpp"

namespace katana {

// The query as the members of T; lists are split.
template <Described T>
struct SplitQuery {
  T value;  // the value that was read
};
// Header fields as the members of T; lists are split.
template <Described T>
struct SplitHeader {
  T value;  // the value that was read
};
// Cookies as the members of T; lists are split.
template <Described T>
struct SplitCookie {
  T value;  // the value that was read
};

// How a segment is written: 3,4 or .3.4 or ;name=3,4.
enum class SegmentStyle : std::uint8_t { simple, label, matrix };

// The next {parameter} of the pattern, in that style: a value or a std::vector of values.
template <class T, SegmentStyle style, bool explode = false>
struct StyledPath {
  T value;  // the value that was read
};

namespace detail {

// The value of IfSent<P>. It is all of P where the media type counts (base/values/content_of.hpp).
template <class P>
struct SentBy {
  using Type = decltype(P::value);
  static Type take(P&& content) { return std::move(content.value); }
};
template <class P>
  requires requires { &P::type; }
struct SentBy<P> {
  using Type = P;
  static P take(P&& content) { return std::move(content); }
};

}  // namespace detail

// A body that may be left out. Empty without body and Content-Type, otherwise as P.
template <class P>
struct IfSent {
  std::optional<typename detail::SentBy<P>::Type> value;  // empty: there was no body
};

namespace detail {

// Returns the first piece of `rest`, and removes it with the separator. An escaped separator counts
// where it must be escaped: "%20", "+", "%7C", "%09"; a comma only as it is.
Bytes cut_item(Bytes& rest, char separator, bool& more) noexcept;

inline Bytes trimmed_item(Bytes item) noexcept {
  while (item.starts_with(' ') || item.starts_with('\t')) item.remove_prefix(1);
  while (item.ends_with(' ') || item.ends_with('\t')) item.remove_suffix(1);
  return item;
}

// The names and values of a query; the items of a list with a separator come one after another.
template <class T>
class SplitQueryPairs {
 public:
  static constexpr const char* kind = "query parameter";
  explicit SplitQueryPairs(Bytes query) noexcept : reader_(query) {}

  bool next() {
    if (!more_) {
      if (!reader_.next(name_, rest_)) return false;
      separator_ = separator_of_name();
      if (separator_ == '\0') {
        raw_ = rest_;
        return true;
      }
    }
    raw_ = cut_item(rest_, separator_, more_);
    return true;
  }
  bool is(Bytes name) const { return is_form_name(name_, name); }
  Bytes shown_name() const noexcept { return name_; }
  template <class V>
  Result<V> value(Telling telling) const {
    const auto text = decoded_form(raw_);
    if (!text) return std::unexpected(not_decoded(raw_, telling));
    return parse_text<V>(text->bytes(), telling);
  }
  std::optional<Error> error() const noexcept { return std::nullopt; }

 private:
  char separator_of_name() const {
    for (const Separator& each : katana_separators(static_cast<const T*>(nullptr))) {
      if (is_form_name(name_, each.name)) return each.separator;
    }
    return '\0';
  }

  http::QueryReader reader_;
  Bytes name_, rest_, raw_;
  char separator_ = '\0';
  bool more_ = false;
};

// The same for header fields or cookies; P reads their pairs.
template <class T, class P>
class SplitPairs {
 public:
  static constexpr const char* kind = P::kind;
  explicit SplitPairs(const http::Head& head) noexcept : pairs_(head) {}

  bool next() {
    if (more_) {
      item_ = trimmed_item(cut_item(rest_, ',', more_));
      return true;
    }
    is_split_ = false;
    if (!pairs_.next()) return false;
    for (const Separator& each : katana_separators(static_cast<const T*>(nullptr))) {
      if (!pairs_.is(each.name)) continue;
      is_split_ = true;
      text_ = pairs_.template value<std::string>(Telling::nothing).value_or(std::string());
      rest_ = text_;
      item_ = trimmed_item(cut_item(rest_, ',', more_));
      break;
    }
    return true;
  }
  bool is(Bytes name) const { return pairs_.is(name); }
  Bytes shown_name() const noexcept { return pairs_.shown_name(); }
  template <class V>
  Result<V> value(Telling telling) const {
    if (!is_split_) return pairs_.template value<V>(telling);
    return parse_text<V>(item_, telling);
  }
  std::optional<Error> error() const noexcept { return std::nullopt; }

 private:
  P pairs_;
  std::string text_;
  Bytes rest_, item_;
  bool is_split_ = false;
  bool more_ = false;
};

template <class T>
struct Extractor<SplitQuery<T>> {
  static std::expected<SplitQuery<T>, Refusal> from(const RequestView& request, std::size_t) {
    return extract_pairs<SplitQuery<T>>(SplitQueryPairs<T>(request.query()));
  }
};
template <class T>
struct Extractor<SplitHeader<T>> {
  static std::expected<SplitHeader<T>, Refusal> from(const RequestView& request, std::size_t) {
    return extract_pairs<SplitHeader<T>>(SplitPairs<T, HeaderPairs>(request.head()));
  }
};
template <class T>
struct Extractor<SplitCookie<T>> {
  static std::expected<SplitCookie<T>, Refusal> from(const RequestView& request, std::size_t) {
    return extract_pairs<SplitCookie<T>>(SplitPairs<T, CookiePairs>(request.head()));
  }
};

// The items of a segment, still encoded; nothing if it is not in the style.
std::optional<std::vector<Bytes>> segment_items(Bytes segment, Bytes name, SegmentStyle style,
                                                bool explode, bool is_list);
// Its words do not repeat the name.
Error bad_segment(Bytes name, Bytes segment, SegmentStyle style);

template <class T, SegmentStyle style, bool explode>
inline constexpr bool is_path<StyledPath<T, style, explode>> = true;

template <class T, SegmentStyle style, bool explode>
struct Extractor<StyledPath<T, style, explode>> {
  static std::expected<StyledPath<T, style, explode>, Misfit> from(const RequestView& request,
                                                                   std::size_t index) {
    const PathParameter parameter = request.parameters()[index];
    const auto items =
        segment_items(parameter.value, parameter.name, style, explode, ListMember<T>);
    if (!items) {
      const Error words = bad_segment(parameter.name, parameter.value, style);
      return std::unexpected(path_misfit(request, index, words));
    }
    StyledPath<T, style, explode> path{};
    for (const Bytes item : *items) {
      auto parsed = parse_text<ItemOf<T>>(decoded_segment(item).bytes());
      if (!parsed) return std::unexpected(path_misfit(request, index, parsed.error()));
      if constexpr (ListMember<T>) {
        path.value.push_back(*std::move(parsed));
      } else {
        path.value = *std::move(parsed);
      }
    }
    return path;
  }

 private:
  template <class V>
  struct ItemType {
    using Type = V;
  };
  template <ListMember V>
  struct ItemType<V> {
    using Type = typename V::value_type;
  };
  template <class V>
  using ItemOf = typename ItemType<V>::Type;
};

template <class P>
inline constexpr bool wants_content<IfSent<P>> = true;

template <class P>
struct Extractor<IfSent<P>> {
  using Read = decltype(Extractor<P>::from(std::declval<const RequestView&>(), 0));
  static std::expected<IfSent<P>, typename Read::error_type> from(const RequestView& request,
                                                                  std::size_t index) {
    IfSent<P> content;
    if (request.content().empty() && !request.head().find("content-type")) return content;
    Read read = Extractor<P>::from(request, index);
    if (!read) return std::unexpected(std::move(read.error()));
    content.value = SentBy<P>::take(*std::move(read));
    return content;
  }
};

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
