// A TestServer compares with the documents of its service without further options.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "katana/openapi/document/openapi.hpp"
#include "katana/testing/contract_check.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {
namespace {

struct Crate {
  std::string name;
  int count = 0;
};
KATANA_DESCRIBE(Crate, (name, required, rules::length(1, 20)), (count, rules::range(0, 10)))

Result<Service> service(int count, bool keeps = true) {
  Router router;
  openapi::Document document({.title = "Crates", .version = "1"});
  openapi::Routes crates = document.describe(router.group("/crates"));
  crates.get("/{id}", [count](Path<int>) { return Json(Crate{"anvil", count}); });
  crates.post("", [](Json<Crate> crate) { return Json(crate.value); });
  if (keeps) document.keep(router);
  return std::move(router).build();
}

TEST(ServiceDocuments, replies_are_compared_without_being_told) {
  TestServer server(service(3));
  EXPECT_EQ(server.get("/crates/7").status(), 200u);
  EXPECT_EQ(server.get("/crates/seven").status(), 400u);
  EXPECT_EQ(server.post("/crates", R"({"name":"a","count":1})").status(), 200u);
  EXPECT_EQ(server.post("/crates", R"({"name":"","count":1})").status(), 422u);
  TestServer wrong(service(11));
  EXPECT_TRUE(wrong.get("/crates/7").problem().contains("content /count: must be at most 10"))
      << wrong.get("/crates/7").problem();
}

TEST(ServiceDocuments, a_service_without_a_document_is_not_judged) {
  TestServer server(service(11, false));
  EXPECT_EQ(server.get("/crates/7").status(), 200u);
}

TEST(ServiceDocuments, a_test_may_switch_it_off_or_take_another_description) {
  TestServer off(service(11), {.check_contract = false});
  EXPECT_EQ(off.get("/crates/7").status(), 200u);
  const auto other =
      ContractCheck::of_document("openapi: 3.1.0\ninfo: {title: x, version: '1'}\npaths: {}\n");
  ASSERT_TRUE(other) << other.error().describe();
  TestServer server(service(11), {.contract = *other});
  EXPECT_EQ(server.get("/crates/7").status(), 200u);
}

TEST(ServiceDocuments, a_document_that_is_none_is_every_replys_problem) {
  Router router;
  router.get("/x", [](const RequestView&) { return Reply(200); });
  router.document([]() -> Result<ServiceDocument> { return ServiceDocument{.text = "{}"}; });
  TestServer server(std::move(router).build());
  EXPECT_TRUE(server.get("/x").problem().contains("no OpenAPI description"))
      << server.get("/x").problem();
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
