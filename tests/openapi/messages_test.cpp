// A service and client that were generated from messages.yaml: a body that is JSON or a form, and
// choices of constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api.hpp"
#include "katana/testing/test_server.hpp"

namespace {

using AsForm = katana::FormOf<messages::CreateMessageForm, "multipart/form-data",
                              "application/x-www-form-urlencoded">;

class Rooms final : public messages::RoomsApi {
 public:
  katana::Task<messages::CreateMessageReply> create_message(
      katana::Request, std::string room, messages::CreateMessageQuery query,
      messages::CreateMessageBody content) override {
    messages::Message made;
    made.text = content.type() + " " + room;
    if (const auto* const json = content.get_if<0>()) made.text += " " + json->value.text;
    if (const AsForm* const form = content.get_if<AsForm>()) {
      made.text += " " + form->value.text;
      if (form->value.file) made.text += " " + form->value.file->filename;
    }
    if (query.order) made.text += " ordered";
    co_return messages::CreateMessageReply::status_201(made);
  }
};

katana::Result<katana::Service> service() {
  katana::Router router;
  messages::add_routes(router, std::make_shared<Rooms>());
  return std::move(router).build();
}

class MessagesTest : public testing::Test {
 protected:
  std::string post(const std::string& type, const std::string& content,
                   katana::Bytes target = "/rooms/a/messages") {
    const auto reply = server_.send("POST", target, content, {{"Content-Type", type}});
    return std::to_string(reply.status()) + " " + std::string(reply.content());
  }
  // The reply of the service to a body that a client sends.
  std::string send(const messages::CreateMessageBody& body) {
    const katana::client::ApiSettings settings{.base_url = "http://a.test"};
    katana::client::OperationCall call(settings, "POST", "/rooms/a/messages", "");
    call.media(body);
    auto request = std::move(call).take();
    if (!request) return request.error().describe();
    std::string type;
    for (const auto& field : request->fields()) {
      if (field.name == "Content-Type") type = field.value;
    }
    return post(type, std::string(request->content()));
  }
  katana::testing::TestServer server_{service()};
};

TEST_F(MessagesTest, a_body_is_json_or_either_kind_of_form) {
  EXPECT_EQ(post("application/json", R"({"text":"x"})"), R"(201 {"text":"application/json a x"})");
  EXPECT_EQ(post("application/x-www-form-urlencoded", "text=x+y"),
            R"(201 {"text":"application/x-www-form-urlencoded a x y"})");
  EXPECT_THAT(post("application/x-www-form-urlencoded", "other=1"), testing::StartsWith("400"));
  EXPECT_THAT(post("text/plain", "x"), testing::StartsWith("415"));
}

TEST_F(MessagesTest, a_client_sends_json_and_forms_with_and_without_a_file) {
  messages::Message message;
  message.text = "x";
  EXPECT_EQ(send(katana::JsonOf<messages::Message, "application/json">{message}),
            R"(201 {"text":"application/json a x"})");
  AsForm form;
  form.value.text = "y";
  EXPECT_EQ(send(form), R"(201 {"text":"multipart/form-data a y"})");
  form.type = "application/x-www-form-urlencoded";
  EXPECT_EQ(send(form), R"(201 {"text":"application/x-www-form-urlencoded a y"})");
  form.value.file = katana::FormFile{"f.txt", "text/plain", "z"};
  EXPECT_THAT(send(form), testing::HasSubstr("'file' is a file: send the form with the `type` "
                                             "multipart/form-data"));
  form.type = "multipart/form-data";
  EXPECT_EQ(send(form), R"(201 {"text":"multipart/form-data a y f.txt"})");
}

TEST_F(MessagesTest, a_query_takes_the_constants_of_a_choice_alone) {
  const std::string target = "/rooms/a/messages?order=";
  EXPECT_EQ(post("application/json", R"({"text":"x"})", target + "up"),
            R"(201 {"text":"application/json a x ordered"})");
  EXPECT_THAT(post("application/json", R"({"text":"x"})", target + "sideways"),
              testing::StartsWith("400"));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
