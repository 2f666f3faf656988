#include "katana/base/values/any_of.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/box.hpp"
#include "katana/base/values/patch.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/data/container/binary_read.hpp"
#include "katana/data/container/binary_write.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"

namespace katana::container {
namespace {

enum class Level { low, high };
KATANA_DESCRIBE_ENUM(Level, low, high)

struct Card {
  std::string number;
  Patch<std::string> holder;
  bool operator==(const Card&) const = default;
};
KATANA_DESCRIBE(Card, (number, length(1, 4)), (holder, not_null))

struct Account {
  std::string iban;
  std::optional<std::string> holder;
  bool operator==(const Account&) const = default;
};
KATANA_DESCRIBE_STRICT(Account, iban, holder)

enum class Kept { cash };
KATANA_DESCRIBE_ENUM(Kept, cash)
// Told apart from Card by the kind of a member, and by its enumerator.
struct Cash {
  std::int64_t number = 0;
  std::optional<Kept> kept;
  bool operator==(const Cash&) const = default;
};
KATANA_DESCRIBE(Cash, number, kept)

using Source = AnyOf<std::string, Card, Account, Cash>;

struct Payment {
  Source source;
  std::optional<AnyOf<std::int64_t, double, bool, std::vector<std::string>>> amount;
  Patch<AnyOf<Level, Uuid>> level;
  bool operator==(const Payment&) const = default;
};
KATANA_DESCRIBE(Payment, source, amount, (level, not_null))

// A struct that contains its own type, also by way of a type of several.
struct Expression;
using Operand = AnyOf<double, std::string, Box<Expression>>;
struct Expression {
  std::string does;
  Box<Operand> left;
  Patch<Box<Expression>> also;
  std::vector<Operand> others;
  bool operator==(const Expression&) const;
};
KATANA_DESCRIBE(Expression, does, left, (also, not_null), (others, defaulted))
bool Expression::operator==(const Expression&) const = default;

std::string as_packed(Bytes json) { return to_message_pack(*read_json<Value>(json)); }

template <class T>
T read_both(Bytes json) {
  const Result<T> read = read_json<T>(json);
  const Result<T> unpacked = read_message_pack<T>(as_packed(json));
  EXPECT_EQ(read ? "" : read.error().describe(), "") << json;
  EXPECT_EQ(unpacked ? "" : unpacked.error().describe(), "") << json;
  if (!read || !unpacked) return T();
  EXPECT_EQ(*read, *unpacked) << json;
  return *read;
}
template <class T>
std::string any_of_fault(Bytes json) {
  const Result<T> read = read_json<T>(json);
  const Result<T> unpacked = read_message_pack<T>(as_packed(json));
  const std::string words = read ? "none" : read.error().describe();
  EXPECT_EQ(words, unpacked ? "none" : unpacked.error().describe()) << json;
  return words;
}

// Counts the objects that live.
template <int number>
struct Living {
  Living() { ++alive; }
  Living(const Living& other) : throws(other.throws) {
    if (throws) throw std::runtime_error("no copy");
    ++alive;
  }
  Living(Living&& other) noexcept : throws(std::exchange(other.throws, false)) { ++alive; }
  Living& operator=(const Living&) = default;
  Living& operator=(Living&&) = default;
  ~Living() { --alive; }
  bool operator==(const Living&) const = default;

