// Operation: the description of a route beyond the facts of its handler's signature.
//
//   {.id = "putUser", .summary = "Replaces a user", .tag = "users", .problems = {404},
//    .replies = {json_reply<User>(200, "The user as it is from here on.")}}
//
// The names are those of OpenAPI 3.1 where it has one; Markdown (CommonMark) may stand in every
// description.
//
// Owns       its members. A ProblemType is borrowed: it is a constant of the program.
// Thread     values.
// Allocates  yes: at the start of a program.
// Fails      never directly: members that contradict one another are errors of Router::build().
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

// A link to further documentation (External Documentation Object).
struct ExternalDocs {
  std::string url = {};          // absolute; empty: there is no link
  std::string description = {};  // CommonMark; empty: none
};

// A value that a body, a header or a parameter may have.
struct Example {
  std::string name = {};         // key in `examples`
  Value value = {};              // the example itself
  std::string summary = {};      // one line; empty: none
  std::string description = {};  // CommonMark; empty: none
};

// A header of a reply.
struct ReplyField {
  std::string name = {};         // case does not matter
  std::string description = {};  // CommonMark; empty: none
  MakeSchema schema = nullptr;   // null: text
  bool required = false;         // every such reply has it
  bool deprecated = false;       // clients should not use it
};

// An operation that a client may call next with a reply (Link Object, OpenAPI 3.1 §4.8.20).
struct ReplyLink {
  std::string name = {};          // key in `links`
  std::string operation_id = {};  // of the operation that the link leads to
  // Name of a parameter of that operation, and its value: {"id", "$response.body#/id"}.
  std::vector<std::pair<std::string, std::string>> parameters = {};
  std::string description = {};  // CommonMark; empty: none
};

// One of the replies of an operation.
struct ReplyWords {
  unsigned status = 200;                // 200 or above
  std::string description = {};         // CommonMark
  std::string type = {};                // media type of the body; empty: no body
  MakeSchema schema = nullptr;          // of the body; null: any
  std::vector<ReplyField> fields = {};  // headers of the reply
  MakeSchema item = nullptr;            // of a stream: one event's data, one line
  std::vector<Example> examples = {};   // names are unique within the list; empty: none
  std::vector<ReplyLink> links = {};    // operations that a client may call next
};

// A header, cookie or query parameter that the handler reads itself, such as If-Match.
struct RequestField {
  std::string name = {};               // of a header case does not matter
  std::string description = {};        // CommonMark; empty: none
  std::string pattern = {};            // ECMA 262; empty: any text
  std::string_view in = "header";      // or "cookie", "query"
  MakeSchema schema = nullptr;         // null: text of the pattern
  bool required = false;               // a request without it is refused
  bool deprecated = false;             // clients should not send it
  std::vector<Example> examples = {};  // names are unique within the list; empty: none
};

// The description of a parameter of the signature: Path<T> in the pattern, a member of Query<T>.
struct ParameterNote {
  std::string name = {};               // as in the pattern or in the struct
  std::string description = {};        // CommonMark; empty: none
  std::vector<Example> examples = {};  // names are unique within the list; empty: none
  bool deprecated = false;             // clients should not send it
};

// A request body that the handler reads itself: a file, a stream, or another format.
struct ContentWords {
  std::string type = {};               // "application/octet-stream"
  MakeSchema schema = nullptr;         // null: bytes
  MakeSchema item = nullptr;           // of a stream: one line
  std::vector<Example> examples = {};  // names are unique within the list; empty: none
};

// The media types that a part of a form may have (Encoding Object), with commas between.
struct PartEncoding {
  std::string name = {};          // of the form part
  std::string content_type = {};  // "image/png, image/jpeg"
};

// A request that the service sends: to a URL that a client gave (a callback), or that was agreed on
// elsewhere (a webhook).
struct OutgoingRequest {
  std::string name = {};  // key in `callbacks` or `webhooks`
  std::string url = {};   // of a callback, a runtime expression: "{$request.body#/url}"
  http::Method method = http::Method::post;  // that the service uses
  std::string id = {};                       // operationId, unique in the document; empty: none
  std::string summary = {};                  // one line; empty: none
  std::string description = {};              // CommonMark; empty: none
  MakeSchema content = nullptr;              // body as JSON; null: none
  std::vector<Example> examples = {};        // names are unique within the list; empty: none
  std::vector<ReplyWords> replies = {};      // of the receiver; empty: any 2xx
};

struct Operation {
  std::string id = {};       // operationId, unique in the document; empty: made of method and path
  std::string summary = {};  // one line; empty: none
  std::string description = {};                 // CommonMark; empty: none
  std::string tag = {};                         // the group in which tools show it; empty: none
  std::vector<unsigned> problems = {};          // beyond those that follow from the signature
  std::vector<ReplyWords> replies = {};         // instead of those of the signature
  std::vector<RequestField> fields = {};        // beyond those of the signature
  Value example = {};                           // one example of the body; or several:
  std::vector<Example> examples = {};           // names are unique within the list; empty: none
  std::vector<ParameterNote> parameters = {};   // on parameters of the signature
  std::vector<ContentWords> content = {};       // instead of that of the signature
  std::vector<PartEncoding> encodings = {};     // of the parts of a form
  std::vector<const ProblemType*> types = {};   // problems with a type of the program's own
  std::vector<OutgoingRequest> callbacks = {};  // requests that the service sends because of it
  std::vector<std::string> tags = {};           // beside `tag`
  ExternalDocs docs = {};                       // further documentation
  bool deprecated = false;                      // new clients should not call it
  std::string sunset = {};  // "2027-01-31": the day on which it will be gone, as x-sunset
  // Audiences that see the operation; empty: all. See Document::audience().
  std::vector<std::string> audiences = {};
};

// One parameter, as the handler's signature describes it.
struct ParameterWords {
  std::string name = {};          // as in the pattern or in the struct
  std::string_view in = "query";  // or "path", "header", "cookie"
  bool required = false;          // a request without it is refused
  std::string description = {};   // CommonMark; empty: none
  Value schema = {};              // JSON Schema of its value
  bool deprecated = false;        // clients should not send it
  std::string_view style = {};    // "deepObject"; empty: the default of `in`
};
// The facts of a handler's signature about its operation.
struct SignatureWords {
  std::vector<ParameterWords> parameters = {};  // in the order of the signature
  MakeSchema content = nullptr;                 // of the request body; null: none
  MakeSchema form = nullptr;                    // instead of `content`: the body is a form
  std::optional<ReplyWords> reply = {};         // the reply of success; none: not known
  bool form_needs_parts = false;                // a file of it is required
  std::vector<std::string> form_objects = {};   // members of it that are sent as deepObject
  bool is_merge_patch = false;                  // `content` is one (RFC 7396)
  std::vector<ContentWords> contents = {};      // instead of `content`: several media types
  std::vector<unsigned> problems = {};          // statuses that its parameters answer with
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
