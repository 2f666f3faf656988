#include "katana/http/handlers/reply.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <utility>

#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana {
namespace {

TEST(Reply, strings_and_views_are_copied) {
  std::string local = "gone soon";
  const Reply text = Reply::text(local), html = Reply::html(Bytes(local));
  const Reply json = Reply::json(local.substr(0, 4)), other(202, "text/csv", local);
  local = "overwritten";
  EXPECT_EQ(text.content(), "gone soon");
  EXPECT_EQ(html.content(), "gone soon");
  EXPECT_EQ(json.content(), "gone");
  EXPECT_EQ(other.content(), "gone soon");
  EXPECT_EQ(other.status(), 202u);
  for (const Reply* each : {&text, &html, &json, &other}) EXPECT_FALSE(each->content_stays());
  EXPECT_TRUE(Reply::text("constant").content_stays());
}

TEST(Reply, a_literal_is_referred_to_where_it_stands_in_the_program) {
  static constexpr char text[] = "Hello";
  const Reply reply = Reply::text(text);
  EXPECT_EQ(reply.status(), 200u);
  EXPECT_EQ(reply.content_type(), "text/plain");
  EXPECT_EQ(reply.content(), "Hello");
  EXPECT_EQ(reply.content().data(), text);
  EXPECT_TRUE(reply.content_stays());
}

TEST(Reply, a_body_is_replaced_and_the_rest_stays) {
  Reply reply = Reply::json(Text("[1]")).with("X-A", "b");
  reply.set_status(202);
  reply.set_content(std::string("[2]"));
  EXPECT_EQ(reply.content(), "[2]");
  EXPECT_FALSE(reply.content_stays());
  reply.set_content("[3]");
  EXPECT_EQ(reply.content(), "[3]");
  EXPECT_TRUE(reply.content_stays());
  EXPECT_EQ(reply.content_type(), "application/json");
  EXPECT_EQ(reply.fields(), "X-A: b\r\n");
  EXPECT_EQ(reply.status(), 202u);
  Reply made(201);
  EXPECT_EQ(made.set_content(Text("x")).content_type(), "text/plain");
  Reply stream = Reply::stream("a/b", 3, [](ContentSink&) { return true; });
  stream.set_content(Text("xyz"));
  EXPECT_FALSE(stream.is_streamed());
  EXPECT_EQ(stream.content(), "xyz");
}

TEST(Reply, text_made_for_it_is_owned_and_does_not_stay) {
  Reply made = Reply::json(Text("[1]"));
  const Reply reply = std::move(made);
  EXPECT_EQ(reply.content(), "[1]");
  EXPECT_EQ(reply.content_type(), "application/json");
  EXPECT_FALSE(reply.content_stays());
}

TEST(Reply, without_content_it_is_204) {
  const Reply reply;
  EXPECT_EQ(reply.status(), 204u);
  EXPECT_TRUE(reply.content().empty());
  EXPECT_TRUE(reply.content_type().empty());
}

TEST(Reply, types_are_those_that_browsers_expect) {
  EXPECT_EQ(Reply::html("<p>").content_type(), "text/html; charset=utf-8");
  EXPECT_EQ(Reply::html(Text("<p>")).content_type(), "text/html; charset=utf-8");
  EXPECT_EQ(Reply(201, "image/png", Text("x")).content_type(), "image/png");
}

TEST(Reply, fields_become_lines_in_the_order_they_were_added) {
  Reply reply = Reply(302).with("Location", "/elsewhere");
  reply.add_field("X-Empty", "").add_field("Cache-Control", "no-store");
  EXPECT_EQ(reply.fields(), "Location: /elsewhere\r\nX-Empty: \r\nCache-Control: no-store\r\n");
  EXPECT_FALSE(reply.invalid());
  EXPECT_TRUE(reply.is_ordinary());
}

TEST(Reply, no_value_can_begin_a_line_of_its_own) {
  for (const std::string_view value : std::initializer_list<std::string_view>{
           "a\r\nSet-Cookie: x", "a\nb", "a\rb", "\r", "\n", std::string_view("a\0b", 3), "\x01",
           "\x7f", " leading", "trailing ", "\ttab"}) {
    Reply reply = Reply::text("x");
    reply.add_field("X-Value", value);
    EXPECT_TRUE(reply.invalid()) << value;
    EXPECT_EQ(reply.fields(), "") << value;
    EXPECT_FALSE(reply.is_ordinary());
    Reply typed = Reply::text("x");
    typed.set_content_type(value);
    EXPECT_TRUE(typed.invalid()) << value;
    EXPECT_EQ(typed.content_type(), "text/plain");
  }
}

TEST(Reply, a_value_may_hold_what_field_values_may) {
  Reply reply = Reply::text("x");
  reply.add_field("X-Value", "a\tb c; \"d\"=\xc3\xa9");
  EXPECT_FALSE(reply.invalid());
}

TEST(Reply, no_name_is_accepted_that_is_not_a_token) {
  for (const std::string_view name : std::initializer_list<std::string_view>{
           "", "X Y", "X:", "X\r\nY", "X\n", "(X)", std::string_view("X\0", 2), "\xc3\xa9"}) {
    Reply reply = Reply::text("x");
    reply.add_field(name, "value");
    EXPECT_TRUE(reply.invalid()) << name;
  }
}

TEST(Reply, fields_that_the_protocol_sets_are_refused_in_any_case) {
  for (const std::string_view name : {"Content-Length", "content-length", "TRANSFER-ENCODING",
                                      "Connection", "date", "SERVER", "Content-type"}) {
    Reply reply = Reply::text("x");
    reply.add_field(name, "1");
    EXPECT_TRUE(reply.invalid()) << name;
  }
}

// RFC 9110 §5.3: of two such lines, some clients take the first and others the last.
TEST(Reply, a_field_that_is_no_list_replaces_the_earlier_one) {
  for (const std::string_view name :
       {"Access-Control-Allow-Credentials", "Access-Control-Allow-Origin", "Access-Control-Max-Age",
        "Age", "Content-Disposition", "Content-Location", "Content-Range", "ETag", "Expires",
        "Last-Modified", "Location", "Retry-After", "Strict-Transport-Security",
        "X-Frame-Options"}) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    Reply reply = Reply::text("x");
    reply.add_field("X-One", "1").add_field(name, "first").add_field("X-Two", "2");
    reply.add_field(lower, "second");
    EXPECT_FALSE(reply.invalid()) << name;
    EXPECT_EQ(reply.fields(), "X-One: 1\r\nX-Two: 2\r\n" + lower + ": second\r\n");
  }
  Reply moved = Reply::redirect("/one");
  moved.add_field("Location", "/two");
  EXPECT_EQ(moved.fields(), "Location: /two\r\n");
}

