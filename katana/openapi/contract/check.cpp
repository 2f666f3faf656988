// The checks of a ContractOperation: of a request, and of a reply.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/openapi/contract/contract.hpp"
#include "katana/openapi/contract/form_value.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::openapi {
namespace {

constexpr std::size_t shown_bytes_max = 64;

// "application/json" of "application/json; charset=utf-8".
Bytes essence(Bytes type) noexcept {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  while (type.starts_with(' ') || type.starts_with('\t')) type.remove_prefix(1);
  return type;
}

bool fits(Bytes range, Bytes type) noexcept {
  if (range == type || range == "*/*") return true;
  if (!range.ends_with("/*")) return http::equals_ignoring_case(range, type);
  const std::size_t size = range.size() - 1;  // with the '/'
  return type.size() > size &&
         http::equals_ignoring_case(range.substr(0, size), type.substr(0, size));
}

const MediaContract* find(const std::vector<MediaContract>& contents, Bytes type) noexcept {
  type = essence(type);
  const auto found = std::ranges::find_if(
      contents, [&](const MediaContract& each) { return fits(each.range, type); });
  return found == contents.end() ? nullptr : &*found;
}

std::string ranges_of(const std::vector<MediaContract>& contents) {
  std::string text;
  for (const MediaContract& each : contents) {
    if (!text.empty()) text += ", ";
    text += each.range;
  }
  return text;
}

bool is_json(Bytes type) noexcept {
  type = essence(type);
  return http::equals_ignoring_case(type, "application/json") ||
         (type.size() > 5 && http::equals_ignoring_case(type.substr(type.size() - 5), "+json"));
}

// `type` is the whole field.
void check_by_schema(const MediaContract& media, Bytes type, Bytes content, Violations& violations,
                     StepBudget& budget) {
  if (!media.schema) return;
  container::Findings findings;
  bool is_right = true;
  // For a range such as "*/*" the media type of the message decides.
  const bool is_range = media.range.ends_with('*');
  const auto kind = is_range && is_json(type) ? MediaContract::Kind::json : media.kind;
  switch (kind) {
    case MediaContract::Kind::json:
      is_right = media.schema->check_json(content, findings, budget);
      break;
    case MediaContract::Kind::text:
      is_right = media.schema->check_text(content, findings, budget);
      break;
    case MediaContract::Kind::form:
    case MediaContract::Kind::multipart: {
      const auto value = kind == MediaContract::Kind::form
                             ? urlencoded_value(content, *media.schema, media.styles, findings)
                             : multipart_value(type, content, *media.schema, findings);
      if (!value) {
        findings.set_malformed(value.error().describe());
        is_right = false;
      } else {
        is_right = findings.empty() && media.schema->check(*value, findings, budget);
      }
      break;
    }
    case MediaContract::Kind::other: break;
  }
  if (!is_right) violations.add_findings(Part::content, {}, findings);
}

// The value of a cookie, in the pairs of the field (RFC 6265 §4.2).
std::optional<Bytes> cookie_of(Bytes field, Bytes name, bool& is_twice) noexcept {
  std::optional<Bytes> found;
  while (!field.empty()) {
    const std::size_t end = std::min(field.find(';'), field.size());
    Bytes pair = field.substr(0, end);
    field.remove_prefix(std::min(end + 1, field.size()));
    while (pair.starts_with(' ') || pair.starts_with('\t')) pair.remove_prefix(1);
    const std::size_t at = pair.find('=');
    if (at == Bytes::npos || pair.substr(0, at) != name) continue;
    is_twice = found.has_value();
    if (!found) found = pair.substr(at + 1);
  }
  return found;
}

// A name of a query as it is meant; `own` holds it when it had escapes.
std::optional<Bytes> name_of(Bytes raw, std::string& own) {
  if (!http::needs_form_decoding(raw)) return raw;
  own.assign(raw);
  const auto size = http::decode_form(raw, own);
  if (!size) return std::nullopt;
  own.resize(*size);
  return own;
}

}  // namespace

// The pieces of lists and objects in a query, in the order of the query.
struct QueryScratch {
  struct Entry {
    std::uint32_t parameter;
    bool is_member;
    std::string member;  // its name
    Bytes raw;
  };
  std::vector<Entry> entries;
  std::vector<Bytes> items;
  std::vector<ParameterContract::RawMember> members;
};

