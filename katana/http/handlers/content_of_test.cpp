#include "katana/http/handlers/content_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "katana/http/handlers/split_parameters.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

using ::testing::HasSubstr;

struct Item {
  std::string name;
  std::optional<int> count;
};
KATANA_DESCRIBE(Item, (name, length(1, 9)), count)

using Change = JsonOf<Item, "application/json", "application/merge-patch+json">;
using PngOrText = RawOf<"text/csv", "text/*", "image/png">;
using Upload = ContentOf<Change, JsonOf<std::vector<int>, "application/numbers+json">, PngOrText>;

Reply change(Change content) { return Reply::text(content.type + " " + content->name); }
Reply upload(Upload content) {
  if (const auto* const rows = content.get_if<PngOrText>()) {
    return Reply::text(rows->type + " " + rows->value);
  }
  if (const auto* const item = content.get_if<Change>()) {
    return Reply::text(content.type() + " " + item->value.name);
  }
  return Reply::text(content.type());
}
Reply maybe(IfSent<Upload> content) {
  return Reply::text(content.value ? content.value->type() : "nothing");
}

// Without a Content-Type if `type` is empty.
template <class F>
testing::TestReply sent(F handler, std::string_view content, std::string_view type) {
  Router router;
  router.post("/items", std::move(handler));
  testing::TestServer server(std::move(router).build());
  testing::TestFields fields = {{"Content-Length", std::to_string(content.size())}};
  if (!type.empty()) fields.emplace_back("Content-Type", type);
  testing::PendingReply pending = server.begin_pieces("POST", "/items", fields);
  pending.send_some(content);
  pending.finish();
  return pending.reply();
}

TEST(JsonOf, content_is_read_under_each_of_its_media_types) {
  constexpr std::string_view tea = R"({"name":"tea"})";
  EXPECT_EQ(sent(change, tea, "application/json").content(), "application/json tea");
  EXPECT_EQ(sent(change, tea, "Application/Merge-Patch+JSON ; charset=utf-8").content(),
            "application/merge-patch+json tea");
}

TEST(JsonOf, another_media_type_is_refused_by_the_names_of_those_that_are_taken) {
  for (const std::string_view type : {"application/json-patch+json", "text/json", "*/*"}) {
    const testing::TestReply reply = sent(change, "{}", type);
    EXPECT_EQ(reply.status(), 415u) << type;
    EXPECT_EQ(reply.header("content-type"), "application/problem+json");
    EXPECT_EQ(reply.header("accept"), "application/json, application/merge-patch+json");
    EXPECT_THAT(reply.content(), HasSubstr("The Content-Type is '" + std::string(type) +
                                           "'; this takes application/json, "
                                           "application/merge-patch+json."));
  }
  const testing::TestReply none = sent(change, "{}", "");
  EXPECT_EQ(none.status(), 415u);
  EXPECT_THAT(none.content(), HasSubstr("There is no Content-Type"));
}

TEST(JsonOf, content_that_does_not_fit_is_refused_as_other_json_is) {
  EXPECT_EQ(sent(change, "{", "application/json").status(), 400u);
  const testing::TestReply reply = sent(change, R"({"name":""})", "application/merge-patch+json");
  EXPECT_EQ(reply.status(), 422u);
  EXPECT_THAT(reply.content(), HasSubstr(R"("pointer":"/name")"));
}

TEST(ContentOf, the_media_type_decides_what_is_read) {
  EXPECT_EQ(sent(upload, R"({"name":"tea"})", "application/json").content(),
            "application/json tea");
  EXPECT_EQ(sent(upload, "[1]", "application/numbers+json").content(), "application/numbers+json");
  EXPECT_EQ(sent(upload, "a,b", "text/csv; header=present").content(), "text/csv a,b");
  EXPECT_EQ(sent(upload, "# a", "text/markdown").content(), "text/markdown # a");
  const testing::TestReply reply = sent(upload, "x", "image/webp");
  EXPECT_EQ(reply.status(), 415u);
  EXPECT_EQ(reply.header("accept"),
            "application/json, application/merge-patch+json, application/numbers+json, text/csv, "
            "text/*, image/png");
  EXPECT_EQ(sent(upload, R"(["a"])", "application/numbers+json").status(), 422u);
}

TEST(ContentOf, may_be_left_out) {
  EXPECT_EQ(sent(maybe, "", "").content(), "nothing");
  EXPECT_EQ(sent(maybe, "a", "text/csv").content(), "text/csv");
  EXPECT_EQ(sent(maybe, "a", "").status(), 415u);
}

TEST(ContentOf, the_most_specific_range_fits_best) {
  static_assert(media_type_fit("text/csv", "text/csv") > media_type_fit("text/*", "text/csv"));
  static_assert(media_type_fit("text/*", "text/csv") > media_type_fit("*/*", "text/csv"));
  static_assert(media_type_fit("text/*", "textual/csv") == 0);
  static_assert(RawOf<"*/*">::first_type == "application/octet-stream");
  static_assert(RawOf<"image/*">::first_type.empty());
  const ContentOf<PngOrText, RawOf<"*/*">> content = RawOf<"*/*">{"x", "image/webp"};
  EXPECT_EQ(content.type(), "image/webp");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
