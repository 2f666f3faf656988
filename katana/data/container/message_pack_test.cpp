// Both directions, against the bytes of the specification and against msgpack-cxx.
#define MSGPACK_NO_BOOST
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <msgpack.hpp>
#include <string>
#include <vector>

#include "katana/data/container/fault_test.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"
#include "katana/data/container/shapes_test.hpp"

namespace katana::container {
namespace {

using testing::HasSubstr;

template <class T>
std::string fault_of(Bytes octets, const ReadOptions& options = {}, T&& value = T()) {
  return fault_in(octets, [&](Bytes exact, Findings& findings) {
    return read_message_pack(exact, value, findings, options);
  });
}
template <class T>
T read_packed(Bytes octets) {
  T value{};
  EXPECT_EQ(fault_of(octets, {}, value), "");
  return value;
}

std::string hex(Bytes octets) {
  std::string text;
  for (const char c : octets) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

TEST(MessagePack, integers_have_their_shortest_form) {
  const std::vector<std::pair<std::int64_t, std::string>> cases = {
      {0, "00"},
      {127, "7f"},
      {128, "cc80"},
      {255, "ccff"},
      {256, "cd0100"},
      {65535, "cdffff"},
      {65536, "ce00010000"},
      {4294967295, "ceffffffff"},
      {4294967296, "cf0000000100000000"},
      {-1, "ff"},
      {-32, "e0"},
      {-33, "d0df"},
      {-128, "d080"},
      {-129, "d1ff7f"},
      {-32768, "d18000"},
      {-32769, "d2ffff7fff"},
      {INT32_MIN, "d280000000"},
      {INT64_MIN, "d38000000000000000"}};
  for (const auto& [number, octets] : cases) {
    EXPECT_EQ(hex(to_message_pack(number)), octets);
    EXPECT_EQ(read_packed<std::int64_t>(to_message_pack(number)), number);
    EXPECT_EQ(read_packed<Value>(to_message_pack(Value(number))), Value(number));
  }
  EXPECT_EQ(hex(to_message_pack(UINT64_MAX)), "cfffffffffffffffff");
  EXPECT_EQ(read_packed<std::uint64_t>(to_message_pack(UINT64_MAX)), UINT64_MAX);
}

TEST(MessagePack, each_form_of_an_integer_is_read) {
  for (const Bytes octets :
       {Bytes("\x05", 1), Bytes("\xcc\x05", 2), Bytes("\xcd\x00\x05", 3), Bytes("\xd0\x05", 2),
        Bytes("\xd2\x00\x00\x00\x05", 5), Bytes("\xd3\x00\x00\x00\x00\x00\x00\x00\x05", 9)}) {
    EXPECT_EQ(read_packed<std::uint8_t>(octets), 5);
    EXPECT_EQ(read_packed<double>(octets), 5.0);
  }
}

TEST(MessagePack, real_numbers_keep_every_bit) {
  EXPECT_EQ(hex(to_message_pack(1.5)), "cb3ff8000000000000");
  EXPECT_EQ(hex(to_message_pack(1.5f)), "ca3fc00000");
  for (const double number : {-0.0, 5e-324, std::numeric_limits<double>::infinity(),
                              std::bit_cast<double>(std::uint64_t{0x7ff8000000000123})}) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(read_packed<double>(to_message_pack(number))),
              std::bit_cast<std::uint64_t>(number));
  }
}

TEST(MessagePack, lengths_have_their_shortest_form) {
  const auto head = [](const auto& value, std::size_t bytes) {
    return hex(to_message_pack(value)).substr(0, 2 * bytes);
  };
  EXPECT_EQ(head(std::string(31, 'x'), 1), "bf");
  EXPECT_EQ(head(std::string(32, 'x'), 2), "d920");
  EXPECT_EQ(head(std::string(256, 'x'), 3), "da0100");
  EXPECT_EQ(head(std::string(65536, 'x'), 5), "db00010000");
  EXPECT_EQ(head(std::vector<int>(15), 1), "9f");
  EXPECT_EQ(head(std::vector<int>(16), 3), "dc0010");
  EXPECT_EQ(head(std::vector<int>(65536), 5), "dd00010000");
  EXPECT_EQ(head(Octets(2), 2), "c402");
  EXPECT_EQ(head(Octets(256), 3), "c50100");
  for (const std::size_t size : {0u, 31u, 32u, 255u, 256u, 5000u, 70000u}) {
    EXPECT_EQ(read_packed<std::string>(to_message_pack(std::string(size, 'x'))),
              std::string(size, 'x'));
    EXPECT_EQ(read_packed<std::vector<int>>(to_message_pack(std::vector<int>(size, -7))),
              std::vector<int>(size, -7));
  }
}

TEST(MessagePack, structs_read_back_equal) {
  EXPECT_EQ(read_packed<User>(to_message_pack(some_user())), some_user());
  EXPECT_EQ(read_packed<Order>(to_message_pack(some_order())), some_order());
  BlockPool pool(64, 256);
  Outbox outbox(pool);
  EXPECT_TRUE(write_message_pack(some_order(), outbox));
  EXPECT_EQ(text_of(outbox), to_message_pack(some_order()));
}

TEST(MessagePack, values_read_back_equal) {
  const Value value(Object{{"z", List{nullptr, true, false, -1, UINT64_MAX, -0.0, "x"}},
                           {"o", Octets{std::byte{1}}},
                           {"e", Object()}});
  EXPECT_EQ(read_packed<Value>(to_message_pack(value)), value);
}

struct Twin {
  std::uint64_t id;
  std::string name;
  std::string email;
  std::optional<int> age;
  bool active;
  MSGPACK_DEFINE_MAP(id, name, email)
};

TEST(MessagePack, msgpack_cxx_reads_what_is_written_and_the_other_way_round) {
  const std::string octets = to_message_pack(some_user());
  const auto handle = msgpack::unpack(octets.data(), octets.size());
  const auto twin = handle.get().as<Twin>();
  EXPECT_EQ(twin.id, 7u);
  EXPECT_EQ(twin.name, "Ada");
  EXPECT_EQ(twin.email, "ada@example.org");

  msgpack::sbuffer buffer;
  msgpack::packer<msgpack::sbuffer> packer(buffer);
  packer.pack_map(6);
  packer.pack("active");
  packer.pack(true);
  packer.pack("id");
  packer.pack(std::uint64_t{7});
  packer.pack("name");
  packer.pack("Ada");
  packer.pack("email");
  packer.pack("ada@example.org");
  packer.pack("age");
  packer.pack(36);
  packer.pack("more");
  packer.pack(std::vector<double>{1, 2});
  EXPECT_EQ(read_packed<User>(Bytes(buffer.data(), buffer.size())), some_user());
}

TEST(MessagePack, the_same_octets_come_from_msgpack_cxx) {
  msgpack::sbuffer buffer;
  msgpack::pack(buffer, std::map<std::string, std::vector<std::int64_t>>{
                            {"a", {0, -1, 127, 128, -32, -33, 1 << 20, INT64_MIN}}, {"b", {}}});
  const Value value(
      Object{{"a", List{0, -1, 127, 128, -32, -33, 1 << 20, INT64_MIN}}, {"b", List()}});
  EXPECT_EQ(hex(to_message_pack(value)), hex(Bytes(buffer.data(), buffer.size())));
}

TEST(MessagePack, what_does_not_fit_is_found_with_its_place) {
  const Value value(Object{{"id", -1}, {"name", ""}, {"email", 5}, {"age", 1.5}, {"active", "x"}});
  EXPECT_EQ(fault_of<User>(to_message_pack(value)),
            "/id: expected integer of 64 bits without a sign, got -1; "
            "/name: expected 1 to 80 characters, got 0; /email: expected string, got 5; "
            "/age: expected integer, got number; /active: expected boolean, got string");
}

TEST(MessagePack, octets_cut_anywhere_are_malformed) {
  const std::string octets = to_message_pack(some_order());
  for (std::size_t size = 0; size < octets.size(); ++size) {
    EXPECT_THAT(fault_of<Order>(Bytes(octets).substr(0, size)), HasSubstr("ends within")) << size;
  }
  EXPECT_THAT(fault_of<Order>(octets + "x"), HasSubstr("something follows"));
}

TEST(MessagePack, what_is_not_taken_is_said) {
  EXPECT_THAT(fault_of<Value>("\xc1"), HasSubstr("malformed MessagePack"));
  EXPECT_THAT(fault_of<Value>(Bytes("\xd4\x00\x00", 3)), HasSubstr("extension"));
  EXPECT_THAT(fault_of<std::string>(Bytes("\xd4\x00\x00", 3)), HasSubstr("extension"));
  EXPECT_THAT(fault_of<Value>("\x81\x01\x01"), HasSubstr("a key that is no string"));
  EXPECT_THAT(fault_of<std::string>("\xa1\xff"), HasSubstr("not UTF-8"));
  EXPECT_THAT(fault_of<User>("\x81\xa1\xff\x01"), HasSubstr("not UTF-8"));
  EXPECT_THAT(fault_of<Value>(std::string(65, '\x91') + "\x01"), HasSubstr("64 deep"));
}

TEST(MessagePack, a_count_that_promises_more_than_there_is_costs_nothing) {
  EXPECT_THAT(fault_of<std::vector<std::string>>("\xdd\xff\xff\xff\xff"), HasSubstr("ends within"));
  EXPECT_THAT(fault_of<Value>("\xdf\xff\xff\xff\xff"), HasSubstr("ends within"));
  EXPECT_THAT(fault_of<std::string>("\xdb\xff\xff\xff\xffx"), HasSubstr("ends within"));
}

}  // namespace
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
