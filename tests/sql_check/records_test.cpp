#include "katana_tool/sql/records.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "katana_tool/files.hpp"
#include "sql_check_objects.hpp"

namespace katana::tool::sql {
namespace {

using testing::HasSubstr;

// The code of an object file by section, without its debug information.
std::map<std::string, std::string> code_of(const std::string& path) {
  const std::string content = read_file(path).value();
  const auto read = [&](auto& out, std::uint64_t at) {
    std::memcpy(&out, &content[at], sizeof out);
  };
  Elf64_Ehdr header{};
  read(header, 0);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (std::size_t index = 0; index < sections.size(); ++index) {
    read(sections[index], header.e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::map<std::string, std::string> code;
  for (const Elf64_Shdr& each : sections) {
    if ((each.sh_flags & SHF_EXECINSTR) == 0) continue;
    const std::string name = &content[sections[header.e_shstrndx].sh_offset + each.sh_name];
    code[name] += content.substr(each.sh_offset, each.sh_size);
  }
  return code;
}

TEST(Records, say_what_the_compiler_knows_of_a_call) {
  const auto record = parse_record(
      "query 58 2\nrow struct app::Note\ncolumn i64\tid\ncolumn ?form katana::Uuid\tkey\n"
      "parameter ?text\nparameter bool\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->call, "query");
  EXPECT_EQ(record->length, 58u);
  EXPECT_EQ(record->arguments, 2u);
  EXPECT_EQ(record->row, "struct");
  EXPECT_EQ(record->row_type, "app::Note");
  EXPECT_EQ(record->members,
            (std::vector<Member>{{{"i64", false}, "id"}, {{"form katana::Uuid", true}, "key"}}));
  EXPECT_EQ(record->parameters, (std::vector<CppType>{{"text", true}, {"bool", false}}));
  EXPECT_EQ(parse_record("any - 0\n")->length, std::nullopt);
}

TEST(Records, of_another_form_are_refused) {
  for (const char* text : {"", "query", "query 1", "query x 1\n", "query 1 1\nsomething\n"}) {
    EXPECT_FALSE(parse_record(text)) << text;
  }
}

TEST(Records, are_read_from_an_object) {
  const auto records = read_records(sqlite_checked);
  ASSERT_TRUE(records) << records.error().describe();
  Record wanted;
  wanted.call = "query_one";
  wanted.length = 34;
  wanted.arguments = 2;
  wanted.row = "value";
  wanted.members = {{{"i64", false}, ""}};
  wanted.parameters = {{"i32", false}, {"i32", false}};
  EXPECT_TRUE(std::ranges::any_of(*records, [&](const Record& each) {
    return each.says_as(wanted) && each.objects == std::vector<std::string>{sqlite_checked};
  }));
}

TEST(Records, are_not_in_an_object_that_is_not_checked) {
  const auto records = read_records(sqlite_plain);
  ASSERT_TRUE(records);
  EXPECT_TRUE(records->empty());
}

TEST(Records, change_no_instruction_of_the_program) {
  for (const auto& [checked, plain] :
       {std::pair(common_checked, common_plain), std::pair(postgres_checked, postgres_plain),
        std::pair(sqlite_checked, sqlite_plain)}) {
    const auto with = code_of(checked), without = code_of(plain);
    EXPECT_GT(with.size(), 3u);
    ASSERT_EQ(with.size(), without.size());
    for (const auto& [name, octets] : with) {
      ASSERT_TRUE(without.contains(name)) << name;
      EXPECT_TRUE(without.at(name) == octets) << name;
    }
  }
}

TEST(Records, of_a_damaged_object_are_refused_or_fewer_and_nothing_beyond_it_is_read) {
  const std::string content = read_file(sqlite_checked).value();
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string damaged =
        content.substr(0, round % 3 == 0 ? random() % content.size() : content.size());
    // The header and the tables of sections and symbols, which offsets are in.
    for (int flips = 0; flips < 20 && damaged.size() > 64; ++flips) {
      const std::size_t from_end = random() % std::min<std::size_t>(damaged.size(), 8192);
      const std::size_t at = flips % 4 == 0 ? random() % 64 : damaged.size() - 1 - from_end;
      if (at > 5) damaged[at] = static_cast<char>(random());
    }
    const auto records = records_in(std::string(damaged), "damaged.o");
    if (!records) {
      EXPECT_THAT(records.error().message(), HasSubstr("damaged.o"));
    }
  }
  EXPECT_THAT(records_in("no object", "a.o").error().message(), HasSubstr("-ffat-lto-objects"));
}

}  // namespace
}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
