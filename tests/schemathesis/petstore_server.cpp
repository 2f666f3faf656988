// petstore_server: the service that `katana openapi generate` makes of petstore.yaml, with pets in
// memory, for tests/schemathesis/run.
//
//   petstore_server PORT
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "api.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/http_server.hpp"

namespace {

using namespace katana;

// One reactor asks.
class Pets final : public petstore::PetsApi {
 public:
  Task<petstore::ListPetsReply> list_pets(Request, petstore::ListPetsQuery query,
                                          petstore::ListPetsHeader) override {
    std::vector<petstore::Pet> found;
    for (const auto& [id, pet] : pets_) {
      if (std::ssize(found) < query.limit && fits(pet, query)) found.push_back(pet);
    }
    co_return petstore::ListPetsReply::status_200(found);
  }
  Task<petstore::AddPetReply> add_pet(Request, petstore::NewPet given) override {
    const petstore::Pet& added = pets_[next_] = pet_of(next_, given);
    ++next_;
    co_return petstore::AddPetReply::status_201(added).with("Location",
                                                            "/pets/" + std::to_string(added.id));
  }
  Task<petstore::GetPetReply> get_pet(Request, std::int64_t id) override {
    const auto found = pets_.find(id);
    if (found == pets_.end()) co_return petstore::GetPetReply::undescribed(none(id));
    co_return petstore::GetPetReply::status_200(found->second);
  }
  Task<petstore::ReplacePetReply> replace_pet(Request, std::int64_t id,
                                              petstore::NewPet given) override {
    const auto found = pets_.find(id);
    if (found == pets_.end()) co_return petstore::ReplacePetReply::undescribed(none(id));
    found->second = pet_of(id, given);
    co_return petstore::ReplacePetReply::status_200(found->second);
  }
  Task<petstore::DeletePetReply> delete_pet(Request, std::int64_t id) override {
    if (pets_.erase(id) == 0) co_return petstore::DeletePetReply::undescribed(none(id));
    co_return petstore::DeletePetReply::status_204();
  }

 private:
  // application/problem+json, as described; generated code sends application/json.
  static Reply none(std::int64_t id) {
    return problem(404, "There is no pet " + std::to_string(id) + ".");
  }
  static petstore::Pet pet_of(std::int64_t id, const petstore::NewPet& given) {
    petstore::Pet made;
    made.id = id;
    made.name = given.name;
    made.status = given.status;
    made.tags = given.tags;
    made.nick = given.nick;
    return made;
  }
  static bool fits(const petstore::Pet& pet, const petstore::ListPetsQuery& query) {
    if (query.status.empty()) return true;
    for (const petstore::Status each : query.status) {
      if (pet.status && *pet.status == each) return true;
    }
    return false;
  }

  std::map<std::int64_t, petstore::Pet> pets_;
  std::int64_t next_ = 1;
};

}  // namespace

int main(int count, char** arguments) {
  Router router;
  petstore::add_routes(router, std::make_shared<Pets>());
  const auto service = std::move(router).build();
  if (!service) return std::puts(service.error().describe().c_str()), 1;
  const int port = count > 1 ? std::atoi(arguments[1]) : 0;
  server::HttpServer server({.port = static_cast<std::uint16_t>(port), .reactors = 1}, *service);
  if (const auto started = server.start(); !started) {
    return std::puts(started.error().describe().c_str()), 1;
  }
  std::printf("petstore_server: listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  (void)server.run();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
