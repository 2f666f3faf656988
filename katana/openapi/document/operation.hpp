// Operation: what is said of a route beyond what its handler's signature says.
//
//   {.id = "putUser", .summary = "Replaces a user", .tag = "users", .problems = {404},
//    .replies = {json_reply<User>(200, "The user as it is from here on.")}}
//
// The names are those of OpenAPI 3.1 where it has one; Markdown (CommonMark) may stand in every
// description.
//
// Owns       all that it is given. A ProblemType is borrowed: it is a constant of the program.
// Thread     values.
// Allocates  yes: at the start of a program.
// Fails      never by itself: what does not fit together is an error of Router::build().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/http/handlers/problem_type.hpp"
#include "katana/openapi/document/schema.hpp"
#include "katana/wire/http/method.hpp"

namespace katana::openapi {

// Where more is said.
struct ExternalDocs {
  // Where it is.
  std::string url = {};
  // For people, in Markdown.
  std::string description = {};
};

// A value that a content or a parameter may have. Those of one place have different names.
struct Example {
  // As the document has it.
  std::string name = {};
  // What it is.
  Value value = {};
  // In a few words.
  std::string summary = {};
  // For people, in Markdown.
  std::string description = {};
};

// What is said of a field of a reply.
struct ReplyField {
  // As the document has it.
  std::string name = {};
  // For people, in Markdown.
  std::string description = {};
  MakeSchema schema = nullptr;  // null: text
  bool required = false;        // it is there whenever the reply is
  // New clients leave it out.
  bool deprecated = false;
};

// What a client may do next with a reply (Link Object, OpenAPI 3.1 §4.8.20).
struct ReplyLink {
  // As the document has it.
  std::string name = {};
  // Whose parameters these are.
  std::string operation_id = {};
  // Of that operation, by name: "$response.body#/id".
  std::vector<std::pair<std::string, std::string>> parameters = {};
  std::string description = {};
};

// One of the replies of an operation.
struct ReplyWords {
  // Of HTTP, from 200 on.
  unsigned status = 200;
  // For people, in Markdown.
  std::string description = {};
  std::string type = {};  // of the content; empty: no content
  // Of the content or value.
  MakeSchema schema = nullptr;
  // That come with it.
  std::vector<ReplyField> fields = {};
  MakeSchema item = nullptr;  // of a stream: one event's data, one line
  // By name.
  std::vector<Example> examples = {};
  // What may be done next.
  std::vector<ReplyLink> links = {};
};

// A field of the request that counts, such as If-Match, and that the handler reads itself.
struct RequestField {
  // As the document has it.
  std::string name = {};
  // For people, in Markdown.
  std::string description = {};
  std::string pattern = {};        // ECMA 262; empty: any text
  std::string_view in = "header";  // or "cookie", "query"
  MakeSchema schema = nullptr;     // null: text of the pattern
  // Without it there is a problem.
  bool required = false;
  // New clients leave it out.
  bool deprecated = false;
  // By name.
  std::vector<Example> examples = {};
};

// What is said of a parameter that the signature has: Path<T> in the pattern, a member of Query<T>.
struct ParameterNote {
  // As the document has it.
  std::string name = {};
  // For people, in Markdown.
  std::string description = {};
  // By name.
  std::vector<Example> examples = {};
  // New clients leave it out.
  bool deprecated = false;
};

// Content that the handler reads itself: a file, a stream, a format of its own.
struct ContentWords {
  std::string type = {};        // "application/octet-stream"
  MakeSchema schema = nullptr;  // null: bytes
  MakeSchema item = nullptr;    // of a stream: one line
  // By name.
  std::vector<Example> examples = {};
};

// What a part of a form may be (Encoding Object): the media types of a file, with commas between.
struct PartEncoding {
  // As the document has it.
  std::string name = {};
  std::string content_type = {};  // "image/png, image/jpeg"
};

// A request that the service sends: to a URL that a client gave (a callback), or that was agreed on
// elsewhere (a webhook).
struct OutgoingRequest {
  // As the document has it.
  std::string name = {};
  std::string url = {};  // of a callback, a runtime expression: "{$request.body#/url}"
  // Of the request.
  http::Method method = http::Method::post;
  // Of the whole document.
  std::string id = {};
  // In a few words.
  std::string summary = {};
  // For people, in Markdown.
  std::string description = {};
  MakeSchema content = nullptr;  // as JSON; null: none
  // By name.
  std::vector<Example> examples = {};
  std::vector<ReplyWords> replies = {};  // what the receiver answers; empty: any 2xx
};

struct Operation {
  std::string id = {};  // operationId: of the whole document; empty: made of method and path
  // In a few words.
  std::string summary = {};
  // For people, in Markdown.
  std::string description = {};
  // The group that it is shown in.
  std::string tag = {};
  std::vector<unsigned> problems = {};   // beyond those that follow from the signature
  std::vector<ReplyWords> replies = {};  // instead of what follows from the signature
  // That come with it.
  std::vector<RequestField> fields = {};
  Value example = {};  // of the content; or, by name:
  // By name.
  std::vector<Example> examples = {};
  // Each as it is named.
  std::vector<ParameterNote> parameters = {};
  std::vector<ContentWords> content = {};      // instead of what follows from the signature
  std::vector<PartEncoding> encodings = {};    // of the parts of a form
  std::vector<const ProblemType*> types = {};  // problems with a type of the program's own
  // That follow from it.
  std::vector<OutgoingRequest> callbacks = {};
  std::vector<std::string> tags = {};  // beside `tag`
  // Where more is said.
  ExternalDocs docs = {};
  // New clients leave it out.
  bool deprecated = false;
  std::string sunset = {};  // "2027-01-31": the day on which it will be gone, as x-sunset
  // Those who are shown it; empty: everybody. See Document::audience().
  std::vector<std::string> audiences = {};
};

// A parameter or the content of an operation, as its signature has it.
struct ParameterWords {
  // As the document has it.
  std::string name = {};
  std::string_view in = "query";  // or "path", "header", "cookie"
  // Without it there is a problem.
  bool required = false;
  // For people, in Markdown.
  std::string description = {};
  // Of the content or value.
  Value schema = {};
  // New clients leave it out.
  bool deprecated = false;
  // "deepObject"; empty: that of its place.
  std::string_view style = {};
};
struct SignatureWords {
  // Each as it is named.
  std::vector<ParameterWords> parameters = {};
  // What is sent with it.
  MakeSchema content = nullptr;
  MakeSchema form = nullptr;  // instead, when it is a form
  // When nothing goes wrong.
  std::optional<ReplyWords> reply = {};
  bool form_needs_parts = false;               // a file of it is required
  std::vector<std::string> form_objects = {};  // members of it that are sent as deepObject
  bool is_merge_patch = false;                 // `content` is one (RFC 7396)
  // Instead of `content`, when it may be of several media types.
  std::vector<ContentWords> contents = {};
};

// Replies, for Operation::replies.
template <class T>
ReplyWords json_reply(unsigned status, std::string description,
                      std::vector<ReplyField> fields = {}) {
  return {status, std::move(description), "application/json", &schema_of<T>, std::move(fields)};
}
inline ReplyWords empty_reply(unsigned status, std::string description,
                              std::vector<ReplyField> fields = {}) {
  return {status, std::move(description), {}, nullptr, std::move(fields)};
}
inline ReplyWords text_reply(unsigned status, std::string description, std::string type) {
  return {status, std::move(description), std::move(type), nullptr, {}};
}
// 200 with server-sent events, the data of each being a T as JSON.
template <class T>
ReplyWords events_reply(std::string description) {
  ReplyWords words = text_reply(200, std::move(description), "text/event-stream");
  words.item = &schema_of<T>;
  return words;
}
// 200 with a T as JSON on each line, as send_json_lines() sends it.
template <class T>
ReplyWords json_lines_reply(std::string description) {
  ReplyWords words = text_reply(200, std::move(description), "application/x-ndjson");
  words.item = &schema_of<T>;
  return words;
}
// 200 with a file.
inline ReplyWords file_reply(std::string description, std::string type,
                             std::vector<ReplyField> fields = {}) {
  ReplyWords words = text_reply(200, std::move(description), std::move(type));
  words.schema = [](Schemas&) -> Value { return Object{{"type", "string"}, {"format", "binary"}}; };
  words.fields = std::move(fields);
  return words;
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
