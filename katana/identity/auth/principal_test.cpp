#include "katana/identity/auth/principal.hpp"

#include <gtest/gtest.h>

namespace katana::auth {
namespace {

PrincipalFacts ann() {
  return {.id = "7",
          .issuer = "https://issuer.example",
          .name = {},
          .method = Method::token,
          .roles = {"editor"},
          .scopes = {"notes:read"},
          .authenticated_at = {},
          .expires_at = {},
          .claims = {{"team", "north"}}};
}

TEST(Principal, without_a_name_it_is_called_by_its_id) { EXPECT_EQ(Principal(ann()).name(), "7"); }

TEST(Principal, roles_scopes_and_claims_are_found_by_their_whole_name) {
  const Principal principal(ann());
  EXPECT_TRUE(principal.has_role("editor"));
  EXPECT_FALSE(principal.has_role("edit"));
  EXPECT_TRUE(principal.has_scope("notes:read"));
  EXPECT_FALSE(principal.has_scope("notes:write"));
  ASSERT_NE(principal.claim("team"), nullptr);
  EXPECT_EQ(principal.claim("team")->as_text(), "north");
  EXPECT_EQ(principal.claim("tea"), nullptr);
}

TEST(Principal, the_same_id_of_another_issuer_is_somebody_else) {
  PrincipalFacts other = ann();
  other.issuer = "https://other.example";
  EXPECT_FALSE(Principal(ann()) == Principal(other));
  EXPECT_TRUE(Principal(ann()) == Principal(ann()));
}

TEST(Principal, each_method_has_its_name) {
  EXPECT_EQ(name_of(Method::token), "token");
  EXPECT_EQ(name_of(Method::session), "session");
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
