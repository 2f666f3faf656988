#include "katana/http/handlers/security.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/http/handlers/built_service.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana {
namespace {

Middleware speaks_of(SecurityDocumentation words) {
  return {.before = [](const RequestView&) { return std::optional<Reply>(); },
          .security = std::make_shared<const SecurityDocumentation>(std::move(words))};
}
Reply nothing() { return Reply(204); }

TEST(Security, a_group_that_denies_by_default_wants_a_policy_for_each_route) {
  Router router;
  Group api = router.group("/api").deny_by_default();
  api.use(speaks_of({.schemes = {{.name = "bearer"}}}));
  api.get("/open", nothing);
  Group inner = api.group("/inner");
  inner.post("/door", nothing);
  router.get("/elsewhere", nothing);
  const auto built = std::move(router).build();
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().describe(),
            "2 mistakes in the routes:\n"
            "  route 'GET /api/open': its group denies by default, and no policy allows anyone. "
            "use(auth::require(…)) before the route is added, or add it by anonymous()\n"
            "  route 'POST /api/inner/door': its group denies by default, and no policy allows "
            "anyone. use(auth::require(…)) before the route is added, or add it by anonymous()");
}

TEST(Security, a_policy_or_anonymous_is_an_answer) {
  Router router;
  Group api = router.group("/api").deny_by_default();
  Group users = api.group("/users");
  users.use(speaks_of({.decides = true})).get("/me", nothing);
  api.anonymous().post("/login", nothing);
  EXPECT_TRUE(std::move(router).build());
}

TEST(Security, anonymous_leaves_out_what_asks_who_it_is_and_nothing_else) {
  Router router;
  router.use(speaks_of({.schemes = {{.name = "bearer"}}}));
  router.use({.after = [](const RequestView&, Reply&) {}});
  router.use(speaks_of({.decides = true}));
  EXPECT_EQ(router.security().size(), 2U);
  EXPECT_TRUE(router.anonymous().security().empty());
  router.anonymous().get("/a", nothing);
  router.get("/b", nothing);
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  EXPECT_EQ(service->built().route(0).middleware.size(), 1U);
  EXPECT_EQ(service->built().route(1).middleware.size(), 3U);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
