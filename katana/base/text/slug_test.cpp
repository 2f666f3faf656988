#include "katana/base/text/slug.hpp"

#include <gtest/gtest.h>

namespace katana {
namespace {

TEST(Slug, has_letters_and_digits_with_dashes_between_them) {
  EXPECT_EQ(slug_of("C++ & Rust: a talk (2026)"), "c-rust-a-talk-2026");
  EXPECT_EQ(slug_of("--a/b?c#d--"), "a-b-c-d");
  EXPECT_EQ(slug_of("Plain"), "plain");
}

TEST(Slug, keeps_letters_of_other_scripts) {
  EXPECT_EQ(slug_of("Ärger im Büro"), "Ärger-im-büro");
  EXPECT_EQ(slug_of("  日本 語 "), "日本-語");
}

TEST(Slug, of_no_letters_is_empty) {
  EXPECT_EQ(slug_of(""), "");
  EXPECT_EQ(slug_of(" -/? "), "");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
