// TestReply: the reply of a service in a test, or the reason why there is none.
//
// Owns       its bytes.
// Thread     a value.
// Allocates  as std::string does.
// Fails      status() is 0 unless a whole reply arrived; describe() then gives the actual outcome.
// Invariant  a reply that was cut off never looks like a whole one.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/data/container/json_read.hpp"

namespace katana::testing {

// Names and values of header fields, in their order.
using TestFields = std::vector<std::pair<std::string, std::string>>;

class TestReply {
 public:
  using Fields = TestFields;  // name and value, in the order of the reply

  TestReply(unsigned status, Fields fields, std::string content)
      : status_(status), fields_(std::move(fields)), content_(std::move(content)) {}
  // For a reply that did not arrive completely.
  explicit TestReply(std::string problem) : problem_(std::move(problem)) {}

  // 0: the connection ended without a reply; describe() gives the reason.
  unsigned status() const noexcept { return status_; }
  // The first field of that name, ignoring case.
  std::optional<std::string_view> header(std::string_view name) const noexcept;
  const Fields& headers() const noexcept { return fields_; }
  const std::string& content() const noexcept KATANA_VIEW { return content_; }
  std::string take_content() noexcept { return std::exchange(content_, {}); }
  // The fields after the content, over HTTP/2.
  const Fields& trailers() const noexcept { return trailers_; }
  void set_trailers(Fields trailers) noexcept { trailers_ = std::move(trailers); }
  // Empty for a whole reply; otherwise the request and the actual outcome.
  const std::string& problem() const noexcept { return problem_; }
  // Fails with a description of the reply when it is not JSON of a T.
  template <class T>
  Result<T> json() const {
    if (!problem_.empty()) return fail(Code::unavailable, problem_);
    Result<T> value = container::read_json<T>(content_);
    if (!value) return std::unexpected(value.error().within(describe()));
    return value;
  }
  // For the message of a failed test: status, type and the beginning of the content.
  std::string describe() const;

 private:
  unsigned status_ = 0;
  Fields fields_;
  Fields trailers_;
  std::string content_;
  std::string problem_;
};

inline std::ostream& operator<<(std::ostream& to, const TestReply& reply) {
  return to << reply.describe();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
