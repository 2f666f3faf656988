// Middleware that personalises a reply, with middleware that shares replies between requests, in
// both orders, over HTTP/1.1 and HTTP/2. No part of one client's reply reaches another.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/cookies.hpp"
#include "katana/http/handlers/head_fields.hpp"
#include "katana/http/handlers/html.hpp"
#include "katana/http/middleware/compression.hpp"
#include "katana/http/middleware/http_cache.hpp"
#include "katana/http/middleware/security_headers.hpp"
#include "katana/identity/auth/api_key.hpp"
#include "katana/identity/auth/policy.hpp"
#include "katana/identity/idempotency/idempotency.hpp"
#include "katana/identity/idempotency/memory_store.hpp"
#include "katana/identity/sessions/form_token.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/identity/sessions/sessions.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::simulation {

struct ThemeCookie {
  std::optional<std::string> theme;
};
KATANA_DESCRIBE(ThemeCookie, theme)
struct Languages {
  std::optional<std::string> accept_language;
};
KATANA_DESCRIBE(Languages, accept_language)
struct TenantField {
  std::optional<std::string> x_tenant;
};
KATANA_DESCRIBE(TenantField, x_tenant)
// The facts that the middleware of a program finds out.
struct Member {
  std::string name;
};
// A parameter of a program, which waits.
struct Account {
  std::string name;
};

}  // namespace katana::simulation

template <>
struct katana::FromRequest<katana::simulation::Account> {
  static Task<Result<simulation::Account>> from(Header<simulation::TenantField> fields) {
    co_await net::sleep_for(milliseconds(1));
    simulation::Account account;
    account.name = fields->x_tenant.value_or("no tenant");
    co_return account;
  }
};

