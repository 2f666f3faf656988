// Columns whose bytes are cut or changed at every place, for every form.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "katana/stores/database/composite_text.hpp"
#include "katana/stores/database/postgres/type_table.hpp"
#include "katana/stores/database/postgres/types.hpp"

namespace katana::database::postgres {
namespace {

using namespace std::string_literals;

constexpr std::uint32_t address_type = 16'400, shop_type = 16'401, postal_type = 16'402,
                        addresses_type = 16'403, mood_type = 16'404;

TypeTable types_of_a_schema() {
  TypeTable types;
  types.add(address_type, "address", "c", "0", R"([["street", 25], ["zip", 16402]])");
  types.add(shop_type, "shop", "c", "0", R"([["home",16400],["branches",16403],["mood",16404]])");
  types.add(postal_type, "postal", "d", "23", "");
  types.add(addresses_type, "_address", "a", "16400", "");
  types.add(mood_type, "mood", "e", "0", "");
  return types;
}

const std::string address_octets =
    "\0\0\0\2\0\0\0\x19\0\0\0\3a\"b\0\0\x40\x12\0\0\0\4\0\0\0\7"s;  // a"b, 7
const std::string addresses_octets = "\0\0\0\1\0\0\0\1\0\0\x40\x10\0\0\0\2\0\0\0\1\0\0\0\x1b"s +
                                     address_octets + "\xff\xff\xff\xff";  // and null
const std::string shop_octets = "\0\0\0\3\0\0\x40\x10\0\0\0\x1b"s + address_octets +
                                "\0\0\x40\x13\0\0\0\x37"s + addresses_octets +
                                "\0\0\x40\x14\0\0\0\4glad"s;

struct Sample {
  Form form;
  std::uint32_t type;
  std::string octets;
  std::string text;  // that it is
};

std::vector<Sample> samples() {
  return {{Form::numeric, 0, "\0\2\0\0\x40\0\0\2\0\x0c\x0b\xb8"s, "-12.30"},
          {Form::timestamptz, 0, "\0\0\0\0\0\0\0\1"s, "2000-01-01T00:00:00.000001Z"},
          {Form::date, 0, "\0\0\0\0"s, "2000-01-01"},
          {Form::interval, 0, "\0\0\0\0\0\x0f\x42\x40\0\0\0\1\0\0\0\0"s, "86401s"},
          {Form::uuid, 0, std::string(16, '\x11'), "11111111-1111-1111-1111-111111111111"},
          {Form::array, 0,
           "\0\0\0\2\0\0\0\1\0\0\0\x17\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0\1"
           "\0\0\0\4\0\0\0\1\0\0\0\4\0\0\0\2"s,
           "[[1,2]]"},
          {Form::array, 0, addresses_octets, R"([{"street":"a\"b","zip":7},null])"},
          {Form::int4range, 0, "\2\0\0\0\4\0\0\0\1\0\0\0\4\0\0\0\5"s, "[1,5)"},
          {Form::composite, address_type, address_octets, R"({"street":"a\"b","zip":7})"},
          {Form::composite, shop_type, shop_octets,
           R"({"home":{"street":"a\"b","zip":7},"branches":[{"street":"a\"b","zip":7},null],)"
           R"("mood":"glad"})"}};
}

// Arrays and composites, that is JSON, all of which is read.
bool is_whole(Bytes text) {
  const auto goes_on = [](const ArrayReader::Element& element) {
    const bool nested =
        element.kind == ArrayReader::Kind::array || element.kind == ArrayReader::Kind::object;
    return element.kind != ArrayReader::Kind::broken && (!nested || is_whole(element.text));
  };
  if (text.starts_with('[')) {
    ArrayReader reader(text);
    for (auto each = reader.next(); each.kind != ArrayReader::Kind::end; each = reader.next()) {
      if (!goes_on(each)) return false;
    }
    return true;
  }
  CompositeReader reader(text);
  for (auto each = reader.next(); each.value.kind != ArrayReader::Kind::end; each = reader.next()) {
    if (!goes_on(each.value)) return false;
  }
  return true;
}

TEST(PostgresDecode, every_form_is_read_and_no_part_of_it_is) {
  const TypeTable types = types_of_a_schema();
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.text);
    std::string room;
    const Value value = decode(types, sample.type, sample.form, sample.octets, room);
    ASSERT_EQ(value.type, Value::Type::text);
    EXPECT_EQ(value.octets, sample.text);
    for (std::size_t size = 0; size < sample.octets.size(); ++size) {
      // A piece of the heap with exactly this size: a read beyond it is noticed.
      const std::vector<char> cut(sample.octets.begin(),
                                  sample.octets.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(decode(types, sample.type, sample.form, Bytes(cut.data(), size), room).type,
                Value::Type::broken)
          << size;
    }
    const std::string longer = sample.octets + '\0';
    EXPECT_EQ(decode(types, sample.type, sample.form, longer, room).type, Value::Type::broken);
  }
}

TEST(PostgresDecode, octets_that_were_changed_are_a_value_of_the_form_or_broken) {
  const TypeTable types = types_of_a_schema();
  for (const Sample& sample : samples()) {
    for (std::size_t at = 0; at < sample.octets.size(); ++at) {
      for (const int bits : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
        std::vector<char> changed(sample.octets.begin(), sample.octets.end());
        changed[at] = static_cast<char>(changed[at] ^ bits);
        std::string room;
        const Value value =
            decode(types, sample.type, sample.form, Bytes(changed.data(), changed.size()), room);
        if (value.type == Value::Type::broken) continue;
        ASSERT_EQ(value.type, Value::Type::text) << sample.text << " at " << at << ": " << bits;
        const bool nested = sample.form == Form::array || sample.form == Form::composite;
        ASSERT_TRUE(!nested || is_whole(value.octets)) << value.octets;
      }
    }
  }
}

TEST(PostgresDecode, a_type_that_refers_to_itself_or_to_nothing_is_none) {
  TypeTable types;
  types.add(1'000'000, "d", "d", "1000000", "");
  types.add(1'000'001, "a", "a", "1000001", "");
  types.add(1'000'002, "c", "c", "0", R"([["c",1000002]])");
  types.add(1'000'003, "d", "d", "0", "");
  types.add(1'000'004, "c", "c", "0", "no fields");
  types.add(1'000'005, "c", "c", "0", R"([["a"],["b",-1]])");
  types.add(1'000'006, "", "", "99999999999999999999", "");
  types.add_nothing(1'000'007);
  for (std::uint32_t type = 1'000'000; type <= 1'000'007; ++type) {
    EXPECT_EQ(types.form_of(type), Form::unknown) << type;
    EXPECT_EQ(types.missing_of(type), 0u) << type;
    EXPECT_FALSE(types.problem_of(type).empty());
    std::string room;
    (void)types.base_of(type);
    EXPECT_EQ(decode(types, type, Form::composite, address_octets, room).type, Value::Type::broken);
  }
  EXPECT_EQ(types.missing_of(address_type), address_type);
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
