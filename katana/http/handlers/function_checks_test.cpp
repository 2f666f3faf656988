// Every misuse of a function as a handler or as middleware is one error. Its sentence names the
// remedy, in at most ten lines.
#include "katana/http/handlers/function_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "katana/base/system/compiler_test.hpp"

namespace katana {
namespace {

struct Wrong {
  const char* statement;
  const char* sentence;
};

constexpr Wrong misuses[] = {
    {"router.get(\"/\", [](const Request&) -> Task<Reply> { co_return Reply(200); });",
     "a coroutine takes its parameters by value"},
    {"router.get(\"/\", borrowed);", "a coroutine cannot take a RequestView"},
    {"router.get(\"/\", [](ContentReader) -> Task<void> { co_return; });",
     "a Task<void> handler answers through a ReplyWriter"},
    {"router.get(\"/\", [](ReplyWriter) { return Reply(200); });",
     "ContentReader and ReplyWriter are for coroutines that stream"},
    {"router.get(\"/\", [](ContentReader, ReplyWriter, Json<Member>) -> Task<void> { co_return; "
     "});",
     "the content is either read as a whole"},
    {"router.get(\"/\", [](ContentReader, Json<Member>) -> Task<Reply> { co_return Reply(200); });",
     "the content is either read as a whole"},
    {"router.get(\"/\", [](ContentReader) { return Reply(200); });",
     "ContentReader and ReplyWriter are for coroutines that stream"},
    {"router.get(\"/\", [](Member) { return Reply(200); });",
     "a handler takes RequestView, Request, Path<T>"},
    {"router.get(\"/\", [] { return 7; });", "a handler returns Reply, Json<T>"},
    {"router.get(\"/\", [](auto) { return Reply(200); });", "no function with parameters of known"},
    {"router.get(\"/\", 7);", "no function with parameters of known"},
    {"router.use([](Path<int>) {});", "middleware serves routes of several patterns"},
    {"router.use([](ReplyWriter) {});", "streams are the handler's"},
    {"router.use([] { return Reply(401); });", "what always answers is a handler"},
    {"router.use([](Request&) -> Task<void> { co_return; });",
     "a coroutine takes its parameters by value"},
    {"router.use([](Member) {});", "a handler takes RequestView, Request, Path<T>"},
    {"router.websocket(\"/\", [](const RequestView&) { return 7; });",
     "what makes WebSocket handlers returns"},
};

std::size_t count(std::string_view text, std::string_view of) {
  std::size_t found = 0;
  for (std::size_t at = text.find(of); at != text.npos; at = text.find(of, at + 1)) ++found;
  return found;
}

TEST(FunctionChecks, each_misuse_is_one_error_of_at_most_ten_lines) {
  if (compiler().empty()) GTEST_SKIP() << "no compiler here";
  const std::string head =
      "#include \"katana/http/handlers/json.hpp\"\n"
      "#include \"katana/http/handlers/router.hpp\"\n"
      "using namespace katana;\n"
      "struct Member { int id = 0; };\n"
      "KATANA_DESCRIBE(Member, id)\n"
      "Task<Reply> borrowed(const RequestView&);\n";
  std::string wrong = head;
  for (const Wrong& each : misuses) {
    wrong += "void routes(Router& router, int (*)[" +
             std::to_string(1 + (&each - std::begin(misuses))) + "]) { " + each.statement + " }\n";
  }
  const Compiled good = compile(head +
                                "void routes(Router& router) { router.get(\"/\", [] { return "
                                "Reply(200); }).use([](Json<Member>) {}); }\n");
  EXPECT_TRUE(good.good) << good.output;
  const Compiled refused = compile(wrong);
  EXPECT_FALSE(refused.good);
  for (const Wrong& each : misuses) {
    EXPECT_NE(refused.output.find(each.sentence), std::string::npos) << each.statement;
  }
  EXPECT_EQ(count(refused.output, "error:"), std::size(misuses)) << refused.output;
  // g++ 13 and later quote the source of each step between a call and its error.
  const bool quotes =
      !compile("#if __GNUC__ > 12 && !defined(__clang__)\n#error quotes\n#endif\n").good;
  const std::size_t lines_max = quotes ? 14 : 10;
  EXPECT_LE(count(refused.output, "\n"), lines_max * std::size(misuses)) << refused.output;
}

constexpr const char* views_head =
    "#include <string>\n"
    "#include \"katana/http/handlers/html.hpp\"\n"
    "#include \"katana/http/handlers/request.hpp\"\n"
    "using namespace katana;\n"
    "std::string name();\n"
    "Request request();\n";

// The lines, each in a separate function that returns `type`, and then a valid one.
template <std::size_t count>
std::string views_source(std::string_view type, const char* const (&wrong)[count],
                         std::string_view right) {
  std::string source = views_head;
  const auto add = [&](std::string_view name, std::string_view body) {
    source.append(type).append(" ").append(name).append("() { ").append(body).append(" }\n");
  };
  for (std::size_t index = 0; index < count; ++index) {
    add("wrong_" + std::to_string(index), wrong[index]);
  }
  add("right", right);
  return source;
}

// A reply copies its content, or refers to a constant of the program; nothing else compiles.
TEST(Lifetimes, a_reply_refers_to_constants_alone) {
  if (compiler().empty()) GTEST_SKIP() << "no compiler here";
  constexpr const char* wrong[] = {
      "std::string local = name(); return Reply::json(local.c_str());",
      "const char* const text = \"kept\"; return Reply(200, \"text/plain\", text);"};
  const Compiled refused = compile(views_source(
      "Reply", wrong, "std::string local = name(); return Reply::text(Bytes(local));"));
  EXPECT_FALSE(refused.good);
  EXPECT_GE(count(refused.output, "error:"), std::size(wrong)) << refused.output;
  for (std::size_t index = 0; index < std::size(wrong); ++index) {
    const std::string function = "wrong_" + std::to_string(index);
    EXPECT_NE(refused.output.find(function), std::string::npos) << refused.output;
  }
  EXPECT_EQ(refused.output.find("right"), std::string::npos) << refused.output;
}

TEST(Lifetimes, a_view_into_an_object_that_is_gone_is_refused) {
  if (lifetime_compiler().empty()) GTEST_SKIP() << "no compiler that sees it";
  constexpr const char* wrong[] = {
      "Bytes path = request().path(); return path.size();",
      "Bytes content = request().content(); return content.size();",
      "Bytes bytes = Text(\"owned\").bytes(); return bytes.size();",
      "const std::string& markup = html(\"<p>{}</p>\", 1).markup(); return markup.size();"};
  const Compiled warned =
      compile(views_source("std::size_t", wrong,
                           "const Request kept = request(); return kept.path().size();"),
              lifetime_compiler());
  EXPECT_EQ(count(warned.output, "will be destroyed at the end of the full-expression"),
            std::size(wrong))
      << warned.output;
  EXPECT_EQ(warned.output.find("right"), std::string::npos) << warned.output;
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
