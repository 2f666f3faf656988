// The usual code of users of JSON libraries: parse into the struct, write from the struct.
#define RAPIDJSON_SSE42
#include "users.hpp"

#if defined(HAVE_NLOHMANN_JSON_HPP)
#include <nlohmann/json.hpp>
#endif
#if defined(HAVE_RAPIDJSON_DOCUMENT_H)
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#endif

namespace bench {

#if defined(HAVE_NLOHMANN_JSON_HPP)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(User, id, name, email, age, active, created_at)

namespace {
JsonRival nlohmann_rival() {
  return {
      "nlohmann",
      [](const std::string& text, User& to) {
        nlohmann::json::parse(text).get_to(to);
        return true;
      },
      [](const std::string& text, std::vector<User>& to) {
        nlohmann::json::parse(text).get_to(to);
        return true;
      },
      [](const User& user, std::string& to) { to = nlohmann::json(user).dump(); },
      [](const std::vector<User>& users, std::string& to) { to = nlohmann::json(users).dump(); }};
}
}  // namespace
#endif

#if defined(HAVE_RAPIDJSON_DOCUMENT_H)
namespace {

bool get_user(const rapidjson::Value& value, User& to) {
  if (!value.IsObject()) return false;
  const auto text = [&value](const char* name, std::string& into) {
    const auto member = value.FindMember(name);
    if (member == value.MemberEnd() || !member->value.IsString()) return false;
    into.assign(member->value.GetString(), member->value.GetStringLength());
    return true;
  };
  const auto id = value.FindMember("id"), age = value.FindMember("age"),
             active = value.FindMember("active");
  const auto end = value.MemberEnd();
  if (id == end || !id->value.IsUint64() || age == end || !age->value.IsInt() || active == end ||
      !active->value.IsBool()) {
    return false;
  }
  to.id = id->value.GetUint64();
  to.age = age->value.GetInt();
  to.active = active->value.GetBool();
  return text("name", to.name) && text("email", to.email) && text("created_at", to.created_at);
}

template <class Writer>
void put_user(Writer& writer, const User& user) {
  const auto text = [&writer](const std::string& value) {
    writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  writer.StartObject();
  writer.Key("id", 2);
  writer.Uint64(user.id);
  writer.Key("name", 4);
  text(user.name);
  writer.Key("email", 5);
  text(user.email);
  writer.Key("age", 3);
  writer.Int(user.age);
  writer.Key("active", 6);
  writer.Bool(user.active);
  writer.Key("created_at", 10);
  text(user.created_at);
  writer.EndObject();
}

// The buffer is kept between documents, which is how it is quickest.
rapidjson::StringBuffer& kept_buffer() {
  static rapidjson::StringBuffer buffer;
  buffer.Clear();
  return buffer;
}

JsonRival rapidjson_rival() {
  return {"rapidjson",
          [](const std::string& text, User& to) {
            rapidjson::Document document;
            document.Parse(text.data(), text.size());
            return !document.HasParseError() && get_user(document, to);
          },
          [](const std::string& text, std::vector<User>& to) {
            rapidjson::Document document;
            document.Parse(text.data(), text.size());
            if (document.HasParseError() || !document.IsArray()) return false;
            to.clear();
            for (const auto& value : document.GetArray()) {
              if (!get_user(value, to.emplace_back())) return false;
            }
            return true;
          },
          [](const User& user, std::string& to) {
            rapidjson::StringBuffer& buffer = kept_buffer();
            rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
            put_user(writer, user);
            to.assign(buffer.GetString(), buffer.GetSize());
          },
          [](const std::vector<User>& users, std::string& to) {
            rapidjson::StringBuffer& buffer = kept_buffer();
            rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
            writer.StartArray();
            for (const User& user : users) put_user(writer, user);
            writer.EndArray();
            to.assign(buffer.GetString(), buffer.GetSize());
          }};
}

}  // namespace
#endif

std::vector<JsonRival> json_rivals() {
  std::vector<JsonRival> rivals;
#if defined(HAVE_RAPIDJSON_DOCUMENT_H)
  rivals.push_back(rapidjson_rival());
#endif
#if defined(HAVE_NLOHMANN_JSON_HPP)
  rivals.push_back(nlohmann_rival());
#endif
  return rivals;
}

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
