// An Application without a database: what test_linked_libraries.py looks at.
#include "katana/application.hpp"

using namespace katana;

int main(int count, char** arguments) {
  app::Application<> app({.name = "bare_application"});
  app.routes([](const registry::Services&, Router& router) {
    router.get("/", [] { return Reply::text("hello"); });
  });
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
