#include "katana/http/handlers/framework_problems.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "katana/http/handlers/handler.hpp"
#include "katana/http/session/exchange_core.hpp"
#include "katana/wire/http/status.hpp"

namespace katana {
namespace {

namespace types = problem_types;

std::string begin_of(const ProblemType& type) {
  return fmt::format(R"({{"type":"{}","title":"{}","status":{},)", type.uri, type.title,
                     type.status);
}

TEST(FrameworkProblems, a_refusal_of_the_session_has_the_type_of_its_status_and_cause) {
  const std::array<std::pair<const ProblemType*, Bytes>, 13> cases = {{
      {&types::malformed_request, "x"},
      {&types::request_timeout, "x"},
      {&types::content_too_large, "x"},
      {&types::target_too_long, "x"},
      {&types::unknown_expectation, "x"},
      {&types::misdirected, "x"},
      {&types::rate_limited, session::too_many_requests},
      {&types::head_too_large, "x"},
      {&types::internal_error, session::no_reply_made},
      {&types::not_implemented, "x"},
      {&types::memory_scarce, session::memory_scarce},
      {&types::handler_timeout, session::handler_late},
      {&types::unsupported_version, "x"},
  }};
  for (const auto& [type, text] : cases) {
    const Reply reply = detail::refusal_problem(type->status, text);
    EXPECT_EQ(reply.status(), type->status);
    EXPECT_TRUE(reply.content().starts_with(begin_of(*type))) << reply.content();
    EXPECT_EQ(type->title, http::reason_phrase(type->status));
  }
}

TEST(FrameworkProblems, an_error_has_a_type_where_its_status_says_less_than_the_framework_knows) {
  EXPECT_TRUE(
      problem(Error(Code::internal, "x")).content().starts_with(begin_of(types::internal_error)));
  EXPECT_TRUE(
      problem(Error(Code::unavailable, "x")).content().starts_with(begin_of(types::unavailable)));
  EXPECT_TRUE(problem(Error(Code::deadline_exceeded, "x"))
                  .content()
                  .starts_with(begin_of(types::deadline_exceeded)));
  EXPECT_TRUE(problem(Error(Code::unauthenticated, "x"))
                  .content()
                  .starts_with(begin_of(types::login_needed)));
  EXPECT_TRUE(unauthenticated("Basic", "x").content().starts_with(begin_of(types::login_needed)));
}

TEST(FrameworkProblems, a_problem_of_the_program_itself_has_no_type) {
  for (const Reply& reply : {problem(Error(Code::not_found, "x")), problem(404, "x"),
                             problem(503, "x"), problem(Error(Code::invalid_argument, "x"))}) {
    EXPECT_TRUE(reply.content().starts_with(R"({"type":"about:blank",)")) << reply.content();
  }
}

TEST(FrameworkProblems, a_wrong_parameter_has_a_type_and_keeps_its_error) {
  const Reply reply = detail::parameter_problem(Error(Code::invalid_argument, "query 'n'"));
  EXPECT_TRUE(reply.content().starts_with(begin_of(types::invalid_parameter))) << reply.content();
  ASSERT_NE(reply.cause(), nullptr);
  EXPECT_EQ(reply.cause()->message(), "query 'n'");
  const Reply inside = detail::parameter_problem(Error(Code::internal, "secret"));
  EXPECT_TRUE(inside.content().starts_with(begin_of(types::internal_error))) << inside.content();
  EXPECT_FALSE(inside.content().contains("secret"));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
