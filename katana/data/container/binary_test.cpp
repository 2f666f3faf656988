#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/data/container/binary_read.hpp"
#include "katana/data/container/binary_write.hpp"
#include "katana/data/container/fault_test.hpp"
#include "katana/data/container/shapes_test.hpp"

namespace katana::container {
namespace {

using testing::HasSubstr;

template <class T>
std::string fault_of(Bytes octets, const ReadOptions& options = {}, T&& value = T()) {
  return fault_in(octets, [&](Bytes exact, Findings& findings) {
    return read_binary(exact, value, findings, options);
  });
}
template <class T>
T back(const T& value) {
  T read{};
  EXPECT_EQ(fault_of(to_binary(value), {}, read), "");
  return read;
}
// Behind the head.
template <class T>
std::string body(const T& value) {
  std::string text;
  for (const char c : to_binary(value).substr(8)) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}
// The head of a T, and bytes that follow it.
template <class T>
std::string made(Bytes octets) {
  return to_binary(T{}).substr(0, 8) + std::string(octets);
}

TEST(Binary, octets_are_those_of_the_document) {
  EXPECT_EQ(body(true), "01");
  EXPECT_EQ(body(std::int8_t{-1}), "ff");
  EXPECT_EQ(body(std::uint8_t{200}), "c8");
  EXPECT_EQ(body(0), "00");
  EXPECT_EQ(body(-1), "01");
  EXPECT_EQ(body(1), "02");
  EXPECT_EQ(body(64), "8001");
  EXPECT_EQ(body(300u), "ac02");
  EXPECT_EQ(body(UINT64_MAX), "ffffffffffffffffff01");
  EXPECT_EQ(body(1.5), "000000000000f83f");
  EXPECT_EQ(body(1.5f), "0000c03f");
  EXPECT_EQ(body(std::string("abc")), "03616263");
  EXPECT_EQ(body(Octets{std::byte{9}}), "0109");
  EXPECT_EQ(body(std::vector<int>{1, -1}), "020201");
  EXPECT_EQ(body(std::optional<int>()), "00");
  EXPECT_EQ(body(std::optional<int>(1)), "0102");
  EXPECT_EQ(body(State::sent), "01");
  EXPECT_EQ(body(std::map<std::string, bool>{{"a", true}}), "01016101");
  EXPECT_EQ(body(some_user()),
            "0703416461"
            "0f"
            "616461406578616d706c652e6f7267"
            "0148"
            "01");
  EXPECT_EQ(body(Value(List{nullptr, false, true, -1, 1u, 1.5, "a", Object{{"b", Octets{}}}})),
            "0808000102030104"
            "0105000000000000f83f"
            "060161"
            "090101620700");
  EXPECT_EQ(to_binary(true).substr(0, 8), "KTB1\xe5\x2d\x0c\xe7");
}

TEST(Binary, what_was_written_reads_back_equal) {
  EXPECT_EQ(back(some_user()), some_user());
  EXPECT_EQ(back(some_order()), some_order());
  EXPECT_EQ(back(INT64_MIN), INT64_MIN);
  EXPECT_EQ(back(std::vector<std::int16_t>{-32768, 32767}),
            (std::vector<std::int16_t>{-32768, 32767}));
  const Value value(Object{{"z", List{nullptr, true, -1, UINT64_MAX, -0.0, "x"}}, {"e", Object()}});
  EXPECT_EQ(back(value), value);
  const auto nan = std::bit_cast<double>(std::uint64_t{0x7ff8000000000123});
  EXPECT_EQ(std::bit_cast<std::uint64_t>(back(nan)), std::bit_cast<std::uint64_t>(nan));
  BlockPool pool(64, 256);
  Outbox outbox(pool);
  EXPECT_TRUE(write_binary(some_order(), outbox));
  EXPECT_EQ(text_of(outbox), to_binary(some_order()));
}

TEST(Binary, is_a_fraction_of_the_text) {
  EXPECT_LT(to_binary(some_user()).size() * 2, to_json(some_user()).size());
}

TEST(Binary, another_description_is_refused_before_anything_is_read) {
  EXPECT_THAT(fault_of<Line>(to_binary(some_user())), HasSubstr("another description"));
  EXPECT_THAT(fault_of<std::vector<int>>(to_binary(std::vector<std::string>())),
              HasSubstr("another description"));
  EXPECT_THAT(fault_of<Value>("{\"json\":1}"), HasSubstr("KTB1"));
  EXPECT_THAT(fault_of<Value>(""), HasSubstr("KTB1"));
}

TEST(Binary, octets_cut_anywhere_are_malformed) {
  const std::string octets = to_binary(some_order());
  for (std::size_t size = 0; size < octets.size(); ++size) {
    EXPECT_THAT(fault_of<Order>(Bytes(octets).substr(0, size)), HasSubstr("malformed binary"));
  }
  EXPECT_THAT(fault_of<Order>(octets + "x"), HasSubstr("something follows"));
}

TEST(Binary, a_value_has_one_form_only) {
  EXPECT_THAT(fault_of<bool>(made<bool>("\x02")), HasSubstr("flag"));
  EXPECT_THAT(fault_of<int>(made<int>(Bytes("\x80\x00", 2))), HasSubstr("longer than it need be"));
  EXPECT_THAT(fault_of<std::uint64_t>(made<std::uint64_t>(std::string(9, '\xff') + "\x02")),
              HasSubstr("more than 64 bits"));
  EXPECT_THAT(fault_of<std::uint64_t>(made<std::uint64_t>(std::string(11, '\xff'))),
              HasSubstr("more than 64 bits"));
  EXPECT_THAT(fault_of<std::int16_t>(made<std::int16_t>("\x80\x80\x04")), HasSubstr("too large"));
  EXPECT_THAT(fault_of<State>(made<State>("\x02")), HasSubstr("enumerator"));
  EXPECT_THAT(fault_of<Value>(made<Value>("\x0a")), HasSubstr("tag"));
  EXPECT_THAT(fault_of<std::string>(made<std::string>("\x01\xff")), HasSubstr("UTF-8"));
  using Numbers = std::map<std::string, std::uint8_t>;
  EXPECT_THAT(fault_of<Numbers>(made<Numbers>("\x02\x01"
                                              "a\x01\x01"
                                              "a\x01")),
              HasSubstr("twice"));
}

TEST(Binary, counts_and_depth_are_limited) {
  EXPECT_THAT(fault_of<std::vector<int>>(made<std::vector<int>>("\xff\xff\xff\x7f")),
              HasSubstr("ends within"));
  std::string nested;
  for (int depth = 0; depth < 65; ++depth) nested += "\x08\x01";
  EXPECT_THAT(fault_of<Value>(made<Value>(nested + std::string(1, '\0'))), HasSubstr("64 deep"));
}

TEST(Binary, rules_hold_for_what_was_read) {
  User user = some_user();
  user.email = "x";
  user.age = 200;
  EXPECT_EQ(fault_of<User>(to_binary(user)),
            "/email: expected an e-mail address, got 'x'; /age: expected 0 to 150, got 200");
  EXPECT_EQ(fault_of<std::vector<User>>(to_binary(std::vector<User>{user})),
            "/0/email: expected an e-mail address, got 'x'; /0/age: expected 0 to 150, got 200");
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
