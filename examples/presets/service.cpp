#include "service.hpp"

using namespace katana;

Result<Service> make_service() {
  Router router;
  router.get("/hello/{name}",
             [](Path<std::string> name) { return Reply::text(format_text("Hello, {}!", *name)); });
  return std::move(router).build();
}

// SPDX-License-Identifier: Apache-2.0
