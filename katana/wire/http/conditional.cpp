#include "katana/wire/http/conditional.hpp"

#include <optional>

#include "katana/wire/http/date.hpp"

namespace katana::http {
namespace {

constexpr Bytes weak_mark = "W/";

bool is_weak(Bytes tag) noexcept { return tag.starts_with(weak_mark); }
Bytes opaque(Bytes tag) noexcept { return is_weak(tag) ? tag.substr(2) : tag; }

// etagc, RFC 9110 §8.8.3.
bool is_tag_character(char c) noexcept {
  const auto value = static_cast<unsigned char>(c);
  return value == 0x21 || (value >= 0x23 && value != 0x7f);
}

enum class Listed : std::uint8_t { no_field, no, yes };

// Whether `tag` is in one of the fields of this name; "*" is every tag.
template <class Matches>
Listed find_tag(const Head& head, Bytes name, Bytes tag, Matches matches) noexcept {
  Listed found = Listed::no_field;
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (!equals_ignoring_case(head.name(index), name)) continue;
    if (head.value(index) == "*") return Listed::yes;
    found = Listed::no;
    Bytes each;
    for (EntityTagReader tags(head.value(index)); tags.next(each);) {
      if (matches(each, tag)) return Listed::yes;
    }
  }
  return found;
}

// Several fields of a name are one value with commas (§5.3), which is no date.
std::optional<std::int64_t> date_of(const Head& head, Bytes name) noexcept {
  const auto value = find_only(head, name);
  return value ? parse_date(*value) : std::nullopt;
}

// §13.2.1: the others neither select a representation nor change one.
bool has_conditions(Method method) noexcept {
  return method != Method::options && method != Method::trace && method != Method::connect;
}

}  // namespace

bool EntityTagReader::next(Bytes& tag) noexcept {
  while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == ',')) {
    rest_.remove_prefix(1);
  }
  const std::size_t quote = is_weak(rest_) ? weak_mark.size() : 0;
  std::size_t end = quote + 1;
  while (end < rest_.size() && is_tag_character(rest_[end])) ++end;
  if (end >= rest_.size() || rest_[quote] != '"' || rest_[end] != '"') {
    rest_ = {};
    return false;
  }
  tag = rest_.substr(0, end + 1);
  rest_.remove_prefix(end + 1);
  return true;
}

bool matches_strongly(Bytes left, Bytes right) noexcept {
  return !is_weak(left) && !left.empty() && left == right;
}

bool matches_weakly(Bytes left, Bytes right) noexcept {
  return !left.empty() && opaque(left) == opaque(right);
}

std::optional<Bytes> find_only(const Head& head, Bytes name) noexcept {
  std::optional<Bytes> found;
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (!equals_ignoring_case(head.name(index), name)) continue;
    if (found) return std::nullopt;
    found = head.value(index);
  }
  return found;
}

Condition evaluate_conditions(const Head& head, const Validators& now) noexcept {
  if (!has_conditions(head.method())) return Condition::proceed;
  const Listed match = find_tag(head, "If-Match", now.entity_tag, matches_strongly);
  if (match == Listed::no) return Condition::failed;
  if (match == Listed::no_field) {
    const auto since = date_of(head, "If-Unmodified-Since");
    if (since && now.modified_s && *now.modified_s > *since) return Condition::failed;
  }
  const bool is_read = head.method() == Method::get || head.method() == Method::head;
  const Listed none = find_tag(head, "If-None-Match", now.entity_tag, matches_weakly);
  if (none == Listed::yes) return is_read ? Condition::not_modified : Condition::failed;
  if (none == Listed::no_field && is_read) {
    const auto since = date_of(head, "If-Modified-Since");
    if (since && now.modified_s && *now.modified_s <= *since) return Condition::not_modified;
  }
  return Condition::proceed;
}

bool range_applies(const Head& head, const Validators& now) noexcept {
  if (!head.find("If-Range")) return true;
  const auto value = find_only(head, "If-Range");
  if (!value) return false;
  Bytes tag;
  if (EntityTagReader(*value).next(tag))
    return tag == *value && matches_strongly(tag, now.entity_tag);
  const auto since = parse_date(*value);
  return since && now.is_strong && now.modified_s == since;
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
