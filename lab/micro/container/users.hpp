// The data of micro_container: a user, a hundred of them, and how each subject is called.
//
// Thread     one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "katana/base/values/described.hpp"

namespace bench {

struct User {
  std::uint64_t id = 0;
  std::string name;
  std::string email;
  int age = 0;
  bool active = false;
  std::string created_at;
  bool operator==(const User&) const = default;
};
KATANA_DESCRIBE(User, id, name, email, age, active, created_at)

// The same with rules, which the rivals do not check.
struct RuledUser {
  std::uint64_t id = 0;
  std::string name;
  std::string email;
  int age = 0;
  bool active = false;
  std::string created_at;
};
KATANA_DESCRIBE(RuledUser, id, (name, length(1, 80)), (email, format::email), (age, range(0, 150)),
                active, (created_at, format::date_time))

inline User make_user(std::uint64_t number) {
  User user{.id = 100'000 + number * 7919,
            .name = "Grace Hopper " + std::to_string(number),
            .email = "grace.hopper" + std::to_string(number) + "@navy.example.org",
            .age = static_cast<int>(20 + number % 60),
            .active = number % 2 == 0,
            .created_at = "2024-05-17T09:30:00Z"};
  // The floor reads up to 15 bytes behind a text, so they must be its own.
  for (std::string* text : {&user.name, &user.email, &user.created_at}) text->reserve(64);
  return user;
}

inline std::vector<User> make_users() {
  std::vector<User> users;
  for (std::uint64_t number = 0; number < 100; ++number) users.push_back(make_user(number));
  return users;
}

// ---- the floor: a writer for this struct alone, into memory that is large enough ----

char* floor_write(char* at, const User& user);
char* floor_write(char* at, const std::vector<User>& users);

// ---- rivals: each parses into a struct, and writes from one ----

struct JsonRival {
  std::string name;
  std::function<bool(const std::string& text, User&)> parse_one;
  std::function<bool(const std::string& text, std::vector<User>&)> parse_many;
  std::function<void(const User&, std::string&)> write_one;
  std::function<void(const std::vector<User>&, std::string&)> write_many;
};
std::vector<JsonRival> json_rivals();

// Calls of operator new by this thread.
std::uint64_t allocations();

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
