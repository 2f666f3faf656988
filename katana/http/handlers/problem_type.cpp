#include "katana/http/handlers/problem_type.hpp"

#include <utility>

#include "katana/base/text/json_string.hpp"

namespace katana {
namespace {

// Returns the JSON without its closing brace.
Text head_of(const ProblemType& type, Bytes detail) {
  Text content;
  content.append(R"({"type":)");
  append_json_text(content, type.uri);
  content.append(R"(,"title":)");
  append_json_text(content, type.title);
  content.append(format_text(R"(,"status":{},"detail":)", type.status).bytes());
  append_json_text(content, detail);
  return content;
}

}  // namespace

Reply problem(const ProblemType& type, Bytes detail) {
  Text content = head_of(type, detail);
  content.push_back('}');
  return Reply(type.status, "application/problem+json", std::move(content));
}

Reply detail::problem_with(const ProblemType& type, Bytes detail, Text members) {
  Text content = head_of(type, detail);
  const Bytes object = members.bytes();
  if (object == "{}") {
    content.push_back('}');
  } else {
    content.push_back(',');
    content.append(object.substr(1));
  }
  return Reply(type.status, "application/problem+json", std::move(content));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
