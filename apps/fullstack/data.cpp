#include "fullstack/data.hpp"

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <tuple>

#include "katana/http.hpp"
#include "katana/openapi.hpp"

namespace katana::fullstack {
namespace {

constexpr RouteOptions document_content{.content_bytes_max = 64 * 1024};

}  // namespace

Data::Answer Data::add(std::string base, std::string document) {
  auto added = co_await database_.query_one<std::tuple<std::int64_t, std::chrono::sys_seconds>>(
      "INSERT INTO data (document) VALUES ($1) RETURNING id, created_at", document);
  if (!added) co_return std::unexpected(added.error());
  const auto [id, created_at] = **added;
  const StoredDocument stored{.id = id, .bytes = std::ssize(document), .created_at = created_at};
  Reply reply = json_reply(stored, 201);
  reply.add_field("Location", fmt::format("{}/data/{}", base, id));
  co_return reply;
}

Data::Answer Data::get(std::int64_t id) {
  auto document = co_await database_.query_one<Text>("SELECT document FROM data WHERE id = $1", id);
  if (!document) co_return std::unexpected(document.error());
  if (!*document) co_return problem(404, fmt::format("There is no document {}.", id));
  co_return Reply::json(std::move(**document));
}

void Data::add_to(openapi::Routes& routes, const std::string& base) {
  openapi::Operation add_words;
  add_words.id = "addData";
  add_words.summary = "Stores a JSON object";
  add_words.description = "A document of any shape. It is kept as it came, member for member.";
  add_words.tag = "data";
  add_words.problems = {406};
  add_words.replies = {openapi::json_reply<StoredDocument>(
      201, "The document is stored.", {{"Location", "Where the document is served."}})};
  add_words.replies[0].links = {
      {.name = "getData", .operation_id = "getData", .parameters = {{"id", "$response.body#/id"}}}};
  add_words.example = container::Object{{"sensor", "roof"}, {"celsius", 21.5}, {"ok", true}};
  routes.post(
      "/data",
      [this, base](Json<DataDocument>, Request request) {
        return add(base, std::string(request.content()));
      },
      add_words, document_content);

  openapi::Operation get_words;
  get_words.id = "getData";
  get_words.summary = "A document that was stored";
  get_words.description = "As it was stored.";
  get_words.tag = "data";
  get_words.parameters = {{.name = "id", .description = "As addData gave it."}};
  get_words.problems = {404, 406};
  get_words.replies = {openapi::json_reply<DataDocument>(200, "The document.")};
  routes.get("/data/{id}", [this](Path<std::int64_t> id) { return get(*id); }, get_words);
}

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
