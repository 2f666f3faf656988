#include "katana_tool/lint/lint.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana::tool::lint {
namespace {

// "line:column rule", of each finding.
std::vector<std::string> findings(const std::string& source) {
  std::vector<std::string> found;
  for (const Finding& each : lint_source(source, "a.cpp")) {
    EXPECT_EQ(each.file, "a.cpp");
    EXPECT_FALSE(each.message.empty());
    found.push_back(std::to_string(each.line) + ":" + std::to_string(each.column) + " " +
                    each.rule);
  }
  return found;
}

using Found = std::vector<std::string>;

TEST(Lint, a_conditional_that_awaits_is_named) {
  EXPECT_EQ(findings("auto x = a ? b : co_await c();"), Found{"1:12 conditional-await"});
  EXPECT_EQ(findings("auto x = a ? co_await b() : c;"), Found{"1:12 conditional-await"});
  EXPECT_EQ(findings("f(a ? g(co_await b()) : c);"), Found{"1:5 conditional-await"});
  EXPECT_EQ(findings("auto x = a ? b : c ? d : co_await e();").size(), 2u);
}

TEST(Lint, a_conditional_that_only_asks_or_stands_elsewhere_is_no_finding) {
  EXPECT_EQ(findings("auto x = (co_await a()) ? b : c;"), Found{});
  EXPECT_EQ(findings("auto x = a ? b : c; co_await d();"), Found{});
  EXPECT_EQ(findings("auto x = a ? b : [] { co_await d(); };"), Found{});
}

TEST(Lint, a_conditional_with_temporaries_in_an_awaited_call_is_named) {
  EXPECT_EQ(
      findings("co_await look_up(\"name\", from ? std::string(*from + \", far\") : \"near\");"),
      Found{"1:31 conditional-argument"});
  EXPECT_EQ(findings("co_await a.b<C, D>(x ? *y : \"text\");"), Found{"1:22 conditional-argument"});
  EXPECT_EQ(findings("co_await a(f({x ? make() : make(1)}));"), Found{"1:17 conditional-argument"});
  EXPECT_EQ(findings("co_await f(1).g(x ? make() : other);"), Found{"1:19 conditional-argument"});
  EXPECT_EQ(findings("co_await (x ? f() : g());"), Found{"1:13 conditional-argument"});
}

TEST(Lint, a_conditional_of_values_without_destructors_is_no_finding) {
  for (const char* argument :
       {"x ? 1 : 2", "x ? a : b", "x ? a->b.c : A::b", "x ? \"a\" : \"b\"", "x ? n + 1 : 0",
        "x ? t.size() : 0", "x ? seconds(1) : seconds(2)", "x ? -1 : static_cast<int>(n)"}) {
    EXPECT_EQ(findings("co_await f(" + std::string(argument) + ");"), Found{}) << argument;
  }
}

TEST(Lint, a_lambda_within_an_awaited_call_has_its_own_statements) {
  EXPECT_EQ(findings("co_await f([&] { return x ? make() : other; });"), Found{});
  EXPECT_EQ(findings("co_await f([&](int x) { return x ? make() : other; });"), Found{});
}

TEST(Lint, a_lambda_that_owns_its_captures_in_an_awaited_call_is_named) {
  EXPECT_EQ(findings("co_await retry([text = std::move(text)] { send(text); });"),
            Found{"1:16 captured-lambda"});
  EXPECT_EQ(findings("co_await retry(3, [=] { send(text); });"), Found{"1:19 captured-lambda"});
}

TEST(Lint, a_lambda_without_captures_that_it_owns_is_no_finding) {
  for (const char* captures : {"", "&", "this", "&a, &b", "this, &a", "*this, &a"}) {
    EXPECT_EQ(findings("co_await retry([" + std::string(captures) + "] { send(); });"),
              std::string(captures).starts_with('*') ? Found{"1:16 captured-lambda"} : Found{})
        << captures;
  }
  EXPECT_EQ(findings("co_await pool.run([n] { return n; });"), Found{}) << "run() refuses others";
  EXPECT_EQ(findings("co_await rows[at].read(values[at]);"), Found{}) << "an index is no lambda";
}

TEST(Lint, a_coroutine_that_is_kept_and_captures_all_by_reference_is_named) {
  EXPECT_EQ(findings("router.get(\"/\", [&]() -> Task<Reply> { co_return Reply(200); });"),
            Found{"1:17 kept-reference"});
  EXPECT_EQ(findings("app.job(\"a\", every(s), [&, x] -> katana::Task<void> { co_return; }, {});"),
            Found{"1:24 kept-reference"});
  for (const char* source :
       {"router.get(\"/\", [&]() { return Reply(200); });",
        "router.get(\"/\", [&db]() -> Task<Reply> { co_return Reply(200); });",
        "auto body = [&](Transaction& within) -> Task<Result<void>> { co_return {}; };",
        "loop.run([&]() -> Task<void> { co_return; });",
        "co_await scope.spawn([&]() -> Task<void> { co_return; });",
        "router.get(\"/\", f).use(g); auto h = [&]() -> Task<void> { co_return; };"}) {
    EXPECT_EQ(findings(source), Found{}) << source;
  }
}

TEST(Lint, a_coroutine_of_a_lambda_that_is_gone_is_named) {
  EXPECT_EQ(findings("net::spawn([x]() -> Task<void> { co_await f(x); }(), \"name\");"),
            Found{"1:12 temporary-lambda"});
  EXPECT_EQ(findings("auto task = [&](int a) -> Task<int> { co_return a; }(1);"),
            Found{"1:13 temporary-lambda"});
  for (const char* source : {"co_await [&]() -> Task<void> { co_return; }();",
                             "co_await when_all([&]() -> Task<void> { co_return; }(), f());",
                             "const int n = loop.run([&]() -> Task<int> { co_return 1; }());",
                             "net::spawn([](int x) -> Task<void> { co_await f(x); }(1), \"name\");",
                             "auto value = [&]() -> int { return 1; }();"}) {
    EXPECT_EQ(findings(source), Found{}) << source;
  }
}

TEST(Lint, braces_as_a_default_argument_of_a_coroutine_are_named) {
  EXPECT_EQ(findings("Task<Result<void>> Client::send(int a, Options options = {});"),
            Found{"1:56 default-braces"});
  EXPECT_EQ(findings("Task<void> f(Options options = Options());"), Found{});
  EXPECT_EQ(findings("void f(Options options = {});"), Found{});
}

TEST(Lint, a_comment_allows_a_rule_on_its_line_and_on_the_next) {
  EXPECT_EQ(findings("co_await f(x ? g() : h());  // katana-lint: allow conditional-argument"),
            Found{});
  EXPECT_EQ(findings("// katana-lint: allow conditional-argument\nco_await f(x ? g() : h());"),
            Found{});
  EXPECT_EQ(findings("// katana-lint: allow captured-lambda\nco_await f(x ? g() : h());").size(),
            1u)
      << "another rule";
  EXPECT_EQ(
      findings("// katana-lint: allow conditional-argument\n\nco_await f(x ? g() : h());").size(),
      1u)
      << "another line";
}

TEST(Lint, text_and_comments_are_no_code) {
  EXPECT_EQ(findings("// a ? b : co_await c\nauto x = \"a ? b : co_await c\";"), Found{});
}

TEST(Lint, a_source_that_ends_anywhere_is_read_to_its_end) {
  const std::string source =
      "Task<void> f(A a = {}) { co_await g<B>(x ? [y = z](int) { return y; } : h(\"t\")); }";
  for (std::size_t size = 0; size <= source.size(); ++size) findings(source.substr(0, size));
}

}  // namespace
}  // namespace katana::tool::lint

// SPDX-License-Identifier: Apache-2.0
