#include "katana/observe/profile/folded.hpp"

#include <gtest/gtest.h>

#include "katana/observe/profile/profile_fixture_test.hpp"

namespace katana::profile {
namespace {

TEST(Folded, has_a_line_for_each_stack_from_its_route_to_its_innermost_function) {
  EXPECT_EQ(to_folded(small_profile()),
            "(no route);0x33 2\n"
            "GET /notes;main;serve;parse 3\n"
            "GET /notes;main;serve;parse;libc.so.6+0x2018 1\n");
}

TEST(Folded, counts_a_stack_of_two_threads_or_requests_once) {
  Profile profile = small_profile();
  profile.found.push_back({{0, 1}, {"work/1", "GET /notes", "02J", ""}, 5, 50'000'000});
  EXPECT_NE(to_folded(profile).find("GET /notes;main;serve;parse 8\n"), std::string::npos);
}

TEST(Folded, has_a_line_for_what_has_no_room) {
  EXPECT_EQ(to_folded_within(small_profile(), 45),
            "(no route);0x33 2\n"
            "GET /notes;(left out) 1\n"
            "GET /notes;main;serve;parse 3\n");
}

TEST(Folded, has_no_name_that_makes_another_frame_or_line) {
  Profile profile = small_profile();
  profile.places[1].lines[0].function = "f(int;\nGET /x;y 9)";
  profile.found[0].labels.route = "GET /;a\n";
  EXPECT_NE(to_folded(profile).find("GET /:a?;f(int:?GET /x:y 9);serve;parse 3\n"),
            std::string::npos)
      << to_folded(profile);
}

}  // namespace
}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
