// Queries and forms with brackets in their names, as typed parameters: both kinds of forms,
// refusals, and the names that the access log masks.
#include "katana/http/forms/nested_form.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
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

TEST(NestedQuery, what_has_a_secret_within_is_masked_as_a_whole) {
  EXPECT_EQ(detail::secret_parameters<std::tuple<NestedQuery<Open>>>(),
            (std::vector<std::string>{"cards", "card", "again", "name"}));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