namespace katana::simulation {
namespace {

using testing::TestFields;
using testing::TestProtocol;
using testing::TestReply;
using testing::TestServer;

// "Ann" and "Bob" as each personaliser knows them.
TestFields as(const std::string& who) {
  const bool is_ann = who == "ann";
  return {{"x-service-key", is_ann ? "ann_secret1" : "bob_secret2"},
          {"x-user", who},
          {"x-tenant", who},
          {"accept-language", who},
          {"cookie", "theme=" + who},
          {"x-forwarded-for", is_ann ? "203.0.113.1" : "203.0.113.2"},
          {"idempotency-key", "\"one key\""}};
}

// A reply that asks caches to keep it for long.
Reply for_all(std::string content) {
  return Reply::html(Text(content)).with("Cache-Control", "public, max-age=60, s-maxage=60");
}
Task<void> work() { co_await net::sleep_for(seconds(1)); }

struct Personaliser {
  const char* name;
  std::function<void(Group&)> use;
  // Serves /page with GET and POST.
  std::function<void(Group&)> serve;
};

template <class F>
std::function<void(Group&)> page(F handler) {
  return [handler](Group& group) { group.get("/page", handler).post("/page", handler); };
}

auth::Authentication api_key() {
  static const std::string ann = auth::hash_api_key("ann_secret1");
  static const std::string bob = auth::hash_api_key("bob_secret2");
  auth::ApiKeyOptions options;
  options.field = "X-Service-Key";
  options.find = [](std::string prefix) -> Task<Result<std::optional<auth::ApiKeyRecord>>> {
    auth::ApiKeyRecord record;
    record.hash = prefix == "ann" ? ann : bob;
    std::optional<auth::ApiKeyRecord> found(std::move(record));
    co_return found;
  };
  return auth::api_key(std::move(options));
}

auth::Principal principal_of_field(const RequestView& request) {
  return auth::Principal({.id = std::string(request.field("x-user").value_or("nobody"))});
}
Member member_of_field(const RequestView& request) {
  return {std::string(request.field("x-user").value_or("nobody"))};
}

Task<Reply> name_principal(FromContext<auth::Principal> who) {
  co_await work();
  co_return for_all("page of " + std::string(who->id()));
}
Task<Reply> name_member(FromContext<Member> who) {
  co_await work();
  co_return for_all("page of " + who->name);
}
Task<Reply> name_account(Account account) {
  co_await work();
  co_return for_all("page of " + account.name);
}
Task<Reply> name_address(Request request) {
  co_await work();
  co_return for_all("page of " + std::string(request.client().text().bytes()));
}
Reply name_address_at_once(const RequestView& request) {
  return for_all("page of " + std::string(request.client().text().bytes()));
}
Task<Reply> name_theme(Cookie<ThemeCookie> cookies) {
  co_await work();
  co_return for_all("page of " + cookies->theme.value_or("no theme"));
}
Task<Reply> name_cookie(Request request) {
  co_await work();
  co_return for_all("page of " + std::string(cookie(request, "theme").value_or("no theme")));
}
Task<Reply> name_language(Header<Languages> fields) {
  co_await work();
  co_return for_all("page of " + fields->accept_language.value_or("no language"));
}
Task<Reply> name_nonce(FromContext<CspNonce> nonce) {
  co_await work();
  co_return for_all("page of " + std::string(nonce->text()));
}
Task<Reply> show_form(FromContext<sessions::UserSession> session) {
  const Result<std::string> secret = co_await session->form_secret();
  if (!secret) co_return problem(secret.error());
  co_await work();
  co_return for_all("page of " + *secret);
}

sessions::Sessions in_memory() {
  sessions::SessionOptions options;
  options.cookie_name = "sid";
  options.secure = false;
  auto made = sessions::Sessions::in_store(
      options, std::make_shared<sessions::MemorySessionStore>(sessions::MemoryStoreOptions{}));
  return *std::move(made);
}

std::vector<Personaliser> personalisers() {
  const auto nothing = [](Group&) {};
  const auto with_nonce = [](Group& group) {
    ContentSecurityPolicy policy;
    policy.allow(CspDirective::script_src, {CspSource::nonce()});
    group.use(security_headers({.policy = std::move(policy)}));
  };
  return {
      {"an API key in a field of its name", [](Group& group) { group.use(api_key()); },
       page(name_principal)},
      {"a principal that a function provides",
       [](Group& group) {
         group.use(principal_of_field).use(auth::require(auth::authenticated()));
       },
       page(name_principal)},
      {"a value that a function provides", [](Group& group) { group.use(member_of_field); },
       page(name_member)},
      {"a parameter that waits", nothing, page(name_account)},
      {"the client's address", nothing, page(name_address)},
      {"the client's address, at once", nothing, page(name_address_at_once)},
      {"a cookie as a parameter", nothing, page(name_theme)},
      {"a cookie by its name", nothing, page(name_cookie)},
      {"a language", nothing, page(name_language)},
      {"a nonce", with_nonce, page(name_nonce)},
      {"a session that begins", [](Group& group) { group.use(in_memory().middleware()); },
       page(show_form)},
  };
}

struct Sharer {
  const char* name;
  const char* method;
  std::function<void(Group&)> use;
};

std::vector<Sharer> sharers() {
  const auto cache = [](bool knows_no_names) {
    HttpCacheOptions options;
    if (knows_no_names) options.private_fields.clear();
    return [options](Group& group) { group.use(http_cache(options)); };
  };
  const auto keys = [](Group& group) {
    idempotency::Options options;
    options.scope = idempotency::Scope::everyone;
    auto made =
        idempotency::Idempotency::make(options, std::make_shared<idempotency::MemoryStore>());
    group.use(made->middleware());
  };
  return {{"a response cache", "GET", cache(false)},
          {"a response cache without private fields", "GET", cache(true)},
          {"idempotency keys of everyone", "POST", keys}};
}

class PersonalReplies : public ::testing::Test {
 protected:
  static Result<Service> service(const Personaliser& personaliser, const Sharer& sharer,
                                 bool shares_in_front) {
    Router router;
    Group group = router.group("");
    if (shares_in_front) sharer.use(group);
    personaliser.use(group);
    if (!shares_in_front) sharer.use(group);
    personaliser.serve(group);
    return std::move(router).build();
  }
  static testing::TestOptions options(TestProtocol protocol, std::uint64_t seed) {
    testing::TestOptions options;
    options.protocol = protocol;
    options.http.http2.enabled = protocol == TestProtocol::http2;
    options.http.trusted_proxies = {*Network::parse("0.0.0.0/0"), *Network::parse("::/0")};
    options.http.forwarded = http::ForwardedFields::x_forwarded;
    options.seed = seed;
    if (seed != 0) options.faults = engine::SimFaults::random(seed).lossless();
    return options;
  }
  // Calls each(server, sharer) for every combination.
  template <class Each>
  static void for_all_pairs(std::uint64_t seed, Each&& each) {
    for (const Personaliser& personaliser : personalisers()) {
      for (const Sharer& sharer : sharers()) {
        for (const bool shares_in_front : {false, true}) {
          for (const TestProtocol protocol : {TestProtocol::http1, TestProtocol::http2}) {
            SCOPED_TRACE(::testing::Message()
                         << personaliser.name << ", " << sharer.name
                         << (shares_in_front ? " in front" : " behind")
                         << (protocol == TestProtocol::http1 ? ", HTTP/1.1" : ", HTTP/2")
                         << ", seed " << seed);
            TestServer server(service(personaliser, sharer, shares_in_front),
                              options(protocol, seed));
            each(server, sharer);
          }
        }
      }
    }
  }
  // The part that only its client may see: the text behind "page of ".
  static std::string secret_of(const TestReply& reply) {
    const std::size_t at = reply.content().find("page of ");
    return at == std::string::npos ? std::string() : reply.content().substr(at + 8);
  }
  static void expect_apart(const TestReply& one, const TestReply& other) {
    ASSERT_FALSE(secret_of(one).empty()) << one;
    EXPECT_EQ(other.content().find(secret_of(one)), std::string::npos) << "one client got:\n"
                                                                       << one << "\nanother got:\n"
                                                                       << other;
  }
};

TEST_F(PersonalReplies, one_client_never_gets_what_was_made_for_another_before) {
  for_all_pairs(0, [](TestServer& server, const Sharer& sharer) {
    const TestReply ann = server.send(sharer.method, "/page", {}, as("ann"));
    const TestReply bob = server.send(sharer.method, "/page", {}, as("bob"));
    expect_apart(ann, bob);
    expect_apart(ann,
                 server.send(sharer.method, "/page", {}, {{"idempotency-key", "\"one key\""}}));
  });
}

TEST_F(PersonalReplies, one_client_never_gets_what_is_made_for_another_at_the_same_time) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for_all_pairs(seed, [](TestServer& server, const Sharer& sharer) {
      auto ann = server.begin(sharer.method, "/page", {}, as("ann"));
      auto bob = server.begin(sharer.method, "/page", {}, as("bob"));
      const TestReply of_ann = ann.reply(), of_bob = bob.reply();
      // One of them may have been told to come back.
      if (secret_of(of_ann).empty()) return;
      expect_apart(of_ann, of_bob);
    });
  }
}

