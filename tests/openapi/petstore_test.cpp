// A service that was generated from petstore.yaml answers as that says, and its client asks so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "api.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace {

using AsPet = katana::JsonOf<petstore::NewPet, "application/json", "application/merge-patch+json">;
using AsSteps = katana::JsonOf<std::vector<petstore::Step>, "application/json-patch+json">;
using AsOctets = katana::RawOf<"text/csv", "image/*">;
using Change = petstore::ChangePetBody;

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
  katana::Task<petstore::ChangePetReply> change_pet(katana::Request, std::int64_t,
                                                    petstore::ChangePetQuery query,
                                                    petstore::ChangePetHeader header,
                                                    petstore::ChangePetCookie cookie,
                                                    Change content) override {
    std::string text = content.type() + " ";
    if (const auto* const pet = content.get_if<AsPet>()) text += pet->value.name;
    if (const auto* const steps = content.get_if<AsSteps>()) text += steps->value.at(0).path;
    if (const auto* const raw = content.get_if<2>()) text += raw->value;
    if (query.only) text += " " + katana::container::to_json(**query.only);
    if (header.x_only) text += " " + katana::container::to_json(**header.x_only);
    if (cookie.only) text += " " + katana::container::to_json(**cookie.only);
    co_return petstore::ChangePetReply::status_200(katana::Text(text));
  }
  katana::Task<petstore::DeleteReply> delete_(katana::Request, std::int64_t id) override {
    pets_.erase(id);
    co_return petstore::DeleteReply::status_204();
  }

 private:
  std::map<std::int64_t, petstore::Pet> pets_;
};

std::string joined(const auto& list) {
  std::string text;
  for (const auto& each : list) {
    if (!text.empty()) text += '+';
    if constexpr (requires { text += each; } &&
                  !std::is_arithmetic_v<std::decay_t<decltype(each)>>) {
      text += each;
    } else {
      text += std::to_string(each);
    }
  }
  return text;
}

// Replies with the request as it understood it.
class Shelves final : public petstore::ShelvesApi {
 public:
  katana::Task<petstore::FindShelvesReply> find_shelves(
      katana::Request, std::vector<std::int64_t> ids, petstore::FindShelvesQuery query,
      petstore::FindShelvesHeader header, petstore::FindShelvesCookie cookie) override {
    const std::string text = joined(ids) + "/" + joined(query.sort) + "/" + joined(query.size) +
                             "/" +
                             (query.filter ? katana::container::to_json(*query.filter) : "-") +
                             "/" + joined(header.x_tags) + "/" + joined(cookie.seen);
    if (ids[0] == 418) {
      co_return petstore::FindShelvesReply::undescribed(
          katana::Reply(302).with("Location", "/elsewhere"));
    }
    co_return petstore::FindShelvesReply::status_200(katana::Text(text));
  }
  katana::Task<petstore::AddLabelReply> add_label(katana::Request, std::vector<std::int64_t>,
                                                  petstore::AddLabelForm form) override {
    co_return petstore::AddLabelReply::status_200(
        katana::Text(form.text + " x " + std::to_string(form.copies)));
  }
  katana::Task<petstore::AddPictureReply> add_picture(katana::Request, std::vector<std::int64_t>,
                                                      petstore::AddPictureForm form) override {
    co_return petstore::AddPictureReply::status_200(katana::Text(
        form.picture.filename + "=" + form.picture.content + "/" + form.note.value_or("-")));
  }
  katana::Task<petstore::FillReply> fill(katana::Request, std::vector<std::int64_t>,
                                         std::optional<petstore::Label> content) override {
    co_return petstore::FillReply::status_200(katana::Text(content ? content->text : "nothing"));
  }
};

