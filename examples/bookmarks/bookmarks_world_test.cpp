// Two users add bookmarks while the program crashes and the network misbehaves.
#include <gtest/gtest.h>

#include "bookmarks.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/testing_world.hpp"

namespace bookmarks {
namespace {

using namespace katana;
using katana::testing::Operation, katana::testing::World, katana::testing::WorldClient;

jose::SigningKey issuer_key() {
  return *jose::read_private_jwk(
      R"({"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"})",
      {jose::Algorithm::eddsa});
}
std::string token_of(std::string id) {
  return "Bearer " +
         *jose::sign_jwt(issuer_key(), {.issuer = "https://id.example",
                                        .subject = std::move(id),
                                        .expires_at = Timestamp(std::chrono::seconds(4102444800))});
}

void users_add(World& world) {
  world.upstream("https://id.example", [](Router& router) {
    router.get("/jwks", [] {
      return Reply::json(Text(R"({"keys":[)" + issuer_key().verification_key().jwk() + "]}"));
    });
  });
  world.add("api", options(), configure,
            {.settings = {"auth.bearer.issuer=https://id.example",
                          "auth.bearer.jwks_url=https://id.example/jwks"}});
  world.run(seconds(1));  // the keys are there
  world.users({"ann", "bob"}, [](WorldClient& user) -> Task<void> {
    user.headers() = {{"Authorization", token_of(user.name())}};
    for (int page = 1; page <= 5; ++page) {
      const std::string url = "https://" + user.name() + ".example/" + std::to_string(page);
      (void)co_await user.post("api", "/bookmarks", R"({"url":")" + url + R"(","title":"a page"})");
      (void)co_await user.get("api", "/bookmarks");
    }
  });
  world.faults(katana::testing::FaultBounds::usual(milliseconds(100)));
  world.always("a user sees no bookmark of another one",
               katana::testing::replies_stay_with_their_client(
                   {{"ann", "https://ann.example"}, {"bob", "https://bob.example"}}));
  for (const char* const name : {"ann", "bob"}) {
    world.at_end(std::string("bookmarks are kept: ") + name, [name](World& of) -> std::string {
      const Operation list =
          of.ask("api", "GET", "/bookmarks?limit=100", {}, {{"Authorization", token_of(name)}});
      if (list.status != 200) return "no list: " + list.reply + list.why;
      for (const Operation& each : of.history()) {
        if (each.client != name || each.status != 201) continue;
        const std::string url = each.content.substr(8, each.content.find('"', 8) - 8);
        if (list.reply.find(url) == std::string::npos) return each.key() + " is gone: " + url;
      }
      return {};
    });
  }
}

TEST(BookmarksWorld, keeps_what_it_acknowledged_and_shows_it_to_its_owner_alone) {
  const auto found = katana::testing::simulate({.seeds = 5, .name = "users_add"}, users_add);
  EXPECT_TRUE(found.holds) << found;
  EXPECT_GT(found.operations, 50u);
}

}  // namespace
}  // namespace bookmarks

// SPDX-License-Identifier: Apache-2.0