// Caches on the way obey Cache-Control alone.
TEST_F(PersonalReplies, caches_on_the_way_are_told_not_to_share_either) {
  for_all_pairs(0, [](TestServer& server, const Sharer& sharer) {
    const TestReply ann = server.send(sharer.method, "/page", {}, as("ann"));
    std::string control, vary;
    for (const auto& [name, value] : ann.headers()) {
      if (name == "cache-control" || name == "Cache-Control") control += value + ",";
      if (name == "vary" || name == "Vary") vary += value + ",";
    }
    const bool is_private = control.find("private") != std::string::npos ||
                            control.find("no-store") != std::string::npos;
    EXPECT_TRUE(is_private || secret_of(ann) == "ann") << ann;
  });
}

TEST_F(PersonalReplies, fields_for_caches_of_one_kind_are_left_out_of_a_personal_reply) {
  Router router;
  router.use(principal_of_field);
  router.get("/me", [](FromContext<auth::Principal> who) {
    return Reply::text(Text(who->id()))
        .with("CDN-Cache-Control", "max-age=600")
        .with("Surrogate-Control", "max-age=600")
        .with("Fast-CDN-Cache-Control", "max-age=600")
        .with("Cache-Control", "max-age=60");
  });
  TestServer server(std::move(router).build());
  const TestReply reply = server.get("/me", {{"x-user", "ann"}});
  EXPECT_FALSE(reply.header("cdn-cache-control")) << reply;
  EXPECT_FALSE(reply.header("surrogate-control")) << reply;
  EXPECT_FALSE(reply.header("fast-cdn-cache-control")) << reply;
}

// A cache that is of use: what no mark concerns is shared, beside pages that are not.
TEST_F(PersonalReplies, a_page_that_takes_nothing_of_its_client_is_shared_behind_sessions) {
  int calls = 0;
  Router router;
  router.use(in_memory().middleware()).use(http_cache());
  router.get("/news", [&calls](FromContext<sessions::UserSession>) {
    return for_all(std::to_string(++calls));
  });
  router.get("/themed", [&calls](Cookie<ThemeCookie> cookies) {
    return for_all(cookies->theme.value_or("none") + std::to_string(++calls));
  });
  TestServer server(std::move(router).build());
  EXPECT_EQ(server.get("/news").content(), server.get("/news").content());
  // Clients without cookies share the page of clients without cookies, and one with does not.
  EXPECT_EQ(server.get("/themed").content(), server.get("/themed").content());
  EXPECT_EQ(server.get("/themed").header("vary"), "Cookie");
  EXPECT_TRUE(server.get("/themed", {{"cookie", "theme=dark"}}).content().starts_with("dark"));
}

