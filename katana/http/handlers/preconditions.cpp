#include "katana/http/handlers/preconditions.hpp"

#include <algorithm>
#include <array>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/wire/http/date.hpp"

namespace katana {
namespace {

// '+' precedes a content coding (coded_tag()), and '%' an encoded byte.
bool is_tag_text(char c) noexcept {
  return c > ' ' && c < '\x7f' && c != '"' && c != '%' && c != '+';
}

http::Validators validators_of(const ResourceVersion& version) noexcept {
  return {
      .entity_tag = version.entity_tag(), .modified_s = version.modified_s(), .is_version = true};
}

}  // namespace

ResourceVersion::ResourceVersion(Bytes version) {
  static constexpr char digits[] = "0123456789ABCDEF";
  tag_.append("\"");
  for (const char& c : version) {
    if (is_tag_text(c)) {
      tag_.append({&c, 1});
    } else {
      const auto value = static_cast<unsigned char>(c);
      const char encoded[] = {'%', digits[value >> 4], digits[value & 15]};
      tag_.append({encoded, sizeof encoded});
    }
  }
  tag_.append("\"");
}

Reply& Reply::set_version(const ResourceVersion& version) {
  add_field("ETag", version.entity_tag());
  has_version_ = true;
  if (version.modified_s()) {
    std::array<char, http::date_bytes> date;
    http::format_date(*version.modified_s(), date);
    add_field("Last-Modified", {date.data(), date.size()});
  }
  return *this;
}

Preconditions::Preconditions(const RequestView& request) {
  const http::Head& head = request.head();
  is_read_ = head.method() == http::Method::get || head.method() == http::Method::head;
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    const auto field = http::condition_field(head.name(index));
    if (field) lines_.push_back({*field, Text(head.value(index))});
  }
}

bool Preconditions::any() const noexcept {
  return std::ranges::any_of(lines_, [](const Line& line) {
    return line.field != http::ConditionField::if_modified_since;
  });
}

std::size_t Preconditions::held_bytes() const noexcept {
  std::size_t bytes = lines_.capacity() * sizeof(Line);
  for (const Line& line : lines_) bytes += line.value.capacity();
  return bytes;
}

std::vector<http::ConditionLine> Preconditions::lines() const {
  std::vector<http::ConditionLine> lines;
  for (const Line& line : lines_) lines.push_back({line.field, line.value.bytes()});
  return lines;
}

http::Condition Preconditions::evaluate(const ResourceVersion& now) const {
  const http::Validators validators = validators_of(now);
  return http::evaluate_conditions(lines(), is_read_, &validators);
}

http::Condition Preconditions::evaluate_missing() const {
  return http::evaluate_conditions(lines(), is_read_, nullptr);
}

std::optional<Reply> Preconditions::refusal(const ResourceVersion& now) const {
  return refusal_by(now, nullptr);
}

std::optional<Reply> Preconditions::refusal(const ResourceVersion& now,
                                            const ProblemType& type) const {
  return refusal_by(now, &type);
}

std::optional<Reply> Preconditions::refusal_by(const ResourceVersion& now,
                                               const ProblemType* type) const {
  if (lines_.empty()) return std::nullopt;
  const http::Validators validators = validators_of(now);
  Bytes matched;
  const http::Condition condition =
      http::evaluate_conditions(lines(), is_read_, &validators, &matched);
  if (condition == http::Condition::proceed) return std::nullopt;
  if (condition == http::Condition::failed) {
    Reply reply = type != nullptr ? problem(*type, type->description)
                                  : problem(problem_types::precondition_failed,
                                            "The resource has changed: get it again and retry.");
    reply.set_version(now);
    return reply;
  }
  // The 304 has the tag that 200 would have now (RFC 9110 §15.4.5). If the client has the
  // compressed reply, that is its tag (RFC 9111 §4.3.4). A weak tag is of a form that another
  // server made.
  Reply reply(304);
  if (matched.empty() || matched.starts_with("W/")) {
    reply.set_version(now);
  } else {
    reply.add_field("ETag", matched);
  }
  return reply;
}

std::optional<Reply> Preconditions::refusal_of_missing() const {
  if (evaluate_missing() != http::Condition::failed) return std::nullopt;
  return problem(problem_types::precondition_failed,
                 "There is no such resource, and If-Match asks for one.");
}

std::expected<RequiredPreconditions, Reply> FromRequest<RequiredPreconditions>::from(
    const RequestView& request) {
  RequiredPreconditions conditions(request);
  if (conditions.any()) return conditions;
  return std::unexpected(
      problem(problem_types::precondition_required,
              "The request needs If-Match with the ETag of the resource: get it first."));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
