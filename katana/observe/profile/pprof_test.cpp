#include "katana/observe/profile/pprof.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/base/text/protobuf.hpp"
#include "katana/observe/profile/profile_fixture_test.hpp"

namespace katana::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The fields of a message with a number, as texts.
std::vector<std::string> fields_of(Bytes message, std::uint32_t number) {
  std::vector<std::string> fields;
  ProtobufReader in(message);
  while (in.next()) {
    if (in.number() == number) fields.emplace_back(in.bytes());
  }
  EXPECT_TRUE(in.is_good());
  return fields;
}

std::uint64_t number_in(Bytes message, std::uint32_t number) {
  ProtobufReader in(message);
  while (in.next()) {
    if (in.number() == number) return in.value();
  }
  return 0;
}

TEST(Pprof, has_the_fields_and_units_of_the_format) {
  const std::string message = to_pprof(small_profile());
  const std::vector<std::string> texts = fields_of(message, 6);
  EXPECT_EQ(texts.at(0), "");
  const auto text = [&](const std::string& in, std::uint32_t field) {
    return texts.at(number_in(in, field));
  };
  const auto types = fields_of(message, 1);
  ASSERT_EQ(types.size(), 2u);
  EXPECT_EQ(text(types[0], 1) + "/" + text(types[0], 2), "samples/count");
  EXPECT_EQ(text(types[1], 1) + "/" + text(types[1], 2), "cpu/nanoseconds");
  const auto mappings = fields_of(message, 3);
  ASSERT_EQ(mappings.size(), 2u);
  EXPECT_EQ(number_in(mappings[0], 1), 1u);
  EXPECT_EQ(number_in(mappings[0], 2), 0x5000u);
  EXPECT_EQ(number_in(mappings[0], 3), 0x6000u);
  EXPECT_EQ(number_in(mappings[0], 4), 0x1000u);
  EXPECT_EQ(text(mappings[0], 5), "/usr/bin/notes");
  EXPECT_EQ(text(mappings[0], 6), "00ff12");
  EXPECT_EQ(number_in(mappings[0], 7), 1u);
  EXPECT_EQ(number_in(mappings[1], 7), 0u) << "pprof itself is to look the symbols up";
  const auto samples = fields_of(message, 2);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_THAT(fields_of(samples[0], 1), ElementsAre(std::string("\x01\x02")));
  EXPECT_THAT(fields_of(samples[0], 2), ElementsAre(std::string("\x03\x80\x87\xa7\x0e")));
  const auto labels = fields_of(samples[0], 3);
  ASSERT_EQ(labels.size(), 4u);
  EXPECT_EQ(text(labels[1], 1) + "=" + text(labels[1], 2), "route=GET /notes");
  EXPECT_EQ(text(fields_of(message, 11).at(0), 2), "nanoseconds");
  EXPECT_EQ(number_in(message, 9), 1'796'000'000'000'000'000u);
  EXPECT_EQ(number_in(message, 10), 2'000'000'000u);
  EXPECT_EQ(number_in(message, 12), 10'000'000u);
  EXPECT_EQ(texts.at(number_in(message, 14)), "cpu");
}

// An empty packed field has no number; before, it had the number 0.
TEST(Pprof, with_an_empty_list_of_places_is_read) {
  Profile profile = small_profile();
  profile.found[0].places.clear();
  std::string message = to_pprof(profile);
  ProtobufWriter out(message);
  const std::size_t sample = out.begin(2);
  out.string(1, "", true);
  out.string(2, std::string("\x01\x02"));
  out.end(sample);
  const auto read = from_pprof(message);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_TRUE(read->found.back().places.empty());
  EXPECT_EQ(read->found.back().count, 1);
}

TEST(Pprof, that_is_written_is_read_as_it_was) {
  EXPECT_EQ(from_pprof(to_pprof(small_profile())).value(), small_profile());
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const Profile profile = random_profile(seed);
    const auto read = from_pprof(to_pprof(profile));
    ASSERT_TRUE(read) << seed << ": " << read.error().describe();
    ASSERT_EQ(*read, profile) << seed;
  }
}

TEST(Pprof, that_is_cut_or_changed_is_refused_or_has_only_indices_that_exist) {
  const std::string message = to_pprof(small_profile());
  const auto check = [](Bytes bytes) {
    const auto read = from_pprof(bytes);
    if (!read) return;
    for (const Place& place : read->places) {
      EXPECT_TRUE(place.module == no_module || place.module < read->modules.size());
    }
    for (const Found& found : read->found) {
      for (const std::size_t place : found.places) EXPECT_LT(place, read->places.size());
    }
    EXPECT_GE(read->total_ns(), 0);
  };
  for (std::size_t size = 0; size < message.size(); ++size) check(Bytes(message).substr(0, size));
  for (std::size_t at = 0; at < message.size(); ++at) {
    for (const char change : {'\x01', '\x08', '\x7f', '\x80'}) {
      std::string changed = message;
      changed[at] = static_cast<char>(changed[at] ^ change);
      check(changed);
    }
  }
}

TEST(Pprof, with_sums_beyond_64_bits_is_refused) {
  Profile profile = small_profile();
  profile.found[0].ns = INT64_MAX;
  const auto read = from_pprof(to_pprof(profile));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().describe(), HasSubstr("bad sample"));
}

TEST(Pprof, without_a_table_of_texts_is_refused) {
  EXPECT_FALSE(from_pprof(""));
  EXPECT_FALSE(from_pprof("hello, I am no profile"));
}

TEST(Gzip, that_is_written_is_read_within_its_limit) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20}) {
    std::string bytes(size, 'a');
    for (std::size_t at = 0; at < size; at += 7) bytes[at] = static_cast<char>(at * 31);
    const std::string packed = compress(bytes);
    EXPECT_EQ(decompress(packed).value(), bytes);
    EXPECT_EQ(static_cast<unsigned char>(packed[0]), 0x1f);
    EXPECT_EQ(static_cast<unsigned char>(packed[1]), 0x8b);
    EXPECT_FALSE(decompress(Bytes(packed).substr(0, packed.size() - 1)));
    if (size > 1) EXPECT_FALSE(decompress(packed, size - 1));
  }
  EXPECT_FALSE(decompress("no gzip"));
}

}  // namespace
}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