TEST(Reply, lists_and_cookies_keep_every_line) {
  Reply reply = Reply::text("x");
  for (const std::string_view name : {"Set-Cookie", "Cache-Control", "Vary", "Link"}) {
    reply.add_field(name, "a").add_field(name, "b");
  }
  EXPECT_EQ(reply.fields(),
            "Set-Cookie: a\r\nSet-Cookie: b\r\nCache-Control: a\r\nCache-Control: b\r\n"
            "Vary: a\r\nVary: b\r\nLink: a\r\nLink: b\r\n");
}

TEST(Reply, a_field_that_replaces_another_counts_once_for_the_size_of_the_head) {
  Reply reply = Reply::text("x");
  for (int count = 0; count < 100; ++count) reply.add_field("Location", std::string(90, 'v'));
  EXPECT_FALSE(reply.invalid());
}

TEST(Reply, a_reply_stays_invalid_whatever_is_added_later) {
  Reply reply = Reply::text("x");
  reply.add_field("Bad", "a\nb").add_field("Good", "yes");
  EXPECT_TRUE(reply.invalid());
  const Reply moved = std::move(reply);
  EXPECT_TRUE(moved.invalid());
}

TEST(Reply, more_fields_than_fit_a_head_make_it_invalid) {
  Reply reply = Reply::text("x");
  for (int count = 0; count < 30; ++count) reply.add_field("X-Name", std::string(90, 'v'));
  EXPECT_FALSE(reply.invalid());
  reply.add_field("X-Name", std::string(200, 'v'));
  EXPECT_TRUE(reply.invalid());
  EXPECT_LE(reply.fields().size(), 3072u);
}

