// Patterns that must not compile, and the compiler's messages.
#include "katana/observe/log/pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "katana/base/system/compiler_test.hpp"

namespace katana::log {
namespace {

using testing::HasSubstr;

Compiled compile_call(const std::string& call) {
  return compile(
      "#include <string>\n#include \"katana/observe/log/logger.hpp\"\nusing namespace "
      "katana::log;\n"
      "struct Opaque {};\n"
      "void f(Logger& logger, std::string text) { " +
      call + " }\n");
}

class PatternTest : public testing::Test {
 protected:
  void SetUp() override {
    if (compiler().empty()) GTEST_SKIP() << "no compiler";
  }
};

TEST_F(PatternTest, what_is_right_compiles) {
  const Compiled compiled = compile_call("logger.info(\"{} {}\", 1, text, field(\"n\", 2));");
  EXPECT_TRUE(compiled.good) << compiled.output;
}

TEST_F(PatternTest, a_pattern_with_a_field_too_many_does_not_compile) {
  EXPECT_FALSE(compile_call("logger.info(\"{} {}\", 1);").good);
}

TEST_F(PatternTest, a_specification_that_its_argument_does_not_have_does_not_compile) {
  EXPECT_FALSE(compile_call("logger.info(\"{:d}\", text);").good);
}

TEST_F(PatternTest, a_pattern_that_is_no_literal_does_not_compile) {
  EXPECT_FALSE(compile_call("logger.info(text.c_str());").good);
}

TEST_F(PatternTest, a_field_name_that_is_no_literal_does_not_compile) {
  EXPECT_FALSE(compile_call("logger.info(\"\", field(text.c_str(), 1));").good);
}

TEST_F(PatternTest, a_type_that_cannot_be_copied_raw_is_refused_in_words) {
  EXPECT_THAT(compile_call("logger.info(\"{}\", Opaque());").output,
              HasSubstr("describe it (KATANA_DESCRIBE)"));
}

TEST_F(PatternTest, fields_before_arguments_are_refused_in_words) {
  EXPECT_THAT(compile_call("logger.info(\"{}\", field(\"n\", 1), 2);").output,
              HasSubstr("fields come after the arguments"));
}

}  // namespace
}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
