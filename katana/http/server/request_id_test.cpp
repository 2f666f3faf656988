#include "katana/http/server/request_id.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace katana::server {
namespace {

std::string next(RequestIds& ids) {
  std::array<char, request_id_bytes> id;
  ids.next(id);
  return {id.data(), id.size()};
}

TEST(RequestIds, differ_within_a_generator_and_between_two) {
  RequestIds one(1), other(2);
  std::set<std::string> seen;
  for (int count = 0; count < 1'000; ++count) {
    seen.insert(next(one));
    seen.insert(next(other));
  }
  EXPECT_EQ(seen.size(), 2'000u);
  for (const std::string& id : seen) {
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_TRUE(is_request_id(id));
  }
}

TEST(RequestIds, the_same_seed_gives_the_same_ids) {
  RequestIds one(7), other(7);
  EXPECT_EQ(next(one), next(other));
}

TEST(RequestIds, what_a_peer_gives_is_short_and_of_plain_characters) {
  EXPECT_TRUE(is_request_id("0f8fad5b-d9cb-469f-a165-70867728950e"));
  EXPECT_TRUE(is_request_id("1-67891233:abc_def/x+y=z@host.example,2"));
  EXPECT_TRUE(is_request_id(std::string(128, 'a')));
  EXPECT_FALSE(is_request_id(std::string(129, 'a')));
  EXPECT_FALSE(is_request_id(""));
  for (const char* wrong : {"a b", "a\"b", "a\nb", "a\x7f", "ä", "<x>", "a;b", "a'b"}) {
    EXPECT_FALSE(is_request_id(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