TEST(Reply, a_content_type_that_is_too_long_or_empty_is_refused) {
  EXPECT_TRUE(Reply::text("x").set_content_type("").invalid());
  EXPECT_TRUE(Reply::text("x").set_content_type("text/" + std::string(300, 'x')).invalid());
  EXPECT_EQ(Reply::text("x").set_content_type("image/webp").content_type(), "image/webp");
}

TEST(Reply, only_final_statuses_can_be_sent) {
  for (const unsigned status : {0u, 99u, 100u, 101u, 199u, 600u, 999u, 65'736u}) {
    EXPECT_TRUE(Reply(status).invalid()) << status;
    EXPECT_TRUE(Reply::text("x").set_status(status).invalid()) << status;
    EXPECT_TRUE(Reply(status, "text/plain", "x").invalid()) << status;
  }
  for (const unsigned status : {200u, 299u, 404u, 418u, 599u}) {
    EXPECT_FALSE(Reply(status).invalid()) << status;
  }
}

TEST(Reply, a_copy_of_its_head_has_everything_but_the_content) {
  Reply reply = Reply::text(Text("content"));
  reply.set_status(203).add_field("X-Name", "v").set_content_type("a/b").close();
  const Reply copy = reply.copy_of_head();
  EXPECT_EQ(copy.status(), 203u);
  EXPECT_EQ(copy.fields(), reply.fields());
  EXPECT_EQ(copy.content_type(), "a/b");
  EXPECT_TRUE(copy.closes());
  EXPECT_EQ(copy.content(), "");
  EXPECT_FALSE(copy.invalid());
}

// ---- problem documents ----

TEST(Problem, is_a_json_object_with_the_members_of_rfc_9457) {
  const Reply reply = problem(404, "There is no user 7.");
  EXPECT_EQ(reply.status(), 404u);
  EXPECT_EQ(reply.content_type(), "application/problem+json");
  EXPECT_EQ(reply.content(), R"({"type":"about:blank","title":"Not Found","status":404,)"
                             R"("detail":"There is no user 7."})");
}

// Returns the text with each byte that is not valid UTF-8 replaced.
std::string in_utf8(Bytes text) {
  std::string valid;
  while (!text.empty()) valid += take_character(text);
  return valid;
}

TEST(Problem, says_what_is_utf8_as_it_is) {
  const Reply reply = problem(400, "Host is missing (RFC 9112 §3.2). Grüße, 世界 😀");
  EXPECT_NE(reply.content().find("(RFC 9112 §3.2). Grüße, 世界 😀"), Bytes::npos);
}

TEST(Problem, is_valid_json_for_every_octet) {
  for (int octet = 0; octet < 256; ++octet) {
    const std::string detail{'a', static_cast<char>(octet), 'z'};
    const Reply reply = problem(400, detail);
    const auto members = JsonObject::parse(reply.content());
    ASSERT_TRUE(members) << reply.content();
    EXPECT_EQ(members->at("detail"), in_utf8(detail));
    EXPECT_EQ(members->at("status"), "400");
  }
}

TEST(Problem, is_valid_json_for_any_text_and_says_what_of_it_is_utf8) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 500; ++round) {
    std::string detail(random() % 100, '\0');
    for (char& each : detail) each = static_cast<char>(random());
    const Reply reply = problem(400 + static_cast<unsigned>(random() % 100), detail);
    const auto members = JsonObject::parse(reply.content());
    ASSERT_TRUE(members) << reply.content();
    ASSERT_EQ(members->at("detail"), in_utf8(detail));
  }
}

