#include "katana/openapi/generate/test_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "katana/base/text/format.hpp"
#include "katana/openapi/generate/server.hpp"

namespace katana::openapi::generate {
namespace {

// The best reply that there is: success, else another status, else any.
std::string reply_text(const OperationPlan& plan) {
  const PlannedReply* best = nullptr;
  const auto rank = [](const PlannedReply& reply) {
    const unsigned code = reply.reply->code();
    if (code >= 200 && code < 300) return 0;
    return code != 0 ? 1 : 2;
  };
  for (const PlannedReply& each : plan.replies) {
    if (best == nullptr || rank(each) < rank(*best)) best = &each;
  }
  const std::string begin = plan.reply_type + "::";
  if (best == nullptr) return begin + "undescribed(katana::Reply(501))";
  std::string text = begin + best->method;
  if (!best->contents.empty()) text += best->contents[0].name;
  text += '(';
  if (best->reply->code() == 0) {
    text += best->reply->status == "default" ? "200" : best->reply->status.substr(0, 1) + "00";
  }
  if (!best->contents.empty()) {
    if (best->reply->code() == 0) text += ", ";
    text += "{}";
  }
  return text + ')';
}

// The check that the status is one of the description.
std::string expectation(const OperationPlan& plan) {
  std::string text;
  for (const PlannedReply& each : plan.replies) {
    if (each.reply->status == "default") return "EXPECT_LT(status, 500u) << reply;";
    if (!text.empty()) text += " || ";
    text += each.reply->code() != 0 ? "status == " + each.reply->status
                                    : fmt::format("status / 100 == {}", each.reply->status[0]);
  }
  return "EXPECT_TRUE(" + (text.empty() ? "status != 0" : text) + ") << reply;";
}

}  // namespace

std::string TestText::file_name() const { return value_name(tag_) + "_api_test.cpp"; }

void TestText::add(const OperationPlan& plan) {
  std::string parameters = "katana::Request";
  for (const ServerText::Argument& each : ServerText::arguments_of(plan)) {
    parameters += ", " + each.type;
  }
  fmt::format_to(std::back_inserter(operations_),
                 "  katana::Task<{0}> {1}({2}) override {{\n    co_return {3};\n  }}\n",
                 plan.reply_type, plan.name, parameters, reply_text(plan));
  const auto out = std::back_inserter(tests_);
  fmt::format_to(out, "\nTEST_F({}ApiTest, {}) {{\n", type_name(tag_), plan.name);
  const auto sample = options_.samples.find(plan.operation->method + " " + plan.operation->path);
  if (sample == options_.samples.end() || !sample->second.why_not.empty()) {
    fmt::format_to(out, "  GTEST_SKIP() << {};\n}}\n",
                   literal("write the request by hand: " + (sample == options_.samples.end()
                                                                ? std::string("none was drawn")
                                                                : sample->second.why_not)));
    return;
  }
  std::string fields;
  for (const auto& [name, value] : sample->second.fields) {
    fields +=
        fmt::format("{}{{{}, {}}}", fields.empty() ? "" : ", ", literal(name), literal(value));
  }
  fmt::format_to(out,
                 "  const auto reply = server_.send({}, {},\n      {},\n      {{{}}});\n"
                 "  const unsigned status = reply.status();\n  {}\n}}\n",
                 literal(plan.operation->method), literal(sample->second.target),
                 literal(sample->second.content), fields, expectation(plan));
}

std::string TestText::source() const {
  const std::string name = type_name(tag_);
  return fmt::format(
      "// Tests of {0}, begun by katana openapi generate --tests. The file is yours: it is not\n"
      "// written again. A request that the description takes is sent to each operation, and the\n"
      "// reply has one of its statuses. Replace {1} by your class.\n"
      "#include <gtest/gtest.h>\n\n#include <memory>\n#include <optional>\n#include <utility>\n\n"
      "#include \"{2}_api.hpp\"\n#include \"katana/testing/test_server.hpp\"\n\n"
      "namespace {{\n\nusing namespace {3};\n\n"
      "// Answers with empty content.\nclass {1} final : public {4}Api {{\n public:\n{5}}};\n\n"
      "class {4}ApiTest : public testing::Test {{\n protected:\n"
      "  static katana::Result<katana::Service> service() {{\n    katana::Router router;\n"
      "    add_routes(router, std::make_shared<{1}>());\n"
      "    return std::move(router).build();\n  }}\n"
      "  katana::testing::TestServer server_{{service()}};\n}};\n{6}\n}}  // namespace\n",
      options_.source, name + "Stub", value_name(tag_), options_.name_space, name, operations_,
      tests_);
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
