#include "katana/testing/test_call.hpp"

namespace katana::testing::detail {

TestReply run_call(Router router, const TestRequest& request, const CallOptions& options) {
  TestServer server(std::move(router).build(), options.test);
  return server.send(request.method(), request.target(), request.content_text(), request.fields());
}

TestReply failed_call(const Error& error) { return TestReply(error.describe()); }

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