TEST(Problem, an_error_becomes_the_status_of_its_code_and_says_its_message) {
  const std::pair<Code, unsigned> statuses[] = {
      {Code::invalid_argument, 400},  {Code::out_of_range, 400},
      {Code::not_found, 404},         {Code::already_exists, 409},
      {Code::permission_denied, 403}, {Code::resource_exhausted, 503},
      {Code::unavailable, 503},       {Code::cancelled, 503},
      {Code::deadline_exceeded, 504}, {Code::unsupported, 501},
  };
  for (const auto& [code, status] : statuses) {
    const Reply reply = problem(Error(code, "what happened"));
    EXPECT_EQ(reply.status(), status) << code_name(code);
    EXPECT_EQ(JsonObject::parse(reply.content())->at("detail"), "what happened");
    const bool may_retry = reply.fields().find("Retry-After: 1") != Bytes::npos;
    EXPECT_EQ(may_retry, status == 503) << code_name(code);
  }
}

TEST(Problem, what_went_wrong_inside_is_not_told_to_the_peer) {
  for (const Code code : {Code::internal, Code::data_loss}) {
    const Reply reply = problem(Error(code, "password file /etc/x is broken"));
    EXPECT_EQ(reply.status(), 500u);
    EXPECT_EQ(reply.content().find("password"), Bytes::npos);
  }
}

TEST(Reply, a_redirect_names_where_it_leads) {
  const Reply reply = Reply::redirect("/users/7?a=b#c");
  EXPECT_EQ(reply.status(), 303u);
  EXPECT_EQ(reply.fields(), "Location: /users/7?a=b#c\r\n");
  EXPECT_TRUE(reply.content().empty());
  EXPECT_EQ(Reply::redirect("/", 308).status(), 308u);
  EXPECT_EQ(Reply::redirect("/Käse \"1\"").fields(), "Location: /K%C3%A4se%20%221%22\r\n");
}

TEST(Reply, a_redirect_that_would_be_none_is_invalid) {
  for (const unsigned status : {200u, 300u, 304u, 305u, 306u, 309u, 400u}) {
    EXPECT_TRUE(Reply::redirect("/", status).invalid()) << status;
  }
  EXPECT_EQ(Reply::redirect("/", 304).mistake(),
            "the status 304 is not one of a redirect: give 301, 302, 303, 307 or 308");
  for (const Bytes location : {Bytes(""), Bytes("/\r\nSet-Cookie: a"), Bytes("/\n"), Bytes("\t/"),
                               Bytes("/\0", 2), Bytes("/\x7f")}) {
    const Reply reply = Reply::redirect(location);
    EXPECT_TRUE(reply.invalid()) << location;
    EXPECT_EQ(reply.fields(), "");
  }
}

TEST(Reply, no_content_is_204) {
  EXPECT_EQ(Reply::no_content().status(), 204u);
  EXPECT_TRUE(Reply::no_content().is_ordinary());
}

TEST(Reply, who_is_not_known_is_challenged) {
  const Reply from_error = problem(Error(Code::unauthenticated, "There is no token."));
  EXPECT_EQ(from_error.status(), 401u);
  EXPECT_EQ(from_error.fields(), "WWW-Authenticate: Bearer realm=\"restricted\"\r\n");
  EXPECT_EQ(JsonObject::parse(from_error.content())->at("detail"), "There is no token.");
  const Reply asked = unauthenticated(R"(Basic realm="shop")", "Who are you?");
  EXPECT_EQ(asked.status(), 401u);
  EXPECT_EQ(asked.fields(), "WWW-Authenticate: Basic realm=\"shop\"\r\n");
  EXPECT_EQ(unauthenticated("bearer", "A token is needed.").fields(),
            "WWW-Authenticate: Bearer realm=\"restricted\"\r\n");
  EXPECT_EQ(code_name(Code::unauthenticated), "unauthenticated");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
