#include "katana/base/system/failure.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace katana {
namespace {

struct OfItsOwn {};

template <class F>
std::exception_ptr thrown_by(F f) {
  try {
    f();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void throw_nested() {
  try {
    throw std::out_of_range("no row 7");
  } catch (...) {
    std::throw_with_nested(std::runtime_error("cannot load the user"));
  }
}

TEST(FailureTest, nested_exceptions_are_described_from_the_outermost_to_the_innermost) {
  const auto exception = thrown_by(throw_nested);
  EXPECT_EQ(describe(exception), "cannot load the user: no row 7");
  EXPECT_EQ(type_name(exception), "std::runtime_error");
}

TEST(FailureTest, what_is_no_std_exception_has_its_type) {
  const auto exception = thrown_by([] { throw OfItsOwn(); });
  EXPECT_EQ(describe(exception), "(no std::exception)");
  EXPECT_NE(type_name(exception).find("OfItsOwn"), std::string::npos);
  const Error error = Error(Code::internal, "no such table").within("load");
  EXPECT_EQ(describe(thrown_by([&] { throw error; })), "load: no such table");
}

TEST(FailureTest, a_failure_is_one_line_that_names_the_place_and_the_cause) {
  const auto exception = thrown_by([] { throw std::runtime_error("two\nlines"); });
  const Failure failure{
      .what = "the handler threw", .exception = exception, .place = "GET /users/{id}"};
  EXPECT_EQ(describe(failure), "GET /users/{id}: the handler threw: std::runtime_error: two lines");
}

TEST(FailureTest, a_cause_of_any_length_is_cut) {
  const auto exception = thrown_by([] { throw std::runtime_error(std::string(100'000, 'x')); });
  EXPECT_EQ(describe({.what = "it failed", .exception = exception}).size(), failure_bytes_max);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
