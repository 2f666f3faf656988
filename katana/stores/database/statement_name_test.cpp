#include "katana/stores/database/statement_name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace katana::database {
namespace {

TEST(StatementName, is_the_verb_and_the_first_table) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"SELECT id, name FROM users WHERE id = $1", "SELECT users"},
      {"select 1", "SELECT"},
      {"SELECT count(*) FROM app.users AS u JOIN b ON true", "SELECT app.users"},
      {"SELECT extract(year FROM born), (SELECT 1 FROM b) FROM \"My Users\"",
       "SELECT \"My Users\""},
      {"SELECT 'FROM a', \"FROM b\" /* FROM c */ -- FROM d\n FROM e", "SELECT e"},
      {"SELECT i FROM (SELECT 1 FROM a) AS b", "SELECT"},
      {"INSERT INTO users (id) SELECT id FROM old", "INSERT users"},
      {"insert or replace into users values ($1)", "INSERT users"},
      {"UPDATE ONLY users SET a = 1 FROM b", "UPDATE users"},
      {"UPDATE OR IGNORE users SET a = 1", "UPDATE users"},
      {"DELETE FROM users USING b", "DELETE users"},
      {"WITH a AS (SELECT 1 FROM b) UPDATE c SET d = 1", "UPDATE c"},
      {"WITH RECURSIVE n(i) AS (SELECT 1) SELECT i FROM n", "SELECT n"},
      {"COPY users (id) FROM STDIN", "COPY users"},
      {"COPY (SELECT 1 FROM a) TO STDOUT", "COPY"},
      {"CREATE TABLE users (id INT)", "CREATE"},
      {"SELECT 1 FROM tabelle_ä", "SELECT tabelle_ä"},
      {"SELECT 1 FROM a₀2", "SELECT a₀2"},  // ₀ has a byte 0x80
      {"SELECT 1) FROM b", "SELECT b"},
      {"WITH a AS (SELECT 1 FROM b)", "other"},
      {"(((", "other"},
      {"'", "other"},
      {"\"", "\""},
      {"SELECT 1 FROM \"", "SELECT \""}};
  for (const auto& [text, name] : cases) EXPECT_EQ(statement_name(text), name) << text;
}

TEST(StatementName, is_what_a_comment_before_the_statement_says) {
  EXPECT_EQ(statement_name("-- name: find_user\nSELECT 1 FROM a"), "find_user");
  EXPECT_EQ(statement_name("  -- name: FindUser :one\nSELECT 1 FROM a"), "FindUser");
  EXPECT_EQ(statement_name("/*name:a.b-c*/ SELECT 1 FROM a"), "a.b-c");
  EXPECT_EQ(statement_name("\r\n\t-- name: find2\r\nSELECT 1 FROM a"), "find2");
  EXPECT_EQ(statement_name("/* of ours */ -- name: second\nSELECT 1"), "second");
  EXPECT_EQ(statement_name("/* name: */ SELECT 1 FROM a"), "SELECT a");
  EXPECT_EQ(statement_name("SELECT 1 /* name: late */ FROM a"), "SELECT a");
  EXPECT_EQ(statement_name("/* open"), "other");
  EXPECT_EQ(statement_name("--"), "other");
}

TEST(StatementName, is_cut_between_two_characters) {
  const std::string long_name = statement_name("SELECT 1 FROM " + std::string(100, 'a'));
  EXPECT_EQ(long_name, "SELECT " + std::string(57, 'a'));
  std::string accents;
  for (int count = 0; count < 50; ++count) accents += "é";
  EXPECT_EQ(statement_name("SELECT 1 FROM " + accents).size(), 63u);  // 7 and 28 times 2
}

TEST(StatementNames, statements_of_one_name_have_one_number_and_keep_it) {
  StatementNames names;
  const StatementName& first = names.find(Sql("SELECT a FROM users"));
  const StatementName& second = names.find(Sql("SELECT b FROM users"));
  const StatementName& third = names.find(Sql("SELECT b FROM notes"));
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(&first, &names.find(Sql("SELECT a FROM users")));
  EXPECT_NE(first.number, third.number);
  EXPECT_EQ(names.find(Sql("/* name: COMMIT */ SELECT 1")).number,
            names.find(Order::commit).number);
  EXPECT_EQ(names.find(Order::read).number, names.other().number);
}

TEST(StatementNames, an_order_without_a_statement_has_the_name_of_its_command) {
  const StatementNames names;
  for (const auto& [order, text] :
       {std::pair(Order::begin, "BEGIN"), std::pair(Order::commit, "COMMIT"),
        std::pair(Order::rollback, "ROLLBACK"), std::pair(Order::savepoint, "SAVEPOINT"),
        std::pair(Order::release, "RELEASE"), std::pair(Order::undo, "ROLLBACK TO"),
        std::pair(Order::copy, "COPY"), std::pair(Order::copy_end, "COPY"),
        std::pair(Order::open, "other")}) {
    EXPECT_EQ(names.find(order).text, text);
  }
}

template <std::size_t number>
struct Numbered {
  static constexpr char text[] = {'/',
                                  '*',
                                  ' ',
                                  'n',
                                  'a',
                                  'm',
                                  'e',
                                  ':',
                                  ' ',
                                  static_cast<char>('a' + number / 676),
                                  static_cast<char>('a' + number / 26 % 26),
                                  static_cast<char>('a' + number % 26),
                                  '*',
                                  '/',
                                  ' ',
                                  'S',
                                  'E',
                                  'L',
                                  'E',
                                  'C',
                                  'T',
                                  ' ',
                                  '1',
                                  '\0'};
  static constexpr Sql sql{text};
};
template <std::size_t... number>
std::vector<Sql> numbered(std::index_sequence<number...>) {
  return {Numbered<number>::sql...};
}

TEST(StatementNames, beyond_1024_texts_there_is_other_whoever_asks_at_once) {
  const std::vector<Sql> texts = numbered(std::make_index_sequence<1030>());
  StatementNames names;
  std::vector<std::vector<std::uint32_t>> seen(4);
  std::vector<std::thread> threads;
  for (auto& each : seen) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        each.clear();
        for (const Sql& sql : texts) each.push_back(names.find(sql).number);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  std::size_t others = 0;
  for (std::size_t index = 0; index < texts.size(); ++index) {
    for (const auto& each : seen) EXPECT_EQ(each[index], seen[0][index]);
    EXPECT_LT(seen[0][index], StatementNames::count_max);
    others += seen[0][index] == names.other().number ? 1 : 0;
  }
  EXPECT_EQ(others, texts.size() - StatementNames::texts_max);
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
