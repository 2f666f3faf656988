#include "katana/testing/test_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "katana/http/routing/route_table_builder.hpp"
#include "katana/wire/http/reply_head.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::testing {
namespace {

http::Slice slice(std::size_t at, std::size_t size) {
  return {static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(size)};
}

std::optional<std::string> normal_path(std::string_view raw) {
  std::string path(raw.size(), '\0');
  const auto size = http::normalize_path(raw, path);
  if (!size) return std::nullopt;
  path.resize(*size);
  return path;
}

// A literal of a pattern has no braces.
bool is_literal(std::string_view segment) {
  return segment.find_first_of("{}*") == std::string_view::npos;
}

// A Request that outlives its TestRequest still refers to the names of parameters, as to those of a
// service. The tables therefore live as long as the thread, one for each pattern of its tests.
Result<const RouteTable*> table_of(const std::string& pattern) {
  thread_local std::map<std::string, RouteTable> tables;
  const auto found = tables.find(pattern);
  if (found != tables.end()) return &found->second;
  RouteTableBuilder builder;
  if (const auto added = builder.add_any_method(pattern); !added) {
    return std::unexpected(added.error());
  }
  return &tables.emplace(pattern, std::move(builder).build()).first->second;
}

}  // namespace

struct TestRequest::Made {
  std::string head_bytes, path, content, mistake;  // members here: a request may move
  http::Head head;
  PathParameters parameters;
  std::optional<RequestView> view;
};

TestRequest::TestRequest(std::string_view method, std::string_view target)
    : method_(method), target_(target) {}
TestRequest::~TestRequest() = default;
TestRequest::TestRequest(TestRequest&&) noexcept = default;
TestRequest& TestRequest::operator=(TestRequest&&) noexcept = default;

void TestRequest::change() noexcept { made_.reset(); }

TestRequest& TestRequest::field(std::string_view name, std::string_view value) {
  fields_.emplace_back(name, value);
  change();
  return *this;
}

TestRequest& TestRequest::content(std::string content) {
  content_ = std::move(content);
  change();
  return *this;
}

TestRequest& TestRequest::pattern(std::string_view pattern) {
  pattern_ = pattern;
  change();
  return *this;
}

std::string TestRequest::mistake() const { return made().mistake; }
const RequestView& TestRequest::view() const { return *made().view; }

const TestRequest::Made& TestRequest::made() const {
  if (made_) return *made_;
  made_ = std::make_unique<Made>();
  Made& made = *made_;
  const auto wrong = [&](std::string why) {
    if (made.mistake.empty()) made.mistake = fmt::format("{} {}: {}", method_, target_, why);
  };
  made.head_bytes = fmt::format("{} {} HTTP/1.1\r\n", method_, target_);
  std::vector<std::pair<std::size_t, const TestReply::Fields::value_type*>> placed;
  for (const auto& field : fields_) {
    if (!http::valid_field(field.first, field.second)) {
      wrong(fmt::format("'{}: {}' is no field: a name is a token, a value has no control character",
                        field.first, field.second));
    }
    placed.emplace_back(made.head_bytes.size(), &field);
    made.head_bytes += fmt::format("{}: {}\r\n", field.first, field.second);
  }
  made.head_bytes += "\r\n";
  if (made.head_bytes.size() > http::head_bytes_capacity ||
      fields_.size() > http::fields_capacity) {
    wrong("the head is larger than any request's");
    made.head_bytes.resize(std::min(made.head_bytes.size(), http::head_bytes_capacity));
    placed.clear();
  }
  const http::Method method = http::method_from(method_);
  made.head.begin(made.head_bytes.data());
  made.head.set_request_line(method, slice(0, method_.size()),
                             slice(method_.size() + 1, target_.size()), 1);
  for (const auto& [at, field] : placed) {
    made.head.add_field(slice(at, field->first.size()),
                        slice(at + field->first.size() + 2, field->second.size()));
  }
  made.head.set_bytes(made.head_bytes.size());
  const Bytes sent = made.head.target();
  const std::size_t mark = std::min(sent.find('?'), sent.size());
  const Bytes query = sent.substr(std::min(mark + 1, sent.size()));
  if (const auto path = normal_path(sent.substr(0, mark)); path && path->starts_with('/')) {
    made.path = *path;
  } else {
    wrong("the target is no path: it begins with '/' and escapes what a path may not hold");
    made.path = "/";
  }
  if (!pattern_.empty()) {
    const Result<const RouteTable*> table = table_of(pattern_);
    if (!table) {
      wrong(table.error().describe());
    } else if ((*table)->match(method, made.path, made.parameters).kind != MatchKind::found) {
      wrong(fmt::format("the path does not match the pattern '{}'", pattern_));
    }
  }
  made.content = content_;
  made.view.emplace(made.head, made.path, query, made.parameters, made.content);
  return made;
}

Result<std::string> TestRequest::route_pattern(std::size_t path_parameters) const {
  const Made& request = made();
  if (!request.mistake.empty()) return fail(Code::invalid_argument, request.mistake);
  if (!pattern_.empty()) return pattern_;
  std::vector<std::string_view> segments;
  std::string_view left = std::string_view(request.path).substr(1);
  for (std::size_t at; (at = left.find('/')) != std::string_view::npos;
       left.remove_prefix(at + 1)) {
    segments.push_back(left.substr(0, at));
  }
  segments.push_back(left);
  if (segments.size() < path_parameters) {
    return fail(Code::invalid_argument,
                fmt::format("{} {}: the handler takes {} Path<T> parameters and the path has {} "
                            "segments; name them with pattern(\"/…/{{id}}\")",
                            method_, target_, path_parameters, segments.size()));
  }
  std::string pattern;
  for (std::size_t index = 0; index < segments.size(); ++index) {
    const std::size_t from_end = segments.size() - index;
    if (from_end > path_parameters && !is_literal(segments[index])) {
      return fail(Code::invalid_argument,
                  fmt::format("{} {}: no pattern can be made of the path; give one with pattern()",
                              method_, target_));
    }
    pattern += from_end > path_parameters ? fmt::format("/{}", segments[index])
                                          : fmt::format("/{{p{}}}", index);
  }
  return pattern;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
