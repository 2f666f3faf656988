#include "katana/wire/http/conditional.hpp"

#include <iterator>
#include <optional>

#include "katana/wire/http/content_coding.hpp"
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

constexpr Bytes field_names[] = {"If-Match", "If-None-Match", "If-Modified-Since",
                                 "If-Unmodified-Since"};

// Where conditions come from: `each(field, take)` shows the values of all lines of a field.
struct HeadLines {
  const Head& head;
  template <class Take>
  void each(ConditionField field, Take take) const {
    const Bytes name = field_names[static_cast<std::size_t>(field)];
    for (std::size_t index = 0; index < head.field_count(); ++index) {
      if (equals_ignoring_case(head.name(index), name)) take(head.value(index));
    }
  }
};
struct KeptLines {
  std::span<const ConditionLine> lines;
  template <class Take>
  void each(ConditionField field, Take take) const {
    for (const ConditionLine& line : lines) {
      if (line.field == field) take(line.value);
    }
  }
};

// Whether one tag is the other's version in a content coding.
bool is_coded_form(Bytes coded, Bytes tag) noexcept {
  if (tag.size() < 2 || is_weak(coded) || is_weak(tag)) return false;
  const Bytes stem = tag.substr(0, tag.size() - 1);
  if (!coded.starts_with(stem) || coded.size() < stem.size() + 2 || coded[stem.size()] != '+') {
    return false;
  }
  const Bytes name = coded.substr(stem.size() + 1, coded.size() - stem.size() - 2);
  const auto coding = coding_from(name);
  return coding && name == coding_name(*coding);
}

// Whether the present tag is in one of the lines of this field; "*" is every tag.
template <class Lines, class Matches>
Listed find_tag(const Lines& lines, ConditionField field, const Validators* now, Matches matches,
                Bytes* matched = nullptr) noexcept {
  Listed found = Listed::no_field;
  lines.each(field, [&](Bytes value) {
    if (found == Listed::yes) return;
    found = Listed::no;
    if (now == nullptr) return;
    if (value == "*") {
      found = Listed::yes;
      return;
    }
    Bytes each;
    for (EntityTagReader tags(value); found == Listed::no && tags.next(each);) {
      const bool is_coded = now->is_version && is_coded_form(each, now->entity_tag);
      if (!is_coded && !matches(each, now->entity_tag)) continue;
      if (matched != nullptr) *matched = each;
      found = Listed::yes;
    }
  });
  return found;
}

// Several fields of a name are one value with commas (§5.3), which is no date.
template <class Lines>
std::optional<std::int64_t> date_of(const Lines& lines, ConditionField field) noexcept {
  std::optional<Bytes> only;
  bool is_alone = true;
  lines.each(field, [&](Bytes value) {
    if (only) is_alone = false;
    only = value;
  });
  return only && is_alone ? parse_date(*only) : std::nullopt;
}

template <class Lines>
Condition evaluate(const Lines& lines, bool is_read, const Validators* now,
                   Bytes* matched = nullptr) noexcept {
  // In two words: g++ 12 takes an optional that is copied here for one that is not initialised.
  const bool is_dated = now != nullptr && now->modified_s.has_value();
  const std::int64_t modified_s = is_dated ? *now->modified_s : 0;
  const Listed match = find_tag(lines, ConditionField::if_match, now, matches_strongly);
  if (match == Listed::no) return Condition::failed;
  if (match == Listed::no_field) {
    const auto since = date_of(lines, ConditionField::if_unmodified_since);
    if (since && is_dated && modified_s > *since) return Condition::failed;
  }
  const Listed none = find_tag(lines, ConditionField::if_none_match, now, matches_weakly, matched);
  if (none == Listed::yes) return is_read ? Condition::not_modified : Condition::failed;
  if (none == Listed::no_field && is_read) {
    const auto since = date_of(lines, ConditionField::if_modified_since);
    if (since && is_dated && modified_s <= *since) return Condition::not_modified;
  }
  return Condition::proceed;
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

std::optional<ConditionField> condition_field(Bytes name) noexcept {
  for (std::size_t index = 0; index < std::size(field_names); ++index) {
    if (equals_ignoring_case(name, field_names[index])) return static_cast<ConditionField>(index);
  }
  return std::nullopt;
}

Condition evaluate_conditions(const Head& head, const Validators& now, Bytes* matched) noexcept {
  if (!has_conditions(head.method())) return Condition::proceed;
  const bool is_read = head.method() == Method::get || head.method() == Method::head;
  return evaluate(HeadLines{head}, is_read, &now, matched);
}

Condition evaluate_conditions(std::span<const ConditionLine> lines, bool is_read,
                              const Validators* now, Bytes* matched) noexcept {
  return evaluate(KeptLines{lines}, is_read, now, matched);
}

Text coded_tag(Bytes tag, Bytes coding) {
  Text coded;
  coded.append(tag.substr(0, tag.size() - 1));
  coded.append("+");
  coded.append(coding);
  coded.append("\"");
  return coded;
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
