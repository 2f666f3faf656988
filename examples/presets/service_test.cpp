#include <gtest/gtest.h>

#include "katana/testing.hpp"
#include "service.hpp"

using katana::testing::TestServer;

TEST(Hello, greets_by_name) {
  TestServer server(make_service());
  EXPECT_EQ(server.get("/hello/Ada").content(), "Hello, Ada!");
}

TEST(Hello, other_paths_are_not_found) {
  TestServer server(make_service());
  EXPECT_EQ(server.get("/goodbye").status(), 404u);
}

// SPDX-License-Identifier: Apache-2.0
