#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "katana/openapi/document/operation_object.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::openapi::detail {
namespace {

constexpr const char* problem_media_type = "application/problem+json";

Object header_of(Parts& parts, const ReplyField& field) {
  Object header;
  if (!field.description.empty()) header.set("description", field.description);
  if (field.required) header.set("required", true);
  if (field.deprecated) header.set("deprecated", true);
  header.set("schema", field.schema != nullptr ? field.schema(parts.schemas) : text_schema());
  return header;
}

Object link_of(const ReplyLink& link) {
  Object made{{"operationId", link.operation_id}};
  Object parameters;
  for (const auto& [name, expression] : link.parameters) parameters.set(name, expression);
  if (!parameters.empty()) made.set("parameters", std::move(parameters));
  if (!link.description.empty()) made.set("description", link.description);
  return made;
}

// The statuses of problems that an operation can be answered with: its own, and those that follow
// from its signature. 400: the protocol refuses malformed requests on every route.
std::vector<unsigned> problems_of(const SignatureWords& words, const Operation& operation,
                                  const std::vector<const SecurityDocumentation*>& security) {
  std::vector<unsigned> problems = operation.problems;
  problems.push_back(400);
  problems.insert(problems.end(), words.problems.begin(), words.problems.end());
  for (const SecurityDocumentation* const each : security) {
    if (!each->schemes.empty()) problems.push_back(401);
    if (each->decides) problems.push_back(403);
  }
  if (words.content != nullptr) problems.insert(problems.end(), {413, 415, 422});
  if (!words.contents.empty()) problems.insert(problems.end(), {413, 415});
  const bool has_json = std::ranges::any_of(
      words.contents, [](const ContentWords& each) { return each.schema != nullptr; });
  if (has_json) problems.push_back(422);
  if (words.form != nullptr) problems.insert(problems.end(), {413, 415});
  for (const ProblemType* const each : operation.types) problems.push_back(each->status);
  std::ranges::sort(problems);
  problems.erase(std::ranges::unique(problems).begin(), problems.end());
  return problems;
}

// "email-taken" of "https://shop.example/problems/email-taken"
std::string last_segment(Bytes uri) {
  const std::size_t slash = uri.find_last_of("/#:");
  return std::string(slash == Bytes::npos ? uri : uri.substr(slash + 1));
}

// The problems of one status that have their own types, and any other.
Value typed_problem(unsigned status, const std::vector<const ProblemType*>& types) {
  std::string description;
  std::vector<Example> examples;
  for (const ProblemType* const type : types) {
    if (type->status != status) continue;
    description += fmt::format("{}- `{}`: {}", description.empty() ? "" : "\n", type->uri,
                               type->description.empty() ? type->title : type->description);
    examples.push_back({.name = last_segment(type->uri),
                        .value = Object{{"type", std::string(type->uri)},
                                        {"title", std::string(type->title)},
                                        {"status", status},
                                        {"detail", std::string(type->title)}},
                        .summary = std::string(type->title)});
  }
  Object response = problem_response(std::move(description)).as_object();
  response.find("content")
      ->as_object()
      .find(problem_media_type)
      ->as_object()
      .set("examples", examples_object(examples));
  return response;
}

Value problem_reply(Parts& parts, unsigned status, const Operation& operation) {
  const bool has_type = std::ranges::any_of(
      operation.types, [status](const ProblemType* each) { return each->status == status; });
  if (has_type) return typed_problem(status, operation.types);
  const std::string name = fmt::format("Problem{}", status);
  parts.responses.try_emplace(name, problem_response(std::string(http::reason_phrase(status))));
  return Object{{"$ref", "#/components/responses/" + name}};
}

}  // namespace

Value text_schema() { return Object{{"type", "string"}}; }

Object media_of(Value schema) {
  Object media;
  const Object* const object = schema.get_object();
  if (!schema.is_null() && (object == nullptr || !object->empty())) {
    media.set("schema", std::move(schema));
  }
  return media;
}

Value content_of(const std::string& type, Object media) {
  Object content;
  content.set(type, std::move(media));
  return content;
}

