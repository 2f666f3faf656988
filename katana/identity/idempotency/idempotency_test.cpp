// Tests of the answer to a request with a key, and of the number of times that it is carried out.
#include "katana/identity/idempotency/idempotency.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "katana/http/handlers/request_documentation.hpp"
#include "katana/identity/idempotency/idempotency_fixture_test.hpp"
#include "katana/identity/idempotency/key_field.hpp"
#include "katana/identity/idempotency/stored_reply.hpp"

namespace katana::idempotency {
namespace {

TEST(IdempotencyKey, is_a_string_of_structured_fields) {
  const auto strict = [](Bytes value) { return parse_key(value, false).value_or("-"); };
  EXPECT_EQ(strict(R"("8e03978e-40d5")"), "8e03978e-40d5");
  EXPECT_EQ(strict(R"( "a" )"), "a");
  EXPECT_EQ(strict(R"("a\"\\b")"), R"(a"\b)");
  EXPECT_EQ(strict(R"("a";b;c=1; d="x;y")"), "a");
  EXPECT_EQ(strict(R"("k";az09_-.*=~;z=0;*a)"), "k") << "each end of what a parameter may have";
  EXPECT_EQ(strict("\"" + std::string(255, 'k') + "\""), std::string(255, 'k'));
  const std::string too_long = "\"" + std::string(256, 'k') + "\"";
  for (const Bytes wrong :
       {Bytes(""), Bytes("\"\""), Bytes("abc"), Bytes("\"abc"), Bytes("\"a\"b"),
        Bytes("\"a\", \"b\""), Bytes("\"a\\b\""), Bytes("\"a\\"), Bytes("\"\xc3\xa9\""),
        Bytes("\"a\";"), Bytes("\"a\";B"), Bytes("\"a\";b="), Bytes("\"a\";b=\"x"), Bytes(":YQ==:"),
        Bytes(too_long)}) {
    EXPECT_EQ(strict(wrong), "-") << wrong;
  }
}

// The fields of a head follow one another in one buffer.
TEST(IdempotencyKey, is_read_up_to_the_end_of_its_field) {
  const Bytes head = "\"abc\";de=f, \"x\"";
  EXPECT_FALSE(parse_key(head.substr(0, 4), false)) << "the quote behind it is another field's";
  EXPECT_EQ(parse_key(head.substr(0, 7), false), "abc");
  EXPECT_EQ(parse_key(head.substr(0, 10), false), "abc");
}

TEST(IdempotencyKey, with_malformed_parameters_is_none) {
  for (const Bytes value : {R"("k";a=1;B)", R"("k";a=1 x)", R"("k";a=1,b)", R"("k";a=1\)",
                            R"("k";a="x"y)", R"("k"x;a)"}) {
    EXPECT_FALSE(parse_key(value, false)) << value;
  }
}

TEST(IdempotencyKey, without_quotes_is_taken_where_it_is_allowed) {
  EXPECT_EQ(parse_key("8e03978e", true), "8e03978e");
  EXPECT_EQ(parse_key("\"8e03978e\"", true), "8e03978e");
  EXPECT_FALSE(parse_key("a b", true));
  EXPECT_FALSE(parse_key("a,b", true));
  EXPECT_FALSE(parse_key("", true));
}

TEST(StoredReply, is_read_as_it_was_written_and_nothing_else_is) {
  const StoredReply reply{201, true, "a/b", "X: y\r\n", std::string("\0\xff", 2)};
  const std::string octets = encode(reply);
  const auto read = decode(octets);
  ASSERT_TRUE(read);
  EXPECT_EQ(encode(*read), octets);
  EXPECT_EQ(read->content, reply.content);
  EXPECT_EQ(read->fields, reply.fields);
  for (std::size_t size = 0; size < octets.size() - reply.content.size(); ++size) {
    EXPECT_FALSE(decode(Bytes(octets).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode("\x02" + octets.substr(1)));
  EXPECT_FALSE(decode(octets.substr(0, 1) + "\x03" + octets.substr(2))) << "an unknown flag";
  for (const unsigned status : {200u, 599u})
    EXPECT_TRUE(decode(encode({status, true, {}, {}, {}})));
  for (const unsigned status : {0u, 199u, 600u}) {
    EXPECT_FALSE(decode(encode({status, true, {}, {}, {}}))) << status;
  }
}

TEST_F(OrdersTest, the_same_request_gets_the_same_reply_and_is_carried_out_once) {
  const testing::TestReply first = post(), second = post();
  EXPECT_EQ(first.status(), 201u);
  EXPECT_FALSE(first.header("Idempotent-Replayed"));
  EXPECT_EQ(second.status(), 201u);
  EXPECT_EQ(second.content(), R"({"order":1})");
  EXPECT_EQ(second.header("Location"), "/orders/1");
  EXPECT_EQ(second.header("Content-Type"), "application/json");
  EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(second.header("X-After"), "once") << "added to both, and not kept";
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(post("/orders", "\"other\"").content(), R"({"order":2})");
  EXPECT_EQ(statistics().begun, 2u);
  EXPECT_EQ(statistics().kept, 2u);
  EXPECT_EQ(statistics().repeated, 1u);
}

TEST_F(OrdersTest, a_handler_that_is_no_coroutine_has_its_reply_kept_as_well) {
  EXPECT_EQ(post("/plain").content(), R"({"order":1})");
  EXPECT_EQ(post("/plain").content(), R"({"order":1})");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(after, 2) << "each reply passes the middleware once";
}

TEST_F(OrdersTest, an_answer_over_http2_is_repeated_as_well) {
  server_options.protocol = testing::TestProtocol::http2;
  server_options.http.http2.enabled = true;
  takes = seconds(1);
  EXPECT_EQ(post().content(), R"({"order":1})");
  EXPECT_EQ(post().content(), R"({"order":1})");
}

TEST_F(OrdersTest, another_request_with_the_key_is_refused) {
  post();
  EXPECT_EQ(post("/orders", "\"k\"", "{ }").status(), 422u);
  EXPECT_EQ(post("/orders?a=1").status(), 422u);
  EXPECT_EQ(server()
                .post("/orders", "{}", {{"Idempotency-Key", "\"k\""}, {"Content-Type", "a/b"}})
                .status(),
            422u);
  const testing::TestReply refused = post("/orders", "\"k\"", "[]");
  EXPECT_EQ(refused.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(statistics().mismatched, 4u);
}

TEST_F(OrdersTest, the_key_of_another_principal_or_route_is_another_key) {
  post();
  EXPECT_EQ(post("/other").content(), R"({"order":2})");
  EXPECT_EQ(
      server().post("/orders", "{}", {{"Idempotency-Key", "\"k\""}, {"X-User", "bob"}}).content(),
      R"({"order":3})");
}

TEST_F(OrdersTest, the_key_of_the_same_name_by_another_issuer_is_another_key) {
  const auto by = [this](std::string issuer, std::string user) {
    return server().post("/orders", "{}",
                         {{"Idempotency-Key", "\"k\""},
                          {"X-User", std::move(user)},
                          {"X-Issuer", std::move(issuer)}});
  };
  EXPECT_EQ(by("https://one", "ann").content(), R"({"order":1})");
  EXPECT_EQ(by("https://two", "ann").content(), R"({"order":2})");
  EXPECT_EQ(by("https://one", "ann").content(), R"({"order":1})");
  // The same joined text, divided elsewhere.
  EXPECT_EQ(by("https://on", "eann").content(), R"({"order":3})");
}

TEST_F(OrdersTest, another_path_of_the_route_is_another_request) {
  EXPECT_EQ(server().post("/items/1", "{}", with_key("\"k\"")).status(), 201u);
  EXPECT_EQ(server().post("/items/2", "{}", with_key("\"k\"")).status(), 422u);
  EXPECT_EQ(server().post("/items/1", "{}", with_key("\"k\"")).status(), 201u);
  EXPECT_EQ(calls, 1);
}

TEST_F(OrdersTest, parts_of_a_request_that_are_cut_elsewhere_are_another_request) {
  const auto with_type = [this](std::string type, std::string query) {
    return server().post("/orders" + query, "{}",
                         {{"Idempotency-Key", "\"k\""}, {"Content-Type", std::move(type)}});
  };
  EXPECT_EQ(with_type("b/c", "?x=a").status(), 201u);
  EXPECT_EQ(with_type("ab/c", "?x=").status(), 422u);
}

// A separator may also occur within a part.
TEST_F(OrdersTest, a_separator_within_a_part_does_not_make_two_of_it) {
  const auto with_type = [this](std::string type, std::string query) {
    return server().post("/orders" + query, "{}",
                         {{"Idempotency-Key", "\"k\""}, {"Content-Type", std::move(type)}});
  };
  EXPECT_EQ(with_type("b:c", "?a").status(), 201u);
  EXPECT_EQ(with_type("c", "?a:b").status(), 422u);
}

TEST_F(OrdersTest, another_method_is_another_request) {
  options.methods = {"POST", "PUT"};
  Router router;
  auto made = Idempotency::make(options, store);
  ASSERT_TRUE(made) << made.error().describe();
  router.use([](const RequestView&) { return auth::Principal({.id = "ann"}); });
  router.use(made->middleware());
  router.any("/any", [](const RequestView& request) {
    return Reply::text(Text(std::string(request.method_text())));
  });
  testing::TestServer any(std::move(router).build());
  EXPECT_EQ(any.post("/any", "{}", with_key("\"k\"")).content(), "POST");
  EXPECT_EQ(any.put("/any", "{}", with_key("\"k\"")).status(), 422u);
}

TEST_F(OrdersTest, of_everyone_a_key_is_the_same_whoever_sends_it) {
  options.scope = Scope::everyone;
  post();
  EXPECT_EQ(
      server().post("/orders", "{}", {{"Idempotency-Key", "\"k\""}, {"X-User", "bob"}}).content(),
      R"({"order":1})");
}

TEST_F(OrdersTest, a_route_without_a_principal_in_front_is_not_built) {
  Router router;
  router.use(Idempotency::make({}, store)->middleware());
  router.post("/orders", [] { return Reply(201); });
  const auto built = std::move(router).build();
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().describe().find("Principal"), std::string::npos);
  Router without;
  options.enabled = false;
  without.use(Idempotency::make(options, store)->middleware());
  without.post("/orders", [] { return Reply(201); });
  EXPECT_TRUE(std::move(without).build()) << "while it is off nothing is asked for";
}

TEST_F(OrdersTest, a_reply_whose_key_another_has_taken_meanwhile_is_sent_and_counted_as_lost) {
  store->loses_keys = true;
  EXPECT_EQ(post().status(), 201u);
  EXPECT_EQ(statistics().lost, 1u);
  EXPECT_EQ(statistics().kept, 0u);
}

TEST_F(OrdersTest, a_second_one_is_refused_while_the_first_is_carried_out) {
  takes = seconds(10);
  auto first = server().begin("POST", "/orders", "{}", with_key("\"k\""));
  const testing::TestReply second = post();
  EXPECT_EQ(second.status(), 409u);
  EXPECT_EQ(second.header("Retry-After"), "1");
  EXPECT_EQ(post("/orders", "\"k\"", "[]").status(), 422u);
  EXPECT_EQ(first.reply().content(), R"({"order":1})");
  EXPECT_EQ(post().content(), R"({"order":1})");
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(statistics().in_progress, 1u);
}

TEST_F(OrdersTest, requests_without_a_key_pass_unless_one_is_required) {
  EXPECT_EQ(server().post("/orders", "{}").status(), 201u);
  EXPECT_EQ(server().post("/orders", "{}").status(), 201u);
  EXPECT_EQ(server().post("/key", "{}").content(), "none");
  EXPECT_EQ(post("/key").content(), "key");
  EXPECT_EQ(server().get("/orders", with_key("\"k\"")).status(), 201u);
  EXPECT_EQ(server().get("/orders", with_key("\"k\"")).content(), R"({"order":4})");
  EXPECT_EQ(statistics().without_key, 3u);
}

TEST_F(OrdersTest, one_that_is_required_and_missing_is_asked_for) {
  options.required = true;
  EXPECT_EQ(server().post("/orders", "{}").status(), 400u);
  EXPECT_EQ(server().get("/orders").status(), 201u);
  EXPECT_EQ(statistics().missing, 1u);
}

TEST_F(OrdersTest, a_malformed_key_and_two_keys_are_refused) {
  options.bare_keys = false;
  EXPECT_EQ(post("/orders", "k").status(), 400u);
  EXPECT_EQ(post("/orders", "\"\"").status(), 400u);
  EXPECT_EQ(post("/orders", "\"\"").content().find("more than one"), std::string::npos);
  const auto two =
      server().post("/orders", "{}", {{"Idempotency-Key", "\"a\""}, {"Idempotency-Key", "\"a\""}});
  EXPECT_EQ(two.status(), 400u);
  EXPECT_NE(two.content().find("more than one"), std::string::npos) << two;
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(statistics().malformed, 4u);
}

TEST_F(OrdersTest, a_failure_is_not_kept_and_the_request_is_carried_out_again) {
  for (const unsigned each : {500u, 503u, 401u, 409u, 429u}) {
    status = each;
    EXPECT_EQ(post().status(), each);
  }
  throws = true;
  EXPECT_EQ(post().status(), 500u);
  throws = false;
  status = 201;
  EXPECT_EQ(post().content(), R"({"order":7})");
  EXPECT_EQ(statistics().released, 6u);
}

TEST_F(OrdersTest, a_reply_that_no_client_may_get_is_not_kept) {
  EXPECT_EQ(post("/invalid").status(), 500u);
  EXPECT_EQ(statistics().released, 1u);
  EXPECT_EQ(statistics().kept, 0u);
  EXPECT_EQ(post("/invalid").status(), 500u);
  EXPECT_EQ(calls, 2) << "it is carried out again";
}

TEST_F(OrdersTest, a_refusal_by_what_the_request_says_is_kept) {
  status = 404;
  post();
  status = 201;
  EXPECT_EQ(post().status(), 404u);
  EXPECT_EQ(calls, 1);
}

TEST_F(OrdersTest, fields_that_are_left_out_are_not_kept) {
  cookie = "a=b";
  EXPECT_EQ(post().header("Set-Cookie"), "a=b");
  EXPECT_FALSE(post().header("Set-Cookie"));
  EXPECT_EQ(post().header("Location"), "/orders/1");
}

TEST_F(OrdersTest, the_time_of_a_reply_ends) {
  options.kept = seconds(60);
  post();
  server().advance(seconds(59));
  EXPECT_EQ(post().content(), R"({"order":1})");
  server().advance(seconds(1));
  EXPECT_EQ(post().content(), R"({"order":2})");
}

// ---- the client leaves ----

TEST_F(OrdersTest, a_handler_goes_on_when_its_client_has_left) {
  takes = seconds(10);
  auto first = server().begin("POST", "/orders", "{}", with_key("\"k\""));
  first.reset();
  server().advance(seconds(1));
  EXPECT_EQ(post().status(), 409u);
  server().advance(seconds(10));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(post().content(), R"({"order":1})");
  EXPECT_EQ(begun, 1);
}

TEST_F(OrdersTest, a_handler_without_a_key_is_cancelled_as_ever) {
  takes = seconds(10);
  auto first = server().begin("POST", "/orders", "{}", {});
  first.reset();
  server().advance(seconds(11));
  EXPECT_EQ(calls, 0);
}

TEST_F(OrdersTest, a_reply_is_kept_when_its_client_has_left_meanwhile) {
  store->keep_takes = seconds(3);
  auto first = server().begin("POST", "/plain", "{}", with_key("\"k\""));
  first.reset();
  server().advance(seconds(4));
  EXPECT_EQ(post("/plain").content(), R"({"order":1})");
  EXPECT_EQ(calls, 1);
}

TEST_F(OrdersTest, a_key_that_was_claimed_for_a_client_that_left_is_free) {
  store->claim_takes = seconds(2);
  auto first = server().begin("POST", "/orders", "{}", with_key("\"k\""));
  first.reset();
  server().advance(seconds(3));
  EXPECT_EQ(begun, 0);
  EXPECT_EQ(post().status(), 201u);
  EXPECT_EQ(statistics().released, 1u);
}

TEST_F(OrdersTest, a_handler_whose_time_is_up_keeps_its_key_for_the_lease) {
  takes = seconds(1000);
  const auto first = server().begin("POST", "/orders", "{}", with_key("\"k\""));
  server().advance(seconds(31));
  EXPECT_EQ(first.status(), 503u);
  EXPECT_EQ(post().status(), 409u) << "what it began may still take effect";
  takes = {};
  server().advance(store->last_lease);
  EXPECT_EQ(post().status(), 201u);
}

TEST_F(OrdersTest, one_that_lost_its_client_and_its_time_is_ended) {
  takes = seconds(1000);
  auto first = server().begin("POST", "/orders", "{}", with_key("\"k\""));
  first.reset();
  server().advance(seconds(2000));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(server().reactor().tasks().size(), 0u);
}

// ---- the store fails ----

TEST_F(OrdersTest, nothing_is_carried_out_while_the_store_does_not_answer) {
  store->claims_fail = true;
  const testing::TestReply refused = post();
  EXPECT_EQ(refused.status(), 503u);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  EXPECT_EQ(server().post("/orders", "{}").status(), 201u) << "without a key it is not asked";
  store->claims_fail = false;
  store->claim_takes = seconds(1000);
  EXPECT_EQ(post().status(), 503u);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(statistics().store_failures, 2u);
}

// A late call may or may not have claimed the key.
TEST_F(OrdersTest, a_key_that_a_late_call_may_have_claimed_is_given_back) {
  store->claims_late = seconds(10);
  EXPECT_EQ(post().status(), 503u);
  EXPECT_EQ(store->memory.statistics().keys, 0u);
  store->claims_late = {};
  EXPECT_EQ(post().content(), R"({"order":1})") << "at once, and not when a lease has ended";
}

TEST_F(OrdersTest, without_the_store_all_is_carried_out_where_that_is_wanted) {
  options.runs_without_store = true;
  store->claims_fail = true;
  EXPECT_EQ(post().status(), 201u);
  EXPECT_EQ(post().content(), R"({"order":2})");
  EXPECT_EQ(post("/key").content(), "none");
}

TEST_F(OrdersTest, a_reply_that_cannot_be_kept_is_sent) {
  store->keeps_fail = true;
  EXPECT_EQ(post().status(), 201u);
  EXPECT_EQ(post().status(), 409u) << "for the rest of the lease";
  store->keeps_fail = false;
  store->keeps_throw = true;
  EXPECT_EQ(post("/plain", "\"l\"").status(), 201u);
  store->keeps_throw = false;
  store->keep_takes = seconds(1000);
  EXPECT_EQ(post("/orders", "\"m\"").status(), 201u);
  EXPECT_EQ(server().reactor().tasks().counts().failed, 3u) << "each is recorded";
}

// ---- replies that have no end ----

TEST_F(OrdersTest, a_reply_without_its_content_is_not_repeated_and_the_request_neither) {
  for (const std::string target : {"/stream", "/pieces"}) {
    EXPECT_EQ(post(target).status(), 200u) << target;
    EXPECT_EQ(post(target).status(), 409u) << target;
  }
  content_bytes = options.reply_bytes_max;
  EXPECT_EQ(post("/plain", "\"just\"").content().size(), content_bytes);
  EXPECT_EQ(post("/plain", "\"just\"").content().size(), content_bytes) << "it fits";
  --calls;
  content_bytes = options.reply_bytes_max + 1;
  EXPECT_EQ(post("/plain").content().size(), content_bytes);
  EXPECT_EQ(post("/plain").status(), 409u);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(statistics().without_reply, 3u);
}

TEST_F(OrdersTest, a_kept_reply_that_cannot_be_read_is_not_sent_and_the_request_not_repeated) {
  EXPECT_EQ(post().status(), 201u);
  store->garbage = "garbage";
  EXPECT_EQ(post().status(), 409u);
  EXPECT_EQ(calls, 1);
  store->garbage.clear();
  EXPECT_EQ(post().status(), 201u);
}

// As with a database, where the reply is kept in the transaction of the handler.
TEST_F(OrdersTest, a_handler_that_keeps_its_reply_itself_has_lost_no_key) {
  options.kept = seconds(77);
  store->loses_keys = true;
  EXPECT_EQ(post("/self").content(), "77000 ms");
  EXPECT_EQ(statistics().lost, 0u);
  EXPECT_EQ(post("/plain", "\"other\"").status(), 201u);
  EXPECT_EQ(statistics().lost, 1u);
}

// ---- options ----

TEST_F(OrdersTest, nothing_is_looked_at_while_it_is_off) {
  options.enabled = false;
  post();
  EXPECT_EQ(post().content(), R"({"order":2})");
  EXPECT_EQ(post("/key").content(), "none");
}

TEST_F(OrdersTest, what_is_asked_of_requests_is_told_for_openapi) {
  const auto words_of = [this] { return Idempotency::make(options, store)->middleware().words; };
  options.methods = {"POST", "BREW"};
  const std::shared_ptr<const RequestDocumentation> words = words_of();
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(words->methods, (std::vector{http::Method::post, http::Method::extension}));
  ASSERT_EQ(words->fields.size(), 1U);
  EXPECT_EQ(words->fields[0].name, "Idempotency-Key");
  EXPECT_FALSE(words->fields[0].required);
  EXPECT_EQ(words->problems, (std::vector<unsigned>{400, 409, 422, 503}));
  EXPECT_EQ(words->reply_fields[0].name, "Idempotent-Replayed");
  options.required = options.runs_without_store = true;
  options.repeated_field.clear();
  options.methods.clear();
  EXPECT_TRUE(words_of()->fields[0].required);
  EXPECT_EQ(words_of()->problems, (std::vector<unsigned>{400, 409, 422}));
  EXPECT_TRUE(words_of()->reply_fields.empty());
  EXPECT_FALSE(words_of()->methods.empty()) << "which would be all";
  options.enabled = false;
  EXPECT_EQ(words_of(), nullptr);
}

// The pattern of the document matches the keys that parse_key() accepts. The description states the
// size.
TEST_F(OrdersTest, the_pattern_that_is_told_is_that_of_keys) {
  const auto matches = [this](const std::string& key) {
    const Middleware middleware = Idempotency::make(options, store)->middleware();
    return std::regex_match(key, std::regex(middleware.words->fields[0].pattern));
  };
  for (const bool bare : {false, true}) {
    options.bare_keys = bare;
    for (int octet = 0x20; octet < 0x80; ++octet) {
      const std::string one(1, static_cast<char>(octet));
      for (const std::string& key : {"a" + one + "b", "\"a" + one + "b\"", "\"a\\" + one + "b\""}) {
        EXPECT_EQ(matches(key), parse_key(key, bare).has_value()) << key;
      }
    }
    EXPECT_TRUE(matches(R"("a";b;c=1; d="x;y")"));
    EXPECT_FALSE(matches("\"\""));
    EXPECT_FALSE(matches(""));
  }
}

TEST_F(OrdersTest, options_that_are_wrong_are_named) {
  EXPECT_FALSE(Idempotency::make({}, nullptr));
  options.methods = {"post"};
  EXPECT_NE(Idempotency::make(options, store).error().describe().find("'post'"), std::string::npos);
  options.methods = {""};
  EXPECT_FALSE(Idempotency::make(options, store)) << "a method without a letter";
  options = {};
  options.kept = milliseconds(999);
  EXPECT_FALSE(Idempotency::make(options, store));
  options = {};
  options.lease_max = milliseconds(999);
  EXPECT_FALSE(Idempotency::make(options, store));
  options = {};
  options.store_timeout = {};
  EXPECT_FALSE(Idempotency::make(options, store));
  options = {};
  options.kept = options.lease_max = seconds(1);
  options.store_timeout = milliseconds(1);
  EXPECT_TRUE(Idempotency::make(options, store)) << "the least of each";
  options = {};
  options.repeated_field = "no field";
  EXPECT_FALSE(Idempotency::make(options, store));
}

// ---- MemoryStore ----

template <class T>
T done(Task<T> task) {
  EXPECT_TRUE(task.start());
  return task.result();
}

Claim claim_of(std::string_view key, std::int64_t token) {
  return {crypto::sha256(key), crypto::sha256("request"), token};
}

TEST(MemoryStore, refuses_keys_beyond_its_bounds_and_forgets_none_early) {
  MemoryStore store({.keys_max = 2, .bytes_max = 10'000});
  EXPECT_TRUE(done(store.claim(claim_of("a", 1), seconds(100))));
  EXPECT_TRUE(done(store.claim(claim_of("b", 2), seconds(100))));
  const auto refused = done(store.claim(claim_of("c", 3), seconds(100)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
  EXPECT_EQ(done(store.claim(claim_of("a", 4), seconds(100)))->state, ClaimState::in_progress);
  EXPECT_FALSE(done(store.keep(claim_of("a", 1), std::string(10'000, 'x'), seconds(100))));
  EXPECT_LE(store.statistics().bytes, 10'000u);
  EXPECT_EQ(done(store.keep(claim_of("a", 1), std::string(5'000, 'x'), seconds(100))), true);
  EXPECT_FALSE(done(store.keep(claim_of("b", 2), std::string(5'000, 'x'), seconds(100))));
  EXPECT_TRUE(done(store.release(claim_of("b", 2))));
  EXPECT_TRUE(done(store.claim(claim_of("c", 3), seconds(100))));
  EXPECT_EQ(store.statistics().keys, 2u);
}

TEST(MemoryStore, takes_a_key_that_fits_exactly) {
  MemoryStore measured;
  EXPECT_TRUE(done(measured.claim(claim_of("a", 1), seconds(100))));
  const std::size_t bytes = measured.statistics().bytes;
  MemoryStore fits({.keys_max = 2, .bytes_max = bytes});
  EXPECT_TRUE(done(fits.claim(claim_of("a", 1), seconds(100))));
  EXPECT_FALSE(done(fits.claim(claim_of("b", 1), seconds(100))));
  MemoryStore lacks_a_byte({.keys_max = 2, .bytes_max = bytes - 1});
  EXPECT_FALSE(done(lacks_a_byte.claim(claim_of("a", 1), seconds(100))));
}

TEST(MemoryStore, lets_nobody_change_the_claim_of_another) {
  MemoryStore store;
  EXPECT_TRUE(done(store.claim(claim_of("a", 1), seconds(100))));
  EXPECT_EQ(done(store.keep(claim_of("a", 2), "reply", seconds(100))), false);
  EXPECT_TRUE(done(store.release(claim_of("a", 2))));
  EXPECT_EQ(done(store.keep(claim_of("a", 1), "reply", seconds(100))), true);
  EXPECT_EQ(done(store.keep(claim_of("a", 1), "again", seconds(100))), false);
  EXPECT_TRUE(done(store.release(claim_of("a", 1)))) << "what is done stays";
  EXPECT_EQ(done(store.claim(claim_of("a", 3), seconds(100)))->reply, "reply");
}

}  // namespace
}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