  static inline int alive = 0;
  bool throws = false;
};

TEST(AnyOf, it_ends_each_value_once_and_copies_and_moves_all_alternatives) {
  using Both = AnyOf<Living<1>, std::string, Living<2>>;
  {
    const Both one, text = "text", two = Living<2>();
    for (const Both* from : {&one, &text, &two}) {
      for (const Both* to : {&one, &text, &two}) {
        Both target = *to;
        target = *from;
        EXPECT_EQ(target, *from);
        Both moved = std::move(target);
        EXPECT_EQ(moved, *from);
        target = *to;
        target = std::move(moved);
        EXPECT_EQ(target, *from);
      }
    }
    EXPECT_NE(one, two);
    EXPECT_NE(text, Both("other"));
    EXPECT_EQ(Living<1>::alive, 1);
    EXPECT_EQ(Living<2>::alive, 1);
    Both own = two;
    own = *&own;
    own = std::move(*&own);
    EXPECT_TRUE(own.holds<Living<2>>());
    own.emplace<std::string>() = "now";
    EXPECT_EQ(*own.get_if<std::string>(), "now");
    EXPECT_EQ(own.get_if<Living<2>>(), nullptr);
    own.visit([]<class A>(A& value) {
      if constexpr (std::same_as<A, std::string>) value += " then";
    });
    EXPECT_EQ(own.get<1>(), "now then");
    EXPECT_EQ(own.index(), 1u);
  }
  EXPECT_EQ(Living<1>::alive, 0);
  EXPECT_EQ(Living<2>::alive, 0);
}

TEST(AnyOf, a_copy_that_throws_changes_nothing) {
  using Both = AnyOf<Living<1>, std::string>;
  {
    Both broken;
    broken.get<0>().throws = true;
    Both target = "kept";
    EXPECT_THROW(target = broken, std::runtime_error);
    EXPECT_EQ(target, Both("kept"));
  }
  EXPECT_EQ(Living<1>::alive, 0);
}

TEST(AnyOf, the_kind_of_value_chooses) {
  EXPECT_EQ(read_both<Source>(R"("tok")"), Source(std::string("tok")));
  using Amount = AnyOf<std::int64_t, double, bool, std::vector<std::string>>;
  EXPECT_EQ(read_both<Amount>("7"), Amount(std::int64_t{7}));
  EXPECT_EQ(read_both<Amount>("7.5"), Amount(7.5));
  EXPECT_EQ(read_both<Amount>("true"), Amount(true));
  EXPECT_EQ(read_both<Amount>(R"(["a"])"), Amount(std::vector<std::string>{"a"}));
  EXPECT_EQ((read_both<AnyOf<std::string, double>>("7")), (AnyOf<std::string, double>(7.0)));
}

TEST(AnyOf, objects_are_chosen_by_the_names_and_kinds_of_their_members) {
  EXPECT_EQ(read_both<Source>(R"({"number":"4242"})"),
            Source(Card{.number = "4242", .holder = {}}));
  EXPECT_EQ(read_both<Source>(R"({"iban":"DE","holder":"x"})"),
            Source(Account{.iban = "DE", .holder = "x"}));
  EXPECT_EQ(read_both<Source>(R"({"holder":null,"iban":"DE"})"),
            Source(Account{.iban = "DE", .holder = {}}));
  EXPECT_EQ(read_both<Source>(R"({"number":7})"), Source(Cash{.number = 7, .kept = {}}));
  EXPECT_EQ(read_both<Source>(R"({"kept":"cash","number":7})"),
            Source(Cash{.number = 7, .kept = Kept::cash}));
  EXPECT_EQ(read_both<Source>(R"({ "num\u0062er" : "1" , "holder" : "\u0061" })"),
            Source(Card{.number = "1", .holder = std::string("a")}));
}

struct Small {
  std::optional<int> a;
  bool operator==(const Small&) const = default;
};
KATANA_DESCRIBE(Small, a)
struct Large {
  std::optional<int> a;
  std::optional<int> b;
  bool operator==(const Large&) const = default;
};
KATANA_DESCRIBE(Large, a, b)

TEST(AnyOf, the_type_that_knows_more_of_the_names_is_taken_and_else_the_first) {
  using Size = AnyOf<Small, Large>;
  EXPECT_EQ(read_both<Size>(R"({"a":1})"), Size(Small{.a = 1}));
  EXPECT_EQ(read_both<Size>(R"({"a":1,"b":2})"), Size(Large{.a = 1, .b = 2}));
  EXPECT_EQ(any_of_fault<Size>(R"({"b":2,"a":{}})"), "/a: expected integer, got object");
  EXPECT_EQ(read_both<Size>(R"({"b":{},"a":2})"), Size(Small{.a = 2}));
}

TEST(AnyOf, an_object_without_members_is_one_that_wants_none) {
  EXPECT_EQ((read_both<AnyOf<Card, Small>>("{}")), (AnyOf<Card, Small>(Small{})));
  EXPECT_EQ((read_both<std::vector<AnyOf<Card, Small>>>(R"([{},{},{"number":"1"}])").size()), 3u);
  EXPECT_EQ((any_of_fault<AnyOf<Card, Account>>("{}")), "/number: is missing");
  using Loose = AnyOf<Card, std::map<std::string, int>>;
  EXPECT_EQ(read_both<Loose>("{}"), Loose(std::map<std::string, int>()));
  EXPECT_EQ(read_both<Loose>(R"({"x":1})"), Loose(std::map<std::string, int>{{"x", 1}}));
  EXPECT_EQ(read_both<Loose>(R"({"number":"1"})"), Loose(Card{.number = "1", .holder = {}}));
}

TEST(AnyOf, text_is_of_the_first_type_that_has_it) {
  using Name = AnyOf<Level, Uuid, std::string>;
  EXPECT_EQ(read_both<Name>(R"("high")"), Name(Level::high));
  EXPECT_TRUE(read_both<Name>(R"("0190163d-8694-739b-aea5-966c26f8ad91")").holds<Uuid>());
  EXPECT_EQ(read_both<Name>(R"("other")"), Name(std::string("other")));
  EXPECT_EQ((any_of_fault<AnyOf<Level, Uuid>>(R"("x")")),
            "expected one of low, high, or a UUID, got 'x'");
}

TEST(AnyOf, errors_name_what_may_stand_there_or_what_is_wrong_with_the_nearest) {
  EXPECT_EQ(any_of_fault<Payment>(R"({"source":7})"), "/source: expected string or object, got 7");
  EXPECT_EQ(any_of_fault<Payment>(R"({"source":null})"),
            "/source: expected string or object, got null");
  EXPECT_EQ(any_of_fault<Payment>(R"({"source":"a","amount":{}})"),
            "/amount: expected boolean, number or array, got object");
  EXPECT_EQ(any_of_fault<Payment>(R"({"source":{"iban":7}})"),
            "/source/iban: expected string, got 7");
  EXPECT_EQ(any_of_fault<Payment>(R"({"source":{"number":"12345"}})"),
            "/source/number: expected 1 to 4 characters, got 5");
  EXPECT_EQ(any_of_fault<Payment>(R"({"source":{"holder":"x"}})"), "/source/number: is missing");
  EXPECT_EQ(any_of_fault<Payment>(R"({"source":"a","amount":["a",1]})"),
            "/amount/1: expected string, got 1");
  EXPECT_EQ(any_of_fault<Payment>(R"({"source":"a","level":null})"),
            "/level: expected string, got null");
}

TEST(AnyOf, what_is_written_is_read_as_the_same) {
  const Payment payment{.source = Account{.iban = "DE", .holder = {}}, .amount = 7.5, .level = {}};
  EXPECT_EQ(to_json(payment), R"({"source":{"iban":"DE","holder":null},"amount":7.5})");
  EXPECT_EQ(read_both<Payment>(to_json(payment)), payment);
  EXPECT_EQ(to_message_pack(payment), as_packed(to_json(payment)));

  using Plain = AnyOf<std::string, Account, Cash>;
  for (const Plain& plain : {Plain(std::string("a")), Plain(Account{.iban = "b", .holder = "c"}),
                             Plain(Cash{.number = 9, .kept = Kept::cash})}) {
    const Result<Plain> read = read_binary<Plain>(to_binary(plain));
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(*read, plain);
  }
  std::string octets = to_binary(Plain(std::string("a")));
  octets[8] = 3;
  EXPECT_FALSE(read_binary<Plain>(octets)) << "there is no fourth";
}

TEST(AnyOf, malformed_input_has_one_finding) {
  for (const char* const json : {R"({"number":"1")", R"({"number":tru})", R"({"number":"\u12"})",
                                 R"({"number":"1"}})", R"({"number")", R"("a)", "tru", ""}) {
    Source source;
    Findings findings;
    EXPECT_FALSE(read_json(Bytes(json), source, findings)) << json;
    EXPECT_TRUE(findings.malformed()) << json;
    EXPECT_EQ(findings.list().size(), 1u) << json;
  }
  const std::string octets = as_packed(R"({"holder":"x","number":"1"})");
  for (std::size_t size = 0; size < octets.size(); ++size) {
    Source source;
    Findings findings;
    EXPECT_FALSE(read_message_pack(Bytes(octets).substr(0, size), source, findings)) << size;
    EXPECT_TRUE(findings.malformed()) << size;
  }
}

TEST(Box, a_struct_contains_its_own_type) {
  constexpr const char* json =
      R"({"does":"add","left":{"does":"not","left":1.5,"others":[]},)"
      R"("also":{"does":"x","left":"y","others":["z",{"does":"v","left":2.0,"others":[]}]},)"
      R"("others":[]})";
  const Expression expression = read_both<Expression>(json);
  EXPECT_EQ(to_json(expression), json);
  ASSERT_TRUE(expression.also.has_value());
  EXPECT_EQ((*expression.also)->does, "x");
  const Expression copy = expression;
  EXPECT_EQ(copy, expression);
  EXPECT_EQ(any_of_fault<Expression>(R"({"does":"x","left":{"does":"y"}})"),
            "/left/left: is missing");
  EXPECT_EQ(to_json(Expression()), R"({"does":"","left":null,"others":[]})");
}

struct Link {
  int number = 0;
  std::optional<Box<Link>> next;
  bool operator==(const Link&) const;
};
KATANA_DESCRIBE(Link, (number, at_least(0)), next)
bool Link::operator==(const Link&) const = default;

TEST(Box, rules_and_the_binary_format_look_inside) {
  const Link links{.number = 1,
                   .next = Box(Link{.number = 2, .next = Box(Link{.number = 3, .next = {}})})};
  const Result<Link> read = read_binary<Link>(to_binary(links));
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, links);
  Link wrong = links;
  (*(*wrong.next)->next)->number = -1;
  std::string found;
  check(wrong, [&](Bytes pointer, const std::string& words) {
    found += std::string(pointer) + ": " + words;
  });
  EXPECT_EQ(found, "/next/next/number: expected at least 0, got -1");
  EXPECT_FALSE(read_binary<Link>(to_binary(wrong)));
}

// The look ahead before a choice is bounded by the limit of depth.
TEST(Box, depth_is_limited) {
  const auto nested = [](int depth) {
    std::string json = R"({"number":0,"next":null})";
    for (int level = 0; level < depth; ++level) json = R"({"number":0,"next":)" + json + "}";
    return json;
  };
  EXPECT_EQ(any_of_fault<Link>(nested(63)), "none");
  const Result<Link> deep = read_json<Link>(nested(64));
  ASSERT_FALSE(deep);
  EXPECT_NE(deep.error().describe().find("deep"), std::string::npos) << deep.error().describe();
  std::string octets = to_binary(Link());
  octets.resize(octets.size() - 1);  // the head and the number
  std::string chain = octets;
  for (int level = 0; level < 1000; ++level) chain += std::string("\x01\x01\x00", 3);
  const Result<Link> read = read_binary<Link>(chain);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().describe().find("deep"), std::string::npos) << read.error().describe();
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
