// Forms as typed parameters: both kinds that browsers send, refusals, and files.
#include "katana/http/forms/form_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <string>

#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

using ::testing::HasSubstr;

struct Application {
  std::string name;
  int age = 18;
  bool remember = false;
  std::optional<std::string> note;
  std::optional<FormFile> picture;
};
KATANA_DESCRIBE(Application, (name, required, length(1, 8)), (age, range(0, 150)), remember, note,
                picture)

struct Strict {
  std::string name;
};
KATANA_DESCRIBE_STRICT(Strict, name)

constexpr Bytes urlencoded = "application/x-www-form-urlencoded";
constexpr Bytes multipart = "multipart/form-data; boundary=B";

// Without a Content-Type if `type` is empty.
template <class T, class Show>
testing::TestReply post(Bytes type, const std::string& content, Show show) {
  Router router;
  router.post("/x", [show](FormFields<T> form) { return Reply::text(Text(show(*form))); });
  testing::TestServer server(std::move(router).build());
  testing::TestFields fields = {{"Content-Length", std::to_string(content.size())}};
  if (!type.empty()) fields.emplace_back("Content-Type", type);
  testing::PendingReply pending = server.begin_pieces("POST", "/x", fields);
  pending.send_some(content);
  pending.finish();
  return pending.reply();
}

std::string shown(const Application& form) {
  std::string text =
      fmt::format("{} {} {} {}", form.name, form.age, form.remember, form.note.value_or("-"));
  if (form.picture) {
    text += fmt::format(" {} {} {}", form.picture->filename, form.picture->content_type,
                        form.picture->content.size());
  }
  return text;
}
testing::TestReply send_form(Bytes type, const std::string& content) {
  return post<Application>(type, content, shown);
}

std::string field(const std::string& name, const std::string& content,
                  const std::string& more = "") {
  return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"" + more + "\r\n\r\n" +
         content + "\r\n";
}

struct Days {
  int from = 0;
  int until = 7;
};
KATANA_DESCRIBE(Days, from, until)
KATANA_DESCRIBE_RULES(Days,
                      (until, [](const Days& d) { return d.from < d.until; }, "more than 'from'"))

TEST(FormFields, obey_the_rules_across_members_of_their_description) {
  const auto shown_days = [](const Days& days) { return fmt::format("{}", days.until); };
  EXPECT_EQ(post<Days>(urlencoded, "from=6", shown_days).content(), "7");
  EXPECT_EQ(post<Days>(multipart, field("from", "6") + "--B--\r\n", shown_days).content(), "7");
  for (const testing::TestReply& refused :
       {post<Days>(urlencoded, "from=7", shown_days),
        post<Days>(multipart, field("from", "7") + "--B--\r\n", shown_days)}) {
    EXPECT_EQ(refused.status(), 400);
    EXPECT_THAT(refused.content(), HasSubstr(R"({"pointer":"/until","detail":"expected more)"));
  }
}

TEST(FormFields, are_filled_from_either_kind_of_form) {
  const testing::TestReply pairs =
      send_form(urlencoded, "name=A+%26+B&age=40&remember=1&unknown=x");
  EXPECT_EQ(pairs.status(), 200u);
  EXPECT_EQ(pairs.content(), "A & B 40 true -");
  const testing::TestReply parts =
      send_form(multipart, field("name", "A & B") + field("age", "40") + field("remember", "1") +
                               field("unknown", "x") + "--B--");
  EXPECT_EQ(parts.status(), 200u);
  EXPECT_EQ(parts.content(), pairs.content());
}

TEST(FormFields, keep_their_initialisers_and_of_a_name_the_last_value_counts) {
  EXPECT_EQ(send_form(urlencoded, "name=a&name=b").content(), "b 18 false -");
  EXPECT_EQ(send_form(multipart, field("name", "a") + field("name", "b") + "--B--").content(),
            "b 18 false -");
}

TEST(FormFields, are_read_whatever_parameters_the_type_has) {
  EXPECT_EQ(send_form("Application/X-WWW-form-urlencoded ; charset=utf-8", "name=a").status(),
            200u);
  EXPECT_EQ(
      send_form("multipart/form-data; charset=utf-8; boundary=\"B\"", field("name", "a") + "--B--")
          .status(),
      200u);
}

TEST(FormFields, a_value_that_does_not_fit_is_400_and_named) {
  const testing::TestReply number = send_form(urlencoded, "name=a&age=old");
  EXPECT_EQ(number.status(), 400u);
  EXPECT_THAT(number.content(), HasSubstr("form field 'age': expected a whole number, got 'old'"));
  const testing::TestReply rule = send_form(multipart, field("name", "far too long") + "--B--");
  EXPECT_EQ(rule.status(), 400u);
  EXPECT_THAT(rule.content(), HasSubstr("form field 'name': expected 1 to 8 characters, got 12"));
  EXPECT_THAT(send_form(urlencoded, "").content(), HasSubstr("form field 'name': is missing"));
  EXPECT_THAT(send_form(urlencoded, "name=%zz").content(), HasSubstr("form field 'name'"));
}

TEST(FormFields, of_a_strict_description_none_is_unknown_or_comes_twice) {
  const auto name = [](const Strict& form) { return form.name; };
  EXPECT_EQ(post<Strict>(urlencoded, "name=a", name).status(), 200u);
  EXPECT_THAT(post<Strict>(urlencoded, "name=a&b=c", name).content(),
              HasSubstr("form field 'b': unknown name"));
  EXPECT_THAT(
      post<Strict>(multipart, field("name", "a") + field("name", "b") + "--B--", name).content(),
      HasSubstr("form field 'name': is given more than once"));
}

TEST(FormFields, a_file_is_its_name_type_and_content) {
  const std::string bytes("\0\r\n--\xff", 6);
  const testing::TestReply sent = send_form(
      multipart, field("name", "a") +
                     field("picture", bytes, "; filename=\"me.png\"\r\nContent-Type: image/png") +
                     "--B--");
  EXPECT_EQ(sent.content(), "a 18 false - me.png image/png 6");
  const testing::TestReply none =
      send_form(multipart, field("name", "a") + field("picture", "", "; filename=\"\"") + "--B--");
  EXPECT_EQ(none.content(), "a 18 false -") << "no file was chosen";
  EXPECT_THAT(send_form(urlencoded, "name=a&picture=x").content(),
              HasSubstr("is a file, which multipart/form-data can carry"));
}

TEST(FormFields, what_is_no_form_is_415_and_says_what_is_taken) {
  for (const Bytes type : {Bytes("application/json"), Bytes("multipart/form-data"), Bytes("")}) {
    const testing::TestReply answer = send_form(type, "name=a");
    EXPECT_EQ(answer.status(), 415u) << type;
    EXPECT_THAT(std::string(answer.header("accept").value_or("none")),
                HasSubstr("application/x-www-form-urlencoded, multipart"));
  }
}

TEST(FormFields, what_is_malformed_or_ends_too_soon_is_400_before_anything_is_missing) {
  EXPECT_THAT(send_form(multipart, field("name", "a")).content(),
              HasSubstr("The form ends too soon."));
  EXPECT_THAT(send_form(multipart, "--B\r\nnonsense\r\n\r\n").content(),
              HasSubstr("The content is no multipart/form-data"));
  EXPECT_EQ(send_form(multipart, "").status(), 400u);
}

TEST(FormFields, whatever_is_cut_off_is_answered) {
  const std::string whole = field("name", "a") + field("age", "4") + "--B--";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(send_form(multipart, whole.substr(0, size)).status(), 400u) << size;
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