class PetstoreTest : public testing::Test {
 protected:
  static katana::Result<katana::Service> service() {
    katana::Router router;
    petstore::add_routes(router, std::make_shared<Pets>());
    petstore::add_routes(router, std::make_shared<Shelves>());
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

TEST_F(PetstoreTest, parameters_of_other_styles_are_read) {
  const auto found = server_.get(
      "/shelves/;ids=3;ids=4?sort=a,b%2Cc&size=1%7C2%7c3&filter%5Bcolour%5D=red&filter[full]=true",
      {{"X-Tags", "x, y"}, {"Cookie", "seen=7,8"}});
  EXPECT_EQ(found.content(), R"(3+4/a+b,c/1+2+3/{"colour":"red","full":true}/x+y/7+8)") << found;
  for (const char* const target :
       {"/shelves/3", "/shelves/;ids=x", "/shelves/;ids=1?sort=a,b,c,d",
        "/shelves/;ids=1?size=1%7Cx", "/shelves/;ids=1?filter[full]=maybe"}) {
    EXPECT_EQ(server_.get(target).status(), 400u) << target;
  }
}

TEST_F(PetstoreTest, content_is_read_by_its_media_type_and_another_one_is_refused) {
  const auto change = [&](const char* type, const char* content) {
    return server_.send("PATCH", "/pets/1", content, {{"Content-Type", type}});
  };
  EXPECT_EQ(change("application/merge-patch+json", R"({"name":"Rex"})").content(),
            "application/merge-patch+json Rex");
  EXPECT_EQ(change("application/json-patch+json", R"([{"op":"add","path":"/a"}])").content(),
            "application/json-patch+json /a");
  EXPECT_EQ(change("image/png", "x").content(), "image/png x");
  EXPECT_EQ(change("application/json", R"({"name":""})").status(), 422u);
  const auto refused = change("text/plain", "x");
  EXPECT_EQ(refused.status(), 415u);
  EXPECT_THAT(std::string(refused.content()),
              testing::HasSubstr("this takes application/json, application/merge-patch+json, "
                                 "application/json-patch+json, text/csv, image/*."));
}

TEST_F(PetstoreTest, parameters_of_json_are_checked_by_their_schema) {
  const auto change = [&](const char* target) {
    return server_.send("PATCH", target, R"({"name":"Rex"})",
                        {{"Content-Type", "application/json"}});
  };
  EXPECT_EQ(change("/pets/1?only=%7B%22names%22:[%22a%22,null]%7D").content(),
            R"(application/json Rex {"names":["a",null]})");
  const auto refused = change("/pets/1?only=%7B%22names%22:[1,null,null]%7D");
  EXPECT_EQ(refused.status(), 400u);
  EXPECT_THAT(std::string(refused.content()), testing::HasSubstr("query parameter 'only': /names"));
}

// The generated client at the generated service, by way of both protocols' code.
class PetstoreClientTest : public PetstoreTest {
 protected:
  static katana::client::HttpClient make_http() {
    katana::client::HttpClientOptions options;
    options.tls.system_authorities = false;
    options.tokens_in_plaintext = true;
    options.seed = 1;
    return *katana::client::HttpClient::make(options);
  }
  static katana::client::ApiSettings settings() {
    katana::client::ApiSettings settings;
    settings.base_url = "http://pets.example/v1/";
    settings.fields = {{"Authorization", "Bearer secret"}};
    return settings;
  }
  // The result of the task, or its Error.
  template <class T>
  katana::Result<T> finish(katana::Task<katana::Result<T>> task) {
    server_.loop().within([&] { task.start(); });
    server_.loop().run_while([&] { return !task.done(); }, katana::seconds(60));
    return task.result();
  }

  void SetUp() override {
    ASSERT_TRUE(server_.start());
    server_.advance(katana::milliseconds(1));  // its reactor is that of this thread
  }

  katana::testing::FakeUpstream upstream_{
      server_, "http://pets.example", [](katana::Router& router) {
        katana::Group group = router.group("/v1");
        petstore::add_routes(group, std::make_shared<Pets>());
        petstore::add_routes(group, std::make_shared<Shelves>());
      }};
  petstore::PetsClient pets_{make_http(), settings()};
  petstore::ShelvesClient shelves_{make_http(), settings()};
};

TEST_F(PetstoreClientTest, a_pet_is_added_found_listed_and_deleted) {
  petstore::NewPet pet;
  pet.name = "Rex";
  pet.status = petstore::Status::on_hold;
  const auto added = finish(pets_.add_pet(pet));
  ASSERT_TRUE(added) << added.error().describe();
  ASSERT_NE(added->status_201(), nullptr);
  EXPECT_EQ(added->status_201()->id, 1);
  EXPECT_EQ(added->status_other(), nullptr);
  EXPECT_EQ(added->response().find("location"), "/pets/1");
  petstore::ListPetsQuery query;
  query.status = {petstore::Status::on_hold};
  petstore::ListPetsHeader header;
  header.x_trace = "é&=";
  const auto listed = finish(pets_.list_pets(query, header));
  ASSERT_TRUE(listed) << listed.error().describe();
  ASSERT_EQ(listed->status_200()->size(), 1u);
  EXPECT_EQ((*listed->status_200())[0].name, "Rex");
  EXPECT_EQ(upstream_.requests()[1].target, "/v1/pets?limit=20&status=on-hold");
  EXPECT_EQ(upstream_.requests()[1].field("authorization"), "Bearer secret");
  EXPECT_EQ(finish(pets_.delete_(1))->status(), 204u);
  const auto gone = finish(pets_.get_pet(1));
  ASSERT_TRUE(gone) << gone.error().describe();
  EXPECT_EQ(gone->status(), 404u);
  EXPECT_EQ(gone->status_200(), nullptr);
  EXPECT_EQ(gone->status_404()->message, "none");
}

TEST_F(PetstoreClientTest, replies_that_are_not_described_are_errors_that_name_them) {
  pets_ = petstore::PetsClient(make_http(), {.base_url = "http://pets.example/v2"});
  const auto unknown = finish(pets_.delete_(1));
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().describe(),
              testing::HasSubstr("DELETE /pets/{petId}: the description has no reply 404"));
  const auto other = finish(shelves_.find_shelves({418}, {}, {}, {}));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().describe(), testing::HasSubstr("has no reply 302"));
  petstore::NewPet pet;  // 422 of the service, as a problem document without a `message`
  const auto refused = finish(pets_.add_pet(pet));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(),
              testing::HasSubstr("POST /pets: the content of the reply 404: /message"));
  pets_ = petstore::PetsClient(make_http());
  const auto nowhere = finish(pets_.get_pet(1));
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().describe(), testing::HasSubstr("set ApiSettings::base_url"));
  pets_ = petstore::PetsClient(
      make_http(), {.base_url = "http://pets.example/v1", .timeout = katana::seconds(2)});
  upstream_.delay(katana::seconds(9));
  const auto late = finish(pets_.get_pet(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), katana::Code::deadline_exceeded);
}

