// A service that was generated from petstore.yaml answers as that says.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "api.hpp"
#include "katana/testing/test_server.hpp"

namespace {

class Pets final : public petstore::PetsApi {
 public:
  katana::Task<petstore::ListPetsReply> list_pets(katana::Request, petstore::ListPetsQuery query,
                                                  petstore::ListPetsHeader) override {
    std::vector<petstore::Pet> found;
    for (const auto& [id, pet] : pets_) {
      const bool fits = query.status.empty() || (pet.status && *pet.status == query.status[0]);
      if (fits && std::ssize(found) < query.limit) found.push_back(pet);
    }
    co_return petstore::ListPetsReply::status_200(found);
  }
  katana::Task<petstore::AddPetReply> add_pet(katana::Request, petstore::NewPet pet) override {
    petstore::Pet added;
    added.id = std::ssize(pets_) + 1;
    added.name = pet.name;
    added.status = pet.status;
    if (added.name == "Nobody") {
      petstore::Error error;
      error.message = "no such pet";
      co_return petstore::AddPetReply::status_other(409, error);
    }
    pets_[added.id] = added;
    co_return petstore::AddPetReply::status_201(added).with("Location", "/pets/1");
  }
  katana::Task<petstore::GetPetReply> get_pet(katana::Request, std::int64_t id) override {
    const auto found = pets_.find(id);
    petstore::Error error;
    error.message = "none";
    if (found == pets_.end()) co_return petstore::GetPetReply::status_404(error);
    co_return petstore::GetPetReply::status_200(found->second);
  }
  katana::Task<petstore::DeleteReply> delete_(katana::Request, std::int64_t id) override {
    pets_.erase(id);
    co_return petstore::DeleteReply::status_204();
  }

 private:
  std::map<std::int64_t, petstore::Pet> pets_;
};

class PetstoreTest : public testing::Test {
 protected:
  static katana::Result<katana::Service> service() {
    katana::Router router;
    petstore::add_routes(router, std::make_shared<Pets>());
    return std::move(router).build();
  }
  katana::testing::TestServer server_{service()};
};

TEST_F(PetstoreTest, a_pet_is_added_found_listed_and_deleted) {
  const auto added = server_.post("/pets", R"({"name":"Rex","status":"on-hold"})");
  EXPECT_EQ(added.status(), 201u) << added.content();
  EXPECT_EQ(added.header("Location"), "/pets/1");
  EXPECT_EQ(added.content(), R"({"name":"Rex","status":"on-hold","id":1})");
  EXPECT_EQ(server_.get("/pets/1").content(), added.content());
  EXPECT_EQ(server_.get("/pets?status=sold").content(), "[]");
  EXPECT_NE(server_.get("/pets?status=on-hold&limit=1").content(), "[]");
  EXPECT_EQ(server_.delete_("/pets/1").status(), 204u);
  EXPECT_EQ(server_.get("/pets/1").status(), 404u);
}

TEST_F(PetstoreTest, what_the_description_refuses_does_not_reach_the_handler) {
  for (const char* const text :
       {R"({})", R"({"name":""})", R"({"name":"R2D2"})", R"({"name":"Rex","status":"lost"})",
        R"({"name":"Rex","tags":["a","b","c","d"]})", R"({"name":"Rex","tags":["12345678901"]})",
        R"({"name":"Rex","unknown":1})"}) {
    EXPECT_EQ(server_.post("/pets", text).status(), 422u) << text;
  }
  EXPECT_EQ(server_.get("/pets?limit=0").status(), 400u);
  EXPECT_EQ(server_.get("/pets?status=lost").status(), 400u);
  EXPECT_EQ(server_.get("/pets/x").status(), 400u);
  EXPECT_EQ(server_.get("/pets", {{"X-Trace", "123456789"}}).status(), 400u);
  EXPECT_EQ(server_.post("/pets", R"({"name":"Nobody"})").status(), 409u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
