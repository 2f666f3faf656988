#include "katana/http/client/digest.hpp"

#include "katana/http/client/client_fixture_test.hpp"

namespace katana::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// RFC 7616 §3.9.1.
TEST(DigestTest, the_examples_of_the_rfc_come_out) {
  const auto challenges = parse_digest_challenges(
      R"(Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, )"
      R"(nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", )"
      R"(opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", )"
      R"(Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, )"
      R"(nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", )"
      R"(opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")");
  ASSERT_EQ(challenges.size(), 2u);
  const DigestAnswer answer{.user = "Mufasa",
                            .password = "Circle of Life",
                            .method = "GET",
                            .target = "/dir/index.html",
                            .client_nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"};
  EXPECT_EQ(answer_digest(challenges[0], answer),
            "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", "
            "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", uri=\"/dir/index.html\", "
            "response=\"753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1\", "
            "algorithm=SHA-256, opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\", "
            "cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", qop=auth, nc=00000001");
  EXPECT_THAT(answer_digest(challenges[1], answer),
              HasSubstr("response=\"8ca523f5e9506fed4657c9700eebdbec\""));
}

// RFC 2617 §3.5 without qop is RFC 2069 §2.1.2.
TEST(DigestTest, without_qop_the_answer_has_neither_count_nor_nonce) {
  const auto challenges = parse_digest_challenges(
      R"(Basic realm="x", Digest realm = "a \"b\"", nonce="n", stale=TRUE , userhash=true)");
  ASSERT_EQ(challenges.size(), 1u);
  EXPECT_EQ(challenges[0].realm, "a \"b\"");
  EXPECT_TRUE(challenges[0].stale);
  const std::string value = answer_digest(
      challenges[0],
      {.user = "u", .password = "p", .method = "GET", .target = "/", .client_nonce = "c"});
  EXPECT_THAT(value, AllOf(HasSubstr("realm=\"a \\\"b\\\"\""), HasSubstr("userhash=true"),
                           Not(HasSubstr("username=\"u\"")), Not(HasSubstr("nc=")),
                           Not(HasSubstr("algorithm="))));
}

TEST(DigestTest, a_session_and_a_name_beyond_ascii_are_written_as_the_rfc_says) {
  const auto challenges =
      parse_digest_challenges(R"(Digest realm="r",nonce="n",algorithm=MD5-sess,qop="auth")");
  ASSERT_EQ(challenges.size(), 1u);
  EXPECT_TRUE(challenges[0].is_session);
  const std::string value = answer_digest(
      challenges[0],
      {.user = "J\xc3\xa4", .password = "p", .method = "GET", .target = "/", .client_nonce = "c"});
  EXPECT_THAT(value, AllOf(HasSubstr("username*=UTF-8''J%C3%A4, "), HasSubstr("algorithm=MD5-sess"),
                           HasSubstr("cnonce=\"c\"")));
}

TEST(DigestTest, of_a_name_only_characters_that_rfc_8187_allows_stay_as_they_are) {
  const auto challenges =
      parse_digest_challenges(R"(Digest realm="r",nonce="n",algorithm=MD5,qop="auth")");
  ASSERT_EQ(challenges.size(), 1u);
  const std::string value = answer_digest(challenges[0], {.user = "\xc3\xa4!'*%a.b~",
                                                          .password = "p",
                                                          .method = "GET",
                                                          .target = "/",
                                                          .client_nonce = "c"});
  EXPECT_THAT(value, HasSubstr("username*=UTF-8''%C3%A4!%27%2A%25a.b~, "));
}

TEST(DigestTest, a_challenge_that_cannot_be_answered_is_passed_over) {
  for (const std::string& value :
       {std::string("Digest realm=\"r\", nonce=\"n\", algorithm=SHA-1"),
        std::string("Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""),
        std::string("Digest realm=\"r\""), std::string("Digest nonce=\"n\""),
        std::string("Negotiate abc=="), std::string("Digest"), std::string("="), std::string("\""),
        "Digest realm=\"r\", nonce=\"" + std::string(2000, 'n') + "\"",
        "Digest realm=\"r\", nonce=\"" + std::string(2000, 'n') + "\", algorithm=MD5"}) {
    EXPECT_EQ(parse_digest_challenges(value).size(), 0u) << value;
  }
}

class DigestClientTest : public ClientTest {
 protected:
  DigestClientTest() : ClientTest(with_account()) {}
  static HttpClientOptions with_account() {
    HttpClientOptions options = test_options();
    options.digest = {{.origin = "http://server.test", .user = "ann", .password = "p"}};
    options.redirects_max = 2;
    options.tokens_in_plaintext = true;
    return options;
  }
  static std::string challenge(const std::string& nonce, const std::string& more = "") {
    return "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nWWW-Authenticate: Digest "
           "realm=\"r\", qop=\"auth\", algorithm=SHA-256, nonce=\"" +
           nonce + "\"" + more + "\r\nContent-Length: 0\r\n\r\n";
  }
};

const std::string digest_ok = ok + "Content-Length: 0\r\n\r\n";

TEST_F(DigestClientTest, a_challenge_is_answered_and_later_requests_count_on) {
  Reply& first = fetch(Request("POST", "http://server.test/x?y").content("abc", "text/plain"));
  answer(0);
  EXPECT_THAT(take_sent(0), Not(HasSubstr("Authorization")));
  say(0, challenge("one"));
  EXPECT_THAT(take_sent(0), AllOf(HasSubstr("Authorization: Digest username=\"ann\", realm=\"r\", "
                                            "nonce=\"one\", uri=\"/x?y\""),
                                  HasSubstr("nc=00000001"), testing::EndsWith("\r\n\r\nabc")));
  say(0, digest_ok);
  EXPECT_EQ(error_of(first), "status 200");
  Reply& second = get();
  EXPECT_THAT(take_sent(0), AllOf(HasSubstr("nonce=\"one\""), HasSubstr("nc=00000002")));
  say(0, ok + "Authentication-Info: nextnonce=\"two\", qop=auth\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(second), "status 200");
  get();
  EXPECT_THAT(take_sent(0), AllOf(HasSubstr("nonce=\"two\""), HasSubstr("nc=00000001")));
}

TEST_F(DigestClientTest, a_stale_nonce_is_replaced_and_a_wrong_password_is_told_once) {
  Reply& reply = get();
  answer(0);
  say(0, challenge("one"));
  take_sent(0);
  say(0, challenge("two", ", stale=true"));
  EXPECT_THAT(take_sent(0), HasSubstr("nonce=\"two\""));
  say(0, challenge("three", ", stale=true"));
  EXPECT_EQ(take_sent(0), "");
  EXPECT_EQ(error_of(reply), "status 401");
  Reply& wrong = get();  // with the earlier nonce, which the server has forgotten
  EXPECT_THAT(take_sent(0), HasSubstr("nonce=\"three\""));
  say(0, challenge("four"));
  EXPECT_THAT(take_sent(0), HasSubstr("nonce=\"four\""));
  say(0, challenge("five"));
  EXPECT_EQ(take_sent(0), "");
  EXPECT_EQ(error_of(wrong), "status 401");
}

TEST_F(DigestClientTest, a_password_answers_its_origin_alone) {
  Reply& reply = get();
  answer(0);
  say(0, challenge("one"));
  take_sent(0);
  say(0, "HTTP/1.1 302 Found\r\nLocation: http://two.test/\r\nContent-Length: 0\r\n\r\n");
  answer(1);
  EXPECT_THAT(take_sent(1), Not(HasSubstr("Authorization")));
  say(1, challenge("one"));
  EXPECT_EQ(error_of(reply), "status 401");
  Reply& own = fetch(Request("http://server.test/").field("authorization", "Bearer t"));
  EXPECT_THAT(take_sent(0), AllOf(HasSubstr("Bearer t"), Not(HasSubstr("Digest"))));
  say(0, digest_ok);
  EXPECT_EQ(error_of(own), "status 200");
}

TEST_F(DigestClientTest, a_next_nonce_is_taken_up_to_1024_bytes_and_a_longer_one_is_ignored) {
  get();
  answer(0);
  say(0, challenge("one"));
  const auto next = [&](std::size_t bytes) {
    say(0, ok + "Authentication-Info: nextnonce=\"" + std::string(bytes, 'n') +
               "\"\r\nContent-Length: 0\r\n\r\n");
    take_sent(0);
    get();
    return take_sent(0);
  };
  EXPECT_THAT(next(1025), AllOf(HasSubstr("nonce=\"one\""), HasSubstr("nc=00000002")));
  EXPECT_THAT(next(1024), AllOf(HasSubstr("nonce=\"nnn"), HasSubstr("nc=00000001")));
}

TEST_F(DigestClientTest, a_nonce_that_would_break_the_head_is_not_answered) {
  Reply& reply = get();
  answer(0);
  take_sent(0);
  say(0, challenge("one\\\x01X: y"));
  EXPECT_EQ(error_of(reply), "status 401");
}

TEST(DigestOptionsTest, a_wrong_account_is_named) {
  const auto describe = [](DigestOptions account) {
    HttpClientOptions options = test_options();
    options.digest = {std::move(account)};
    const auto made = HttpClient::make(options);
    return made ? std::string("made") : made.error().describe();
  };
  EXPECT_EQ(describe({.origin = "https://a.test:8443", .user = "u"}), "made");
  EXPECT_THAT(describe({.origin = "https://a.test/x", .user = "u"}), HasSubstr("path"));
  EXPECT_THAT(describe({.origin = "https://a.test", .user = "u:v"}), HasSubstr("colon"));
  EXPECT_THAT(describe({.origin = "https://a.test"}), HasSubstr("empty"));
  EXPECT_THAT(describe({.origin = "a.test", .user = "u"}), HasSubstr("digest.origin"));
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