TEST_F(PetstoreClientTest, parameters_and_forms_are_written_as_the_service_reads_them) {
  petstore::FindShelvesQuery query;
  query.sort = {"a,b", "c d"};
  query.size = {1, 2};
  query.filter.emplace();
  query.filter->colour = std::string("r&d");
  query.filter->full = true;
  petstore::FindShelvesHeader header;
  header.x_tags = {"x", "y"};
  petstore::FindShelvesCookie cookie;
  cookie.seen = {7, 8};
  const auto found = finish(shelves_.find_shelves({3, 4}, query, header, cookie));
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_EQ(found->status_200(), "3+4/a,b+c d/1+2/{\"colour\":\"r&d\",\"full\":true}/x+y/7+8");
  EXPECT_EQ(upstream_.requests()[0].target,
            "/v1/shelves/;ids=3;ids=4?sort=a%2Cb,c%20d&size=1%7C2&filter%5Bcolour%5D=r%26d"
            "&filter%5Bfull%5D=true");
  petstore::AddLabelForm label;
  label.text = "a&b =";
  label.copies = 3;
  EXPECT_EQ(finish(shelves_.add_label({1}, label))->status_200(), "a&b = x 3");
  petstore::AddPictureForm picture;
  picture.picture = {"a\"b.png", "image/png", "--katana-part\r\n"};
  const auto sent = finish(shelves_.add_picture({1}, picture));
  EXPECT_EQ(sent->status_200(), "a%22b.png=--katana-part\r\n/-");
  EXPECT_EQ(finish(shelves_.fill({1}, {}))->status_200(), "nothing");
  petstore::Label full;
  full.text = "full";
  EXPECT_EQ(finish(shelves_.fill({1}, full))->status_200(), "full");
}

TEST_F(PetstoreClientTest, content_is_sent_as_the_media_type_that_is_named) {
  petstore::NewPet pet;
  pet.name = "Rex";
  const auto change = [&](const Change& content) {
    const auto reply = finish(pets_.change_pet(1, {}, {}, {}, content));
    return reply ? std::string(*reply->status_200()) : reply.error().describe();
  };
  EXPECT_EQ(change(AsPet{pet}), "application/json Rex");
  EXPECT_EQ(change(AsPet{pet, "application/merge-patch+json"}), "application/merge-patch+json Rex");
  EXPECT_EQ(change(AsSteps{{{.op = {}, .path = "/a"}}}), "application/json-patch+json /a");
  EXPECT_EQ(change(AsOctets{"a,b"}), "text/csv a,b");
  EXPECT_EQ(change(AsOctets{"x", "image/png"}), "image/png x");
  EXPECT_THAT(change(AsOctets{"x", "image/*"}),
              testing::HasSubstr("PATCH /pets/{petId}: the content cannot be sent as 'image/*': "
                                 "name one of text/csv, image/* as its `type`"));
  EXPECT_THAT(change(AsOctets{"x", "text/csv;a\r\nX-A: b"}),
              testing::HasSubstr("the content cannot be sent as"));
  EXPECT_EQ(upstream_.requests().size(), 5u);
}

TEST_F(PetstoreClientTest, parameters_of_json_are_read_as_they_were_written) {
  petstore::Only only;
  only.names = {{"é\"", std::nullopt}};
  const auto reply = finish(pets_.change_pet(1, {.only = {{only}}}, {.x_only = {{only}}},
                                             {.only = {{only}}}, AsOctets{""}));
  ASSERT_TRUE(reply) << reply.error().describe();
  const std::string text = R"( {"names":["é\"",null]})";
  EXPECT_EQ(reply->status_200(), "text/csv " + text + text + text);
}

TEST_F(PetstoreClientTest, what_cannot_be_written_is_an_error_and_nothing_is_sent) {
  petstore::FindShelvesHeader header;
  header.x_tags = {"x", "y,z"};
  const auto comma = finish(shelves_.find_shelves({1}, {}, header, {}));
  ASSERT_FALSE(comma);
  EXPECT_THAT(comma.error().describe(), testing::HasSubstr("'X-Tags' has a comma"));
  EXPECT_TRUE(upstream_.requests().empty());
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
