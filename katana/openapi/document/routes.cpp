#include "katana/openapi/document/routes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/http/handlers/request_documentation.hpp"

namespace katana::openapi {
namespace {

void add_fields(std::vector<ReplyField>& to, const RequestDocumentation& words) {
  for (const FieldWords& each : words.reply_fields) {
    if (std::ranges::find(to, each.name, &ReplyField::name) != to.end()) continue;
    to.push_back({.name = each.name, .description = each.description});
  }
}

bool is_success(const ReplyWords& reply) { return reply.status >= 200 && reply.status < 300; }

// Adds the words of the middleware in front. Words of the operation itself win over them.
void add_words(Operation& operation, SignatureWords& signature, const RequestDocumentation& words) {
  for (const FieldWords& each : words.fields) {
    if (std::ranges::find(operation.fields, each.name, &RequestField::name) !=
        operation.fields.end()) {
      continue;
    }
    operation.fields.push_back({.name = each.name,
                                .description = each.description,
                                .pattern = each.pattern,
                                .required = each.required});
  }
  operation.problems.insert(operation.problems.end(), words.problems.begin(), words.problems.end());
  if (signature.reply && is_success(*signature.reply)) add_fields(signature.reply->fields, words);
  for (ReplyWords& each : operation.replies) {
    if (is_success(each)) add_fields(each.fields, words);
  }
}

}  // namespace

Routes Routes::tagged(std::string tag) const {
  Routes made(*this);
  made.tag_ = std::move(tag);
  return made;
}

Routes Routes::group(std::string_view prefix) const {
  Routes made(*this);
  made.group_ = group_.group(prefix);
  return made;
}

Routes Routes::anonymous() const {
  Routes made(*this);
  made.group_ = group_.anonymous();
  return made;
}

void Routes::add(http::Method method, std::string_view pattern, const Operation& operation,
                 SignatureWords (*words)(Schemas&)) {
  const std::string whole = std::string(group_.prefix()).append(pattern);
  Operation described(operation);
  if (described.tag.empty() && described.tags.empty()) described.tag = tag_;
  bool is_shown = false;
  for (Document& each : documents_) {
    if (!each.shows(described)) continue;
    is_shown = true;
    SignatureWords signature = words(each.schemas());
    Operation whole_operation(described);
    for (const RequestDocumentation* const said : group_.words(method)) {
      add_words(whole_operation, signature, *said);
    }
    each.add(method, whole, std::move(signature), whole_operation, group_.security());
  }
  if (is_shown || documents_.empty()) return;
  documents_.front().add_mistake(
      Error(Code::invalid_argument,
            fmt::format("openapi: {} {}: it is for '{}', an audience that none of its documents "
                        "has: give one of them Document::audience()",
                        http::name_of(method), whole, described.audiences.front())));
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
