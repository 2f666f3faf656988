// The cost of returning a success, and of returning a failure.
#include <exception>
#include <expected>
#include <stdexcept>
#include <string>

#include "katana/base/system/result.hpp"
#include "questions.hpp"

namespace common_bench {
namespace {

using katana::Code;
using katana::Error;
using katana::fail;
using katana::Result;

// Many short rounds: each fits a slice of a busy machine's time.
constexpr int rounds = 31;
constexpr std::uint64_t calls = 500'000;
constexpr std::uint64_t failures = 40'000;
constexpr const char* long_message = "open 'users.db': permission denied; give its owner access";

// The result of the work: 0 success, 1 a code, 2 a message, n above that a message with n - 2
// contexts.
constinit int kind = 0;

// Out of line, as functions of another file are. Some work, so that there is something to fail at:
// the value of four digits.
constinit char digits[] = "4711";
inline int read_digits() {
  int value = 0;
  for (const char* at = digits; at != digits + 4; ++at) value = value * 10 + (*at - '0');
  return value;
}

[[gnu::noinline]] int bare() {
  micro::use(digits);
  return read_digits();
}
// The caller looks at the sign.
[[gnu::noinline]] int bare_or_negative() {
  micro::use(digits);
  if (kind != 0) [[unlikely]]
    return -kind;
  return read_digits();
}
[[gnu::noinline]] std::expected<int, int> by_expected() {
  micro::use(digits);
  if (kind != 0) [[unlikely]]
    return std::unexpected(kind);
  return read_digits();
}
[[gnu::noinline]] Result<int> by_result() {
  micro::use(digits);
  if (kind == 1) [[unlikely]]
    return fail(Code::not_found);
  if (kind >= 2) [[unlikely]]
    return fail(Code::permission_denied, long_message);
  return read_digits();
}
struct NotFound {};
[[gnu::noinline]] int by_exception() {
  micro::use(digits);
  if (kind == 1) [[unlikely]]
    throw NotFound();
  if (kind >= 2) [[unlikely]]
    throw std::runtime_error(long_message);
  return read_digits();
}

// `depth` contexts around the failure.
[[gnu::noinline]] Result<int> wider_result(int depth) {
  if (depth == 0) return by_result();
  Result<int> inner = wider_result(depth - 1);
  if (!inner) return std::unexpected(inner.error().within("read the table of users"));
  return inner;
}
[[gnu::noinline]] int wider_exception(int depth) {
  if (depth == 0) return by_exception();
  try {
    return wider_exception(depth - 1);
  } catch (...) {
    std::throw_with_nested(std::runtime_error("read the table of users"));
  }
}

template <class Work>
micro::Subject subject(micro::Suite& suite, std::string name, std::uint64_t full, Work work) {
  return {std::move(name), [&suite, full, work] { return timed(suite, full, work); }};
}

int with_result(int depth) {
  const Result<int> result = wider_result(depth);
  return result ? *result : -1;
}
int with_exception(int depth) {
  try {
    return wider_exception(depth);
  } catch (...) {
    return -1;
  }
}

void ask_success(micro::Suite& suite) {
  kind = 0;
  micro::expect(bare() == 4711 && bare_or_negative() == 4711 && *by_result() == 4711 &&
                    *by_expected() == 4711,
                "digits");
  const auto* const asked =
      suite.ask({"success of a function that reads four digits: ns", "ns"},
                {subject(suite, "int that cannot fail", calls, [] { micro::use(bare()); }),
                 subject(suite, "int, negative when it failed", calls,
                         [] {
                           const int value = bare_or_negative();
                           micro::expect(value >= 0, "int");
                           micro::use(value);
                         }),
                 subject(suite, "katana Result<int>", calls,
                         [] {
                           const Result<int> result = by_result();
                           micro::expect(result.has_value(), "result");
                           micro::use(*result);
                         }),
                 subject(suite, "std::expected<int, int>", calls,
                         [] {
                           const auto result = by_expected();
                           micro::expect(result.has_value(), "expected");
                           micro::use(*result);
                         }),
                 subject(suite, "int, or an exception", calls, [] { micro::use(by_exception()); })},
                rounds);
  suite.target("success of Result<int> <= 1.2 x an int that tells as much", asked,
               "katana Result<int>", "int, negative when it failed", 1.2, micro::at_most);
}

void ask_failure(micro::Suite& suite, int how, const std::string& text, int depth) {
  const auto set = [how](auto work, int contexts) {
    return [how, work, contexts] {
      kind = how;
      micro::expect(work(contexts) == -1, "failure");
    };
  };
  const auto* const asked =
      suite.ask({"failure, " + text + ": ns", "ns"},
                {subject(suite, "katana Result<int>", failures, set(with_result, depth)),
                 subject(suite, "exception", failures / 10, set(with_exception, depth))});
  suite.target("failure, " + text + ": Result <= 0.5 x exception", asked, "katana Result<int>",
               "exception", 0.5, micro::at_most);
  const auto allocations = [how, depth](auto work) {
    kind = how;
    const std::uint64_t before = heap_calls();
    micro::expect(work(depth) == -1, "failure");
    return micro::Sample{static_cast<double>(heap_calls() - before)};
  };
  // The memory of throw comes from __cxa_allocate_exception, which is not operator new.
  const auto* const counted =
      suite.ask({"failure, " + text + ": calls of operator new", "calls"},
                {{"katana Result<int>", [allocations] { return allocations(with_result); }},
                 {"exception", [allocations] { return allocations(with_exception); }}},
                1);
  if (how == 1) {
    suite.target("a failure by a code allocates nothing", counted, "katana Result<int>", 0,
                 micro::at_most);
  }
}

}  // namespace

void ask_result(micro::Suite& suite) {
  ask_success(suite);
  ask_failure(suite, 1, "a code", 0);
  ask_failure(suite, 2, "a message", 0);
  ask_failure(suite, 2, "a chain of 2", 1);
  ask_failure(suite, 2, "a chain of 5", 4);
  kind = 0;
}

}  // namespace common_bench

// SPDX-License-Identifier: Apache-2.0