bool ContractOperation::check_request(const RequestParts& request, Violations& violations) const {
  StepBudget budget(StepBudget::for_bytes(request.steps_bytes()));
  return check_request(request, violations, budget);
}

bool ContractOperation::check_request(const RequestParts& request, Violations& violations,
                                      StepBudget& budget) const {
  const bool has_right_parameters = check_parameters(request, violations, budget);
  return check_content(request, violations, budget) && has_right_parameters;
}

bool ContractOperation::check_parameters(const RequestParts& request, Violations& violations,
                                         StepBudget& budget) const {
  const std::size_t before = violations.list().size() + violations.left_out();
  if (has_query_) check_query(request.query, violations, budget);
  for (const ParameterContract& each : parameters_) {
    if (each.in == Part::query) continue;
    std::optional<Bytes> raw;
    if (each.in == Part::path) {
      const auto found =
          std::ranges::find(request.path, each.name, &std::pair<Bytes, Bytes>::first);
      if (found != request.path.end()) raw = found->second;
    } else if (each.in == Part::header) {
      raw = request.fields.find(each.name);
    } else if (const auto field = request.fields.find("cookie")) {
      bool is_twice = false;
      raw = cookie_of(*field, each.name, is_twice);
      if (is_twice) {
        violations.add(each.in, each.name, {}, "is given more than once");
        continue;
      }
    }
    if (raw) {
      each.check(*raw, violations, budget);
    } else if (each.required) {
      each.add_missing(violations);
    }
  }
  return violations.list().size() + violations.left_out() == before;
}

// A value of one text is checked where it stands; pieces of lists and objects are gathered first.
void ContractOperation::check_query(Bytes query, Violations& violations, StepBudget& budget) const {
  static thread_local QueryScratch scratch;
  scratch.entries.clear();
  std::uint64_t seen = 0;
  // Asked once: nearly no query has any.
  const bool has_escapes = http::needs_form_decoding(query);
  http::QueryReader reader(query);
  Bytes raw_name, raw;
  std::string own;
  while (reader.next(raw_name, raw)) {
    const std::optional<Bytes> name = has_escapes ? name_of(raw_name, own) : raw_name;
    if (!name) continue;  // no name of a description has such escapes
    const QueryName* const known = find_query(*name);
    if (known == nullptr) {
      take_member(*name, raw, scratch);
    } else if (known->is_member) {
      scratch.entries.push_back({known->parameter, true, std::string(*name), raw});
    } else if (parameters_[known->parameter].is_list_of_pairs()) {
      scratch.entries.push_back({known->parameter, false, {}, raw});
    } else {
      const ParameterContract& parameter = parameters_[known->parameter];
      const std::uint64_t bit = std::uint64_t{1} << known->parameter;
      if ((seen & bit) != 0) {
        violations.add(parameter.in, parameter.name, {}, "is given more than once");
      } else {
        has_escapes ? parameter.check(raw, violations, budget)
                    : parameter.check_plain(raw, violations, budget);
      }
      seen |= bit;
    }
  }
  if (!scratch.entries.empty()) check_gathered(scratch, seen, violations, budget);
  for (std::uint32_t index = 0; index < parameters_.size(); ++index) {
    const ParameterContract& each = parameters_[index];
    const bool is_here = (seen & (std::uint64_t{1} << index)) != 0;
    if (each.in == Part::query && each.required && !is_here) each.add_missing(violations);
  }
}

// A name that no parameter has: of an object in brackets, or of one that takes any names.
void ContractOperation::take_member(Bytes name, Bytes raw, QueryScratch& scratch) const {
  for (const std::uint32_t index : deep_objects_) {
    const std::string& object = parameters_[index].name;
    const bool is_of_it =
        name.starts_with(object) && (name.size() == object.size() || name[object.size()] == '[');
    if (!is_of_it) continue;
    scratch.entries.push_back({index, true, std::string(name), raw});
    return;
  }
  if (takes_rest_) scratch.entries.push_back({*takes_rest_, true, std::string(name), raw});
}

