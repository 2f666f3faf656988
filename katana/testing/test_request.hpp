// TestRequest: a request made by a test, for code that takes a RequestView or a Request.
//
//   testing::TestRequest request("POST", "/users/7?x=1");
//   request.pattern("/users/{id}").field("If-Match", "\"3\"").content("{}");
//   EXPECT_EQ(owner_of(request.view()), 7);
//
// call() runs a handler on it: see test_call.hpp.
//
// Owns       the bytes of the request.
// Thread     one.
// Allocates  freely: a test's tool.
// Fails      mistake() names a property that no request can have; view() then has the valid parts.
// Invariant  a result of view() is valid until the request is changed or destroyed; that of
//            request() for ever.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_reply.hpp"

namespace katana::testing {

class TestRequest {
 public:
  // `target` as it would be sent: a path with its escapes, and perhaps a query.
  explicit TestRequest(std::string_view method = "GET", std::string_view target = "/");
  ~TestRequest();
  TestRequest(TestRequest&&) noexcept;
  TestRequest& operator=(TestRequest&&) noexcept;

  // Adds a field.
  TestRequest& field(std::string_view name, std::string_view value);
  // The content, with its Content-Length.
  TestRequest& content(std::string content);
  // A described struct as JSON, with its Content-Type.
  template <class T>
  TestRequest& json(const T& value) {
    std::string text;
    container::write_json(value, text);
    return content(std::move(text)).field("Content-Type", "application/json");
  }
  // The pattern of the route that would serve it; the request then has its parameters. Without a
  // pattern, call() uses the last segments of the path for the handler's Path<T> parameters.
  TestRequest& pattern(std::string_view pattern);
  // A value for a handler's FromContext<T>; only with call().
  template <class T>
  TestRequest& with(T value) {
    providers_.push_back([value = std::move(value)](Group& group) {
      group.use([value](const RequestView&) -> T { return value; });
    });
    return *this;
  }

  // Empty: no mistake.
  std::string mistake() const;
  const RequestView& view() const;
  Request request() const { return Request(view()); }

  // ---- for call() ----
  std::string_view method() const noexcept { return method_; }
  std::string_view target() const noexcept { return target_; }
  const TestReply::Fields& fields() const noexcept { return fields_; }
  const std::string& content_text() const noexcept { return content_; }
  const std::vector<std::function<void(Group&)>>& providers() const noexcept { return providers_; }
  // The pattern of the route: the given one, or one with so many parameters at its end.
  Result<std::string> route_pattern(std::size_t path_parameters) const;

 private:
  struct Made;
  const Made& made() const;
  void change() noexcept;

  std::string method_, target_, content_, pattern_;
  TestReply::Fields fields_;
  std::vector<std::function<void(Group&)>> providers_;
  mutable std::unique_ptr<Made> made_;  // null: not made since the last change
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
