#include "katana/wire/http/content_coding.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::http {
namespace {

// The accepted codings of these Accept-Encoding values, each in its own line.
AcceptedCodings accepted(std::initializer_list<Bytes> values) {
  std::string text(" Accept-Encoding ");
  for (const Bytes value : values) text += value;
  Head head;
  head.begin(text.data());
  std::size_t at = 17;
  for (const Bytes value : values) {
    head.add_field({1, 15},
                   {static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(value.size())});
    at += value.size();
  }
  return AcceptedCodings(head);
}

std::optional<Coding> best(Bytes value, std::initializer_list<Coding> available) {
  Codings codings;
  for (const Coding each : available) codings.insert(each);
  return accepted({value}).best_of(codings);
}

constexpr auto all = {Coding::brotli, Coding::zstd, Coding::gzip, Coding::identity};

TEST(ContentCoding, names_are_those_of_the_registry) {
  EXPECT_EQ(coding_name(Coding::brotli), "br");
  for (const Coding each : all) EXPECT_EQ(coding_from(coding_name(each)), each);
  EXPECT_EQ(coding_from("GZip"), Coding::gzip);
  EXPECT_EQ(coding_from("x-gzip"), Coding::gzip);
  EXPECT_EQ(coding_from("deflate"), std::nullopt);
}

TEST(ContentCoding, a_peer_that_says_nothing_gets_what_it_can_read) {
  EXPECT_EQ(accepted({}).quality(Coding::gzip), 0u);
  EXPECT_GT(accepted({}).quality(Coding::identity), 0u);
  EXPECT_EQ(best("", all), Coding::identity);
}

TEST(ContentCoding, the_one_that_the_peer_likes_best_is_chosen_and_ours_among_equals) {
  EXPECT_EQ(best("gzip, deflate, br, zstd", all), Coding::brotli);
  EXPECT_EQ(best("gzip;q=1.0, br;q=0.9", all), Coding::gzip);
  EXPECT_EQ(best("gzip;q=0.001, zstd ; q=0.002", all), Coding::zstd);
  EXPECT_EQ(best("br;q=0.5, gzip;q=0.5", {Coding::gzip, Coding::identity}), Coding::gzip);
  EXPECT_EQ(best("identity, gzip;q=0.5", all), Coding::identity);
  EXPECT_EQ(best("x-gzip", all), Coding::gzip);
  EXPECT_EQ(accepted({"gzip;q=0.1", "br;q=0.2"}).quality(Coding::brotli), 200u);
}

TEST(ContentCoding, the_star_stands_for_what_is_not_named) {
  EXPECT_EQ(best("*", all), Coding::brotli);
  EXPECT_EQ(best("br;q=0, *", all), Coding::zstd);
  EXPECT_EQ(best("gzip, *;q=0", all), Coding::gzip);
  EXPECT_EQ(accepted({"gzip, *;q=0"}).quality(Coding::identity), 0u);
}

TEST(ContentCoding, what_is_refused_is_never_chosen) {
  EXPECT_EQ(best("gzip;q=0", all), Coding::identity);
  EXPECT_EQ(best("gzip;q=0.000", {Coding::gzip}), std::nullopt);
  EXPECT_EQ(best("identity;q=0", {Coding::identity}), std::nullopt);
  EXPECT_EQ(best("*;q=0", all), std::nullopt);
  EXPECT_EQ(best("identity;q=0, gzip", all), Coding::gzip);
}

TEST(ContentCoding, a_malformed_weight_is_a_refusal) {
  for (const Bytes weight :
       {"q=", "q=2", "q=1.001", "q=0.0000", "q=x", "q=-1", "q=.5", "r=1", "q", "q=1;q=0", "q= 1"}) {
    const Bytes value = weight;
    EXPECT_EQ(accepted({"gzip;" + std::string(value)}).quality(Coding::gzip), 0u) << weight;
  }
  EXPECT_EQ(accepted({"gzip;Q=1.000"}).quality(Coding::gzip), 1000u);
  EXPECT_EQ(accepted({"gzip;q=0."}).quality(Coding::gzip), 0u);
  EXPECT_EQ(accepted({"gzip;q=1."}).quality(Coding::gzip), 1000u);
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
