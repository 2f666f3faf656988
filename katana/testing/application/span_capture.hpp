// SpanCapture: the spans that a program recorded in a test, as values.
//
//   app.get("/users/7");
//   const testing::CapturedSpan* span = app.spans().find("GET /users/{id}");
//   EXPECT_EQ(span->attribute("http.response.status_code"), "200");
//   EXPECT_EQ(app.spans().children(*span).at(0).name, "SELECT users");
//
// Owns       the spans.
// Thread     that of the test.
// Allocates  for each span.
// Fails      never: a program without app::telemetry() records none.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::testing {

// One span that has ended.
struct CapturedSpan {
  std::string name;                                     // "GET /users/{id}"
  trace::SpanKind kind = trace::SpanKind::internal;     // server: a request
  trace::SpanStatus status = trace::SpanStatus::unset;  // error: it failed
  std::string trace_id;                                 // 32 hexadecimal digits
  std::string span_id;                                  // 16 of them
  std::string parent_id;                                // empty: the trace begins with it
  std::string link_id;                                  // of the span that caused it; empty: none
  std::string state;                                    // of the trace, as it was received
  Instant began;                                        // in virtual time
  Instant ended;                                        // likewise
  std::map<std::string, std::string> attributes;        // numbers and booleans as text

  // Empty: there is no such attribute.
  std::string attribute(std::string_view key) const;
  bool failed() const noexcept { return status == trace::SpanStatus::error; }
  // "GET /users/{id} {http.route=/users/{id}, …}"
  std::string describe() const;
};

class SpanCapture {
 public:
  // All spans, in the order of their ends.
  const std::vector<CapturedSpan>& all() const noexcept { return spans_; }
  // The first span of that name; null: none.
  const CapturedSpan* find(std::string_view name) const noexcept;
  // The spans directly below `parent`.
  std::vector<CapturedSpan> children(const CapturedSpan& parent) const;
  // All spans, one a line: for the message of a failed test.
  std::string describe() const;
  void clear() noexcept { spans_.clear(); }

  // ---- for TestApplication
  void take_from(trace::Tracer& tracer);

 private:
  std::vector<CapturedSpan> spans_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
