// Queries and forms with brackets in their names, as typed parameters: both kinds of forms,
// refusals, and the names that the access log masks.
#include "katana/http/forms/nested_form.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "katana/base/values/any_of.hpp"
#include "katana/base/values/box.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

using ::testing::HasSubstr;

struct Card {
  std::string number;
};
KATANA_DESCRIBE(Card, (number, required, secret))

struct Line {
  std::string name;
  int price = 0;
};
KATANA_DESCRIBE(Line, (name, required), (price, required, range(1, 9)))

struct Purchase {
  int count = 1;
  std::vector<Line> lines;
  std::optional<Card> card;
  std::optional<FormFile> photo;
};
KATANA_DESCRIBE_STRICT(Purchase, count, (lines, length(0, 2)), card, photo)

constexpr Bytes pairs_type = "application/x-www-form-urlencoded";

testing::TestReply buy(Bytes type, const std::string& content) {
  Router router;
  router.post("/x", [](NestedForm<Purchase> form) {
    std::string text = std::to_string(form->count);
    for (const Line& each : form->lines) text += fmt::format(" {}={}", each.name, each.price);
    if (form->card) text += " card " + form->card->number;
    if (form->photo) text += fmt::format(" {} {}", form->photo->filename, form->photo->content);
    return Reply::text(Text(text));
  });
  testing::TestServer server(std::move(router).build());
  return server.send("POST", "/x", content, {{"Content-Type", std::string(type)}});
}

std::string piece_of(const std::string& name, const std::string& content,
                     const std::string& more = "") {
  return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"" + more + "\r\n\r\n" +
         content + "\r\n";
}

struct Stay {
  int from = 0;
  int until = 7;
};
KATANA_DESCRIBE(Stay, (from, defaulted), (until, defaulted))
KATANA_DESCRIBE_RULES(Stay,
                      (until, [](const Stay& d) { return d.from < d.until; }, "more than 'from'"))
struct Trip {
  std::vector<Stay> parts;
};
KATANA_DESCRIBE(Trip, parts)

TEST(NestedForm, obeys_the_rules_across_members_of_its_description) {
  Router router;
  router.post("/x", [](NestedForm<Trip>) { return Reply::text("fits"); });
  testing::TestServer server(std::move(router).build());
  const auto send = [&](const std::string& content) {
    return server.send("POST", "/x", content, {{"Content-Type", std::string(pairs_type)}});
  };
  EXPECT_EQ(send("parts[0][from]=6").content(), "fits");
  const testing::TestReply refused = send("parts[0][from]=6&parts[1][from]=7");
  EXPECT_EQ(refused.status(), 400);
  EXPECT_THAT(refused.content(), HasSubstr("/parts/1/until"));
}

TEST(NestedForm, is_filled_from_either_kind_of_form) {
  EXPECT_EQ(buy(pairs_type, "lines%5B0%5D[name]=a+b&lines[0][price]=3&card[number]=42").content(),
            "1 a b=3 card 42");
  EXPECT_EQ(buy("multipart/form-data; boundary=B",
                piece_of("count", "2") + piece_of("lines[1][name]", "b") +
                    piece_of("lines[1][price]", "4") +
                    piece_of("photo", "xyz", "; filename=\"a.png\"") + "--B--")
                .content(),
            "2 b=4 a.png xyz");
  EXPECT_EQ(buy("application/json", "{}").status(), 415u);
}

TEST(NestedForm, all_that_does_not_fit_is_named_and_no_secret_is_shown) {
  const testing::TestReply refused =
      buy(pairs_type, "count=x&lines[0][price]=12&card[number][a]=4711&other[b]=1&photo=p");
  EXPECT_EQ(refused.status(), 400u);
  for (const char* const words :
       {"form field 'count': expected integer, got other text",
        "form field 'lines[0][name]': is missing",
        "form field 'lines[0][price]': expected 1 to 9, got 12",
        "form field 'card[number]': expected string, got object",
        "form field 'photo': expected file, got other text", "form field 'other': is not known"}) {
    EXPECT_THAT(refused.content(), HasSubstr(words));
  }
  EXPECT_THAT(refused.content(), ::testing::Not(HasSubstr("4711")));
  EXPECT_EQ(buy(pairs_type, "count=%zz").status(), 400u);
  std::string many;
  for (std::size_t at = 0; at <= container::FormTree::values_max; ++at) many += "lines[]=&";
  EXPECT_THAT(buy(pairs_type, many).content(), HasSubstr("is one of more than 1000 values"));
}

struct Open {
  std::optional<AnyOf<Line, std::int64_t>> line;
  std::vector<Card> cards;
  std::optional<AnyOf<Card, std::string>> card;
  std::optional<Box<Open>> again;
  std::string name;
};
KATANA_DESCRIBE(Open, line, cards, card, again, (name, secret))

struct Marks {
  int limit = 1;
  std::vector<std::string> tags;
  std::map<std::string, int> labels;
};
KATANA_DESCRIBE(Marks, limit, tags, (labels, each(range(0, 9))))
constexpr auto katana_separators(const Marks*) {
  return std::array{Separator{"labels", own_names}};
}

testing::TestReply mark(const std::string& query) {
  Router router;
  router.get("/x", [](NestedQuery<Marks> marks) {
    std::string text = fmt::format("{} {}", marks->limit, marks->tags.size());
    for (const auto& [name, value] : marks->labels) text += fmt::format(" {}={}", name, value);
    return Reply::text(Text(text));
  });
  testing::TestServer server(std::move(router).build());
  return server.get("/x?" + query);
}

TEST(NestedQuery, a_map_of_any_names_takes_its_own_name_with_brackets) {
  EXPECT_EQ(mark("labels%5Bx%5D=1&labels[]=2&labels=3&limit=4&tags[0]=a&labels[x]y=5").content(),
            "4 1 labels=3 labels[]=2 labels[x]=1 labels[x]y=5");
}

TEST(NestedQuery, a_refused_entry_of_such_a_map_has_the_name_that_was_sent) {
  const testing::TestReply refused = mark("red=10&labels[x]=11&limit=z&a':%20b=12");
  EXPECT_EQ(refused.status(), 400u);
  for (const char* const words :
       {"query parameter 'red': expected 0 to 9, got 10",
        "query parameter 'labels[x]': expected 0 to 9, got 11",
        "query parameter 'a': b': expected 0 to 9, got 12",
        "query parameter 'limit': expected integer, got other text",
        R"({"pointer":"/labels/red","detail":"expected 0 to 9, got 10"})"}) {
    EXPECT_THAT(refused.content(), HasSubstr(words));
  }
}

// A name with wrong escapes is shown as it came, and may have the characters of a message.
TEST(NestedQuery, a_mistake_of_the_tree_is_told_alone) {
  EXPECT_THAT(mark("limit=z&a':%20b=%zz").content(),
              HasSubstr(R"("errors":[{"pointer":"/a': b","detail":"expected valid percent-)"
                        R"(encoding, got '%zz'"}])"));
}

TEST(NestedQuery, what_has_a_secret_within_is_masked_as_a_whole) {
  EXPECT_EQ(detail::secret_parameters<std::tuple<NestedQuery<Open>>>(),
            (std::vector<std::string>{"cards", "card", "again", "name"}));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