TEST_F(PersonalReplies, of_two_languages_that_vary_names_each_is_shared) {
  int calls = 0;
  Router router;
  router.use(http_cache());
  router.get("/page", [&calls](Header<Languages> fields) {
    ++calls;
    return for_all(fields->accept_language.value_or("")).with("Vary", "Accept-Language");
  });
  TestServer server(std::move(router).build());
  for (const char* language : {"de", "en", "de", "en"}) {
    EXPECT_EQ(server.get("/page", {{"accept-language", language}}).content(), language);
  }
  EXPECT_EQ(calls, 2);
}

// BREACH: the size of a compressed reply tells how similar it is to text that an attacker adds.
TEST_F(PersonalReplies, a_personal_reply_to_a_page_of_another_site_is_not_compressed) {
  for (const bool compresses_in_front : {false, true}) {
    Router router;
    if (compresses_in_front) router.use(compression({.bytes_min = 1}));
    router.use(principal_of_field);
    if (!compresses_in_front) router.use(compression({.bytes_min = 1}));
    router.get("/me", name_principal);
    TestServer server(std::move(router).build());
    const TestFields same = {{"accept-encoding", "gzip"}, {"sec-fetch-site", "same-origin"}};
    const TestFields cross = {{"accept-encoding", "gzip"}, {"sec-fetch-site", "cross-site"}};
    EXPECT_EQ(server.get("/me", same).header("content-encoding"), "gzip");
    EXPECT_EQ(server.get("/me", cross).header("content-encoding"), std::nullopt);
  }
}

// ---- the order of middleware ----

TEST(MiddlewareOrder, what_asks_who_it_is_runs_in_front_of_what_shares_whatever_the_order) {
  for (const bool shares_in_front : {false, true}) {
    Router router;
    if (shares_in_front) router.use(http_cache());
    router.use(api_key()).use(auth::require(auth::authenticated()));
    if (!shares_in_front) router.use(http_cache());
    router.get("/page", [] { return for_all("for members"); });
    TestServer server(std::move(router).build());
    EXPECT_EQ(server.get("/page", {{"x-service-key", "ann_secret1"}}).status(), 200u);
    EXPECT_EQ(server.get("/page").status(), 401u);
  }
}

TEST(MiddlewareOrder, a_function_that_may_refuse_behind_a_cache_is_a_mistake_that_names_the_route) {
  Router router;
  router.use(http_cache());
  router.use([](const RequestView& request) -> std::optional<Reply> {
    if (request.field("x-user")) return std::nullopt;
    return problem(403, "Members only.");
  });
  router.get("/page", [] { return for_all("for members"); });
  const Result<Service> built = std::move(router).build();
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().describe().find("'GET /page'"), std::string::npos);
  EXPECT_NE(built.error().describe().find("use() it in front"), std::string::npos);
}

TEST(MiddlewareOrder, a_limit_may_stand_behind_a_cache) {
  Router router;
  router.use(http_cache());
  Middleware limit;
  limit.limits_work = true;
  limit.before = [](const RequestView&) { return std::optional<Reply>(); };
  router.use(std::move(limit));
  router.get("/page", [] { return for_all("page"); });
  EXPECT_TRUE(std::move(router).build());
}

TEST(MiddlewareOrder, a_policy_is_asked_before_a_reply_is_repeated) {
  bool is_allowed = true;
  Router router;
  auto keys = idempotency::Idempotency::make({}, std::make_shared<idempotency::MemoryStore>());
  ASSERT_TRUE(keys);
  router.use(principal_of_field).use(keys->middleware());
  router.use(auth::require(
      auth::Policy("is allowed", [&is_allowed](const auth::Principal&) { return is_allowed; })));
  router.post("/orders", [] { return Reply(201); });
  TestServer server(std::move(router).build());
  const TestFields fields = {{"x-user", "ann"}, {"idempotency-key", "\"k\""}};
  EXPECT_EQ(server.post("/orders", "{}", fields).status(), 201u);
  EXPECT_EQ(server.post("/orders", "{}", fields).status(), 201u);
  is_allowed = false;
  EXPECT_EQ(server.post("/orders", "{}", fields).status(), 403u);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
