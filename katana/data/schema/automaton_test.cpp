#define PCRE2_CODE_UNIT_WIDTH 8
#include "katana/data/schema/automaton.hpp"

#include <gtest/gtest.h>
#include <pcre2.h>

#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/data/schema/expression.hpp"

namespace katana::schema {
namespace {

constexpr std::uint64_t enough = std::uint64_t{1} << 40;

// As Expression calls it, with all the steps that it wants. No answer: the expression is none.
class Reference {
 public:
  explicit Reference(const std::string& expression)
      : context_(pcre2_compile_context_create(nullptr)) {
    pcre2_set_compile_extra_options(context_, PCRE2_EXTRA_ALT_BSUX);
    pcre2_set_newline(context_, PCRE2_NEWLINE_LF);
    int error = 0;
    std::size_t offset = 0;
    code_ =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                      PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS |
                          PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C,
                      &error, &offset, context_);
    if (code_ != nullptr) data_ = pcre2_match_data_create(1, nullptr);
  }
  ~Reference() {
    pcre2_match_data_free(data_);
    pcre2_code_free(code_);
    pcre2_compile_context_free(context_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  bool is_expression() const noexcept { return code_ != nullptr; }
  Found find(const std::string& text) const {
    const int found = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0,
                                  0, data_, nullptr);
    return found >= 0 ? Found::yes : found == PCRE2_ERROR_NOMATCH ? Found::no : Found::costly;
  }

 private:
  pcre2_compile_context* context_;
  pcre2_code* code_ = nullptr;
  pcre2_match_data* data_ = nullptr;
};

bool matches(Bytes expression, Bytes text) {
  const auto automaton = Automaton::compile(expression);
  if (!automaton) throw std::runtime_error("no automaton of " + std::string(expression));
  StepBudget budget(enough);
  return automaton->find(text, budget) == Found::yes;
}

TEST(Automaton, finds_what_the_expression_says_anywhere_or_where_its_places_are) {
  EXPECT_TRUE(matches("b+", "abba"));
  EXPECT_FALSE(matches("^b+", "abba"));
  EXPECT_TRUE(matches("^a(b|c)*a$", "abcbca"));
  EXPECT_FALSE(matches("^a(b|c)*a$", "abcbcax"));
  EXPECT_TRUE(matches("^(?:[0-9]{3}-)?[0-9]{4}$", "555-1234"));
  EXPECT_FALSE(matches("^(?:[0-9]{3}-)?[0-9]{4}$", "55-1234"));
  EXPECT_TRUE(matches("^$", ""));
  EXPECT_FALSE(matches("^$", "\n"));
  EXPECT_TRUE(matches("a$|^b", "ba"));
  EXPECT_TRUE(matches("", "anything"));
}

TEST(Automaton, reads_characters_and_not_octets) {
  EXPECT_TRUE(matches("^.$", "é"));
  EXPECT_FALSE(matches("^.$", "\n"));
  EXPECT_TRUE(matches("^[^a-z]{2}$", "é😀"));
  EXPECT_TRUE(matches("^[α-ω]+$", "λογος"));
  EXPECT_TRUE(matches(R"(^\u{1F600}$)", "😀"));
  EXPECT_FALSE(matches("[]", "a"));
  EXPECT_TRUE(matches("^[^]$", "\n"));
  EXPECT_FALSE(matches("b$",
                       "a\xff"
                       "b"));  // it is UTF-8 no further
}

TEST(Automaton, leaves_to_others_what_it_cannot_decide) {
  for (const Bytes each : {R"((a)\1)", "(?=a)b", "(?<!a)b", R"(\bword\b)", R"(\p{Lu})", "a++",
                           "(?i)a", "[[:alpha:]]", R"(\v)", "a{0,60000}"}) {
    EXPECT_FALSE(Automaton::compile(each)) << each;
  }
}

TEST(Automaton, takes_steps_in_proportion_to_the_text_where_going_back_would_take_for_ever) {
  for (const Bytes each : {R"(^(\w+\s?)+$)", "^(a|a)*$", "(x+x+)+y", "[ab]+[ac]+d", R"(\s+$)"}) {
    const auto automaton = Automaton::compile(each);
    ASSERT_TRUE(automaton) << each;
    EXPECT_TRUE(automaton->has_table()) << each;
    const std::string text = std::string(20'000, each.starts_with("\\s") ? ' ' : 'a') + "!";
    StepBudget budget(text.size());
    EXPECT_EQ(automaton->find(text, budget), Found::no) << each;
  }
}

TEST(Automaton, without_a_table_gives_the_same_answers_within_the_budget) {
  const auto automaton = Automaton::compile("^(a|b)*a(a|b){16}$");
  ASSERT_TRUE(automaton);
  EXPECT_FALSE(automaton->has_table());
  const std::string good = "bbba" + std::string(16, 'b');
  StepBudget budget(enough);
  EXPECT_EQ(automaton->find(good, budget), Found::yes);
  EXPECT_EQ(automaton->find(good + "b", budget), Found::no);
  StepBudget small(100);
  EXPECT_EQ(automaton->find(std::string(10'000, 'a'), small), Found::costly);
  EXPECT_TRUE(small.is_spent());
}

// Expressions of a few characters, nested, and often of no sense.
class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : random_(seed) {}
  std::string expression(int depth = 0) {
    std::string made;
    for (auto count = random_.below(4); count-- > 0;) made += part(depth);
    if (random_.below(5) == 0) made += "|" + part(depth);
    return made;
  }
  std::string text() {
    static const char* const pieces[] = {"a", "b", "c", "é", "\n", " ", "1", "_", "-", "😀"};
    std::string made;
    for (auto count = random_.below(9); count-- > 0;) made += pieces[random_.below(10)];
    return made;
  }

 private:
  std::string part(int depth) {
    static const char* const atoms[] = {"a",         "b",         ".",     "[ab]",      "[^a]",
                                        R"(\d)",     R"(\w)",     R"(\S)", R"([\s1])",  "é",
                                        "[a-é]",     "[]",        "[^]",   R"(\-)",     R"(\x41)",
                                        R"(\u0061)", R"([b\-c])", "[-a]",  R"([\b\]])", "}"};
    std::string made = depth < 3 && random_.below(3) == 0
                           ? (random_.below(2) == 0 ? "(" : "(?:") + expression(depth + 1) + ")"
                           : atoms[random_.below(std::size(atoms))];
    static const char* const often[] = {"*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "{0}"};
    // PCRE2 does not repeat a class of nothing, which ECMA 262 does.
    if (made != "[]" && random_.below(3) == 0) made += often[random_.below(std::size(often))];
    if (random_.below(12) == 0) made = "^" + made;
    if (random_.below(12) == 0) made += "$";
    return made;
  }
  Random random_;
};

TEST(Automaton, agrees_with_pcre2_on_drawn_expressions_and_texts) {
  Drawn drawn(17);
  std::size_t known = 0, found = 0;
  for (int count = 0; count < 1000; ++count) {
    const std::string expression = drawn.expression();
    const Reference reference(expression);
    if (!reference.is_expression()) continue;
    const auto automaton = Automaton::compile(expression);
    if (!automaton) continue;
    ++known;
    for (int texts = 0; texts < 8; ++texts) {
      const std::string text = drawn.text();
      const Found wanted = reference.find(text);
      if (wanted == Found::costly) continue;
      StepBudget budget(enough);
      EXPECT_EQ(automaton->find(text, budget), wanted)
          << "expression " << expression << ", text " << text;
      found += wanted == Found::yes ? 1 : 0;
    }
  }
  EXPECT_GT(known, 500u);
  EXPECT_GT(found, 500u);
}

Found find(Bytes expression, Bytes text, std::uint64_t steps) {
  const auto made = Expression::compile(expression);
  if (!made) throw std::runtime_error(made.error().describe());
  StepBudget budget(steps);
  return made->find(text, budget);
}

TEST(Expression, that_looks_ahead_or_refers_back_is_decided_by_going_back) {
  EXPECT_EQ(find(R"(^(?=.*[A-Z])(?=.*\d).{8,}$)", "aaAA11bb", 1'000), Found::yes);
  EXPECT_EQ(find(R"(^(?=.*[A-Z])(?=.*\d).{8,}$)", "aaaa11bb", 1'000), Found::no);
  EXPECT_EQ(find(R"((.)\1)", "abccd", 1'000), Found::yes);
  EXPECT_EQ(find(R"((.)\1)", "abcd", 1'000), Found::no);
  EXPECT_EQ(find(R"((?<=a)b)", "éab", 1'000), Found::yes);
  EXPECT_EQ(find(R"(\bb)", "ab é b", 1'000), Found::yes);
  EXPECT_EQ(find(R"((.)\1)", "\xff\xff", 1'000), Found::no);
}

TEST(Expression, that_goes_back_too_often_is_costly_and_takes_no_more_than_the_budget) {
  const std::string text = std::string(34, 'a') + "!";
  EXPECT_EQ(find(R"(^(\w+\s?)+(?=z)$)", text, 100'000), Found::costly);
  EXPECT_EQ(find(R"((\w+\s?)+(?!\w)[yz])", text, 100'000), Found::costly);
  // Every place of a long text begins a pattern.
  EXPECT_EQ(find(R"([ab]+[ac]+(?=d)d)", std::string(50'000, 'a') + "ed", 100'000), Found::costly);
}

TEST(Expression, is_valid_takes_steps_for_what_it_compiles) {
  StepBudget budget(10'000);
  EXPECT_TRUE(Expression::is_valid("a+", budget));
  EXPECT_FALSE(Expression::is_valid("(", budget));
  while (!budget.is_spent()) (void)Expression::is_valid("a+", budget);
  EXPECT_FALSE(Expression::is_valid("a+", budget));
}

}  // namespace
}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
