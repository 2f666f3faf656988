// The test of a service in the process of the test, without a socket.
#include <cstdio>

#include "katana/http.hpp"
#include "katana/testing.hpp"

using namespace katana;

int main() {
  Router router;
  router.get("/hello/{name}",
             [](Path<std::string> name) { return Reply::text(format_text("Hello, {}!", *name)); });
  testing::TestServer server(std::move(router).build());
  const testing::TestReply reply = server.get("/hello/test");
  std::printf("%s\n", reply.describe().c_str());
  return reply.status() == 200 && reply.content() == "Hello, test!" ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