void ContractOperation::check_gathered(QueryScratch& scratch, std::uint64_t& seen,
                                       Violations& violations, StepBudget& budget) const {
  for (std::uint32_t index = 0; index < parameters_.size(); ++index) {
    const ParameterContract& each = parameters_[index];
    if (each.in != Part::query) continue;
    scratch.items.clear();
    scratch.members.clear();
    for (const QueryScratch::Entry& entry : scratch.entries) {
      if (entry.parameter != index) continue;
      if (entry.is_member) scratch.members.push_back({entry.member, entry.raw});
      if (!entry.is_member) scratch.items.push_back(entry.raw);
    }
    if (scratch.items.empty() && scratch.members.empty()) continue;
    seen |= std::uint64_t{1} << index;
    if (each.style == model::Style::deep_object) {
      each.check_brackets(scratch.members, violations, budget);
    } else if (!scratch.members.empty()) {
      each.check_members(scratch.members, violations, budget);
    } else {
      each.check_items(scratch.items, violations, budget);
    }
  }
}

bool ContractOperation::check_content(const RequestParts& request, Violations& violations,
                                      StepBudget& budget) const {
  if (contents_.empty()) return true;
  const std::size_t before = violations.list().size() + violations.left_out();
  const auto type = request.fields.find("content-type");
  if (request.content.empty() && request.has_whole_content && !type) {
    if (requires_content_) {
      violations.add(
          Part::content_type, {}, {},
          fmt::format("is missing, as is the content; expected {}", ranges_of(contents_)));
    }
  } else if (!type) {
    violations.add(Part::content_type, {}, {},
                   fmt::format("is missing; expected {}", ranges_of(contents_)));
  } else if (const MediaContract* const media = find(contents_, *type); media == nullptr) {
    violations.add(Part::content_type, {}, {},
                   fmt::format("expected {}, got '{}'", ranges_of(contents_),
                               type->substr(0, shown_bytes_max)));
  } else if (request.has_whole_content) {
    check_by_schema(*media, *type, request.content, violations, budget);
  }
  return violations.list().size() + violations.left_out() == before;
}

bool ContractOperation::check_reply(const ReplyParts& reply, Violations& violations) const {
  StepBudget budget(StepBudget::for_bytes(reply.content.size()));
  return check_reply(reply, violations, budget);
}

bool ContractOperation::check_reply(const ReplyParts& reply, Violations& violations,
                                    StepBudget& budget) const {
  const ReplyContract* const contract = reply_for(reply.status);
  if (contract == nullptr) {
    std::string described;
    for (const ReplyContract& each : replies_) {
      if (!described.empty()) described += ", ";
      described += each.status;
    }
    violations.add(Part::status, {}, {},
                   fmt::format("{} is not among those that are described: {}", reply.status,
                               described.empty() ? "none" : described));
    return false;
  }
  const std::size_t before = violations.list().size() + violations.left_out();
  for (const ParameterContract& each : contract->fields) {
    if (const auto raw = reply.fields.find(each.name)) {
      each.check(*raw, violations, budget);
    } else if (each.required && reply.has_all_fields) {
      each.add_missing(violations);
    }
  }
  const bool has_content = !reply.content.empty();
  if (!reply.has_content) {
    // Nothing to look at.
  } else if (contract->contents.empty()) {
    if (has_content) {
      violations.add(Part::content, {}, {},
                     fmt::format("status {} is described without content, and has '{}'",
                                 reply.status, reply.content_type.substr(0, shown_bytes_max)));
    }
  } else if (const MediaContract* const media = find(contract->contents, reply.content_type);
             media == nullptr) {
    violations.add(Part::content_type, {}, {},
                   reply.content_type.empty()
                       ? fmt::format("is missing; expected {}", ranges_of(contract->contents))
                       : fmt::format("expected {}, got '{}'", ranges_of(contract->contents),
                                     reply.content_type.substr(0, shown_bytes_max)));
  } else {
    check_by_schema(*media, reply.content_type, reply.content, violations, budget);
  }
  return violations.list().size() + violations.left_out() == before;
}

bool ContractOperation::says_of(unsigned status) const noexcept {
  const ReplyContract* const found = reply_for(status);
  if (found == nullptr) return false;
  return found->status != "default" || status >= 400 || !is_status_of_any_server(status);
}

bool is_status_of_any_server(unsigned status) noexcept {
  constexpr unsigned statuses[] = {206, 304, 405, 406, 408, 411, 412, 413, 414,
                                   415, 416, 417, 421, 426, 428, 429, 431};
  return status >= 500 || std::ranges::find(statuses, status) != std::end(statuses);
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