void add_item(Parts& parts, Object& media, MakeSchema item) {
  if (item == nullptr) return;
  Value schema = item(parts.schemas);
  const Value* const reference = schema.at("/$ref");
  Value* const whole = media.find("schema");
  if (reference != nullptr && whole != nullptr) {
    const std::string& text = reference->as_text();
    whole->as_object().set("description",
                           fmt::format("A stream; each item of it is JSON of the schema {}.",
                                       text.substr(text.rfind('/') + 1)));
  }
  media.set("x-itemSchema", std::move(schema));
}

Value reply_of(Parts& parts, const ReplyWords& words) {
  Object reply{{"description", words.description}};
  Object headers;
  for (const ReplyField& field : words.fields) headers.set(field.name, header_of(parts, field));
  if (!headers.empty()) reply.set("headers", std::move(headers));
  if (!words.type.empty()) {
    Object media = media_of(words.schema != nullptr ? words.schema(parts.schemas) : text_schema());
    add_item(parts, media, words.item);
    if (!words.examples.empty()) media.set("examples", examples_object(words.examples));
    reply.set("content", content_of(words.type, std::move(media)));
  }
  Object links;
  for (const ReplyLink& link : words.links) links.set(link.name, link_of(link));
  if (!links.empty()) reply.set("links", std::move(links));
  return reply;
}

namespace {

// Several of one status are one reply in several media types.
void add_reply(Parts& parts, std::map<unsigned, Value>& replies, const ReplyWords& words) {
  Value made = reply_of(parts, words);
  const auto [known, is_new] = replies.try_emplace(words.status, made);
  if (is_new) return;
  const Value* const more = made.at("/content");
  if (more == nullptr) return;
  Object& reply = known->second.as_object();
  Value* content = reply.find("content");
  if (content == nullptr) content = &reply.set("content", Object());
  for (const container::Member& each : more->as_object()) {
    content->as_object().set(each.name, each.value);
  }
}

}  // namespace

Object responses_of(Parts& parts, const SignatureWords& words, const Operation& operation,
                    const std::vector<const SecurityDocumentation*>& security) {
  std::map<unsigned, Value> replies;
  for (const ReplyWords& reply : operation.replies) add_reply(parts, replies, reply);
  if (operation.replies.empty() && words.reply) {
    replies.emplace(words.reply->status, reply_of(parts, *words.reply));
  }
  const bool says_success = !replies.empty();
  for (const unsigned status : problems_of(words, operation, security)) {
    if (!replies.contains(status)) replies[status] = problem_reply(parts, status, operation);
  }
  Object responses;
  for (auto& [status, reply] : replies) responses.set(std::to_string(status), std::move(reply));
  // A handler returns a Reply that is not described.
  if (!says_success) responses.set("2XX", Object{{"description", "The request was served."}});
  responses.set("default", Object{{"$ref", "#/components/responses/Problem"}});
  return responses;
}

// RFC 9457 §3.1, as problem() and Json<T> write it.
Value problem_schema() {
  const Value fault = Object{
      {"type", "object"},
      {"required", List{"pointer", "detail"}},
      {"properties", Object{{"pointer", Object{{"type", "string"},
                                               {"description", "A JSON pointer (RFC 6901)."}}},
                            {"detail", Object{{"type", "string"}}}}}};
  return Object{{"type", "object"},
                {"description", "A problem document (RFC 9457)."},
                {"required", List{"type", "title", "status", "detail"}},
                {"properties",
                 Object{{"type", Object{{"type", "string"}, {"format", "uri-reference"}}},
                        {"title", Object{{"type", "string"}}},
                        {"status", Object{{"type", "integer"}, {"minimum", 400}, {"maximum", 599}}},
                        {"detail", Object{{"type", "string"}}},
                        {"errors", Object{{"type", "array"}, {"items", fault}}}}}};
}

Value problem_response(std::string description) {
  return Object{
      {"description", std::move(description)},
      {"content",
       content_of(problem_media_type, media_of(Object{{"$ref", "#/components/schemas/Problem"}}))}};
}

Value examples_object(const std::vector<Example>& examples) {
  Object all;
  for (const Example& each : examples) {
    Object made;
    if (!each.summary.empty()) made.set("summary", each.summary);
    if (!each.description.empty()) made.set("description", each.description);
    made.set("value", each.value);
    all.set(each.name, std::move(made));
  }
  return all;
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
