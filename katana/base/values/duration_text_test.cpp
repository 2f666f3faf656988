#include "katana/base/values/duration_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <type_traits>

namespace katana {
namespace {

using namespace std::chrono_literals;

template <class T>
std::string duration_text(T duration) {
  return std::string(Bytes(TextForm<T>::write(duration)));
}
template <class T>
std::optional<T> parsed(Bytes text) {
  return TextForm<T>::parse(text);
}

TEST(DurationText, is_in_the_largest_unit_that_says_it_in_whole_numbers) {
  EXPECT_EQ(duration_text(1500ms), "1500ms");
  EXPECT_EQ(duration_text(30s), "30s");
  EXPECT_EQ(duration_text(90min), "90m");
  EXPECT_EQ(duration_text(120min), "2h");
  EXPECT_EQ(duration_text(std::chrono::hours(48)), "2d");
  EXPECT_EQ(duration_text(std::chrono::days(3)), "3d");
  EXPECT_EQ(duration_text(0h), "0s");
  EXPECT_EQ(duration_text(-5s), "-5s");
  EXPECT_EQ(duration_text(1ns), "1ns");
}

TEST(DurationText, is_read_in_every_unit_that_gives_a_whole_number_of_its_own) {
  EXPECT_EQ(parsed<std::chrono::milliseconds>("1.5s"), 1500ms);
  EXPECT_EQ(parsed<std::chrono::seconds>("0.5m"), 30s);
  EXPECT_EQ(parsed<std::chrono::hours>("120m"), 2h);
  EXPECT_EQ(parsed<std::chrono::minutes>("-2h"), -120min);
  EXPECT_EQ(parsed<std::chrono::seconds>("0"), 0s);
  EXPECT_EQ(parsed<std::chrono::seconds>("0ms"), 0s);
  EXPECT_EQ(parsed<std::chrono::nanoseconds>("1us"), 1000ns);
}

TEST(DurationText, anything_else_is_refused) {
  for (const Bytes text : {"",
                           "-",
                           "s",
                           "5",
                           "-0",
                           "+5s",
                           "5 s",
                           " 5s",
                           "5s ",
                           "5S",
                           "5sec",
                           "5.s",
                           ".5s",
                           "1e3s",
                           "--5s",
                           "1500ms",
                           "0.5s",
                           "PT5S",
                           "5s6",
                           "99999999999999999999s",
                           "9223372036854775808s",
                           "0.00000000000000000000001s"}) {
    EXPECT_EQ(parsed<std::chrono::seconds>(text), std::nullopt) << text;
  }
  using Narrow = std::chrono::duration<std::uint8_t>;
  EXPECT_EQ(parsed<Narrow>("255s"), Narrow(255));
  EXPECT_EQ(parsed<Narrow>("256s"), std::nullopt);
  EXPECT_EQ(parsed<Narrow>("-1s"), std::nullopt);
}

template <class T>
void every_one_reads_back(std::mt19937_64& random) {
  using Rep = typename T::rep;
  for (const Rep count :
       {std::numeric_limits<Rep>::min(), std::numeric_limits<Rep>::max(), Rep(1), Rep(0)}) {
    EXPECT_EQ(parsed<T>(duration_text(T(count))), T(count)) << duration_text(T(count));
  }
  for (int round = 0; round < 1000; ++round) {
    const T duration(static_cast<Rep>(random() >> random() % 64));
    EXPECT_EQ(parsed<T>(duration_text(duration)), duration) << duration_text(duration);
  }
}

TEST(DurationText, what_is_written_is_read_as_the_same) {
  std::mt19937_64 random(1);
  every_one_reads_back<std::chrono::nanoseconds>(random);
  every_one_reads_back<std::chrono::microseconds>(random);
  every_one_reads_back<std::chrono::milliseconds>(random);
  every_one_reads_back<std::chrono::seconds>(random);
  every_one_reads_back<std::chrono::minutes>(random);
  every_one_reads_back<std::chrono::hours>(random);
  every_one_reads_back<std::chrono::days>(random);
  every_one_reads_back<std::chrono::duration<std::uint64_t, std::micro>>(random);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
