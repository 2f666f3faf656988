#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "katana/base/coroutine/when.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/identity/passwords/password_hasher.hpp"

namespace katana::passwords {
namespace {

// The smallest cost, which keeps the tests fast.
constexpr HashCost cheap{64, 1, 1};

std::unique_ptr<PasswordHasher> hasher_with(PasswordOptions options) {
  auto made = PasswordHasher::make(options);
  EXPECT_TRUE(made) << made.error().describe();
  return *std::move(made);
}

// The values come from the tests of the reference implementation (phc-winner-argon2, test.c).
TEST(PasswordKept, hashes_are_those_of_the_reference) {
  for (const char* text :
       {"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$"
        "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"}) {
    const auto form = PasswordForm::parse(text);
    ASSERT_TRUE(form) << text;
    EXPECT_EQ(form->write(), text);
    const auto hash = argon2id("password", form->salt, form->cost, form->hash.size());
    ASSERT_TRUE(hash) << hash.error().describe();
    EXPECT_EQ(*hash, form->hash);
  }
}

TEST(PasswordKept, what_is_of_another_form_or_would_take_too_much_is_refused) {
  const std::string tail = "$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
  EXPECT_TRUE(PasswordForm::parse("$argon2id$v=19$m=256,t=2,p=1" + tail));
  for (const char* head :
       {"$argon2i$v=19$m=256,t=2,p=1", "$argon2id$v=16$m=256,t=2,p=1", "$argon2id$m=256,t=2,p=1",
        "$argon2id$v=19$m=4294967295,t=2,p=1", "$argon2id$v=19$m=256,t=17,p=1",
        "$argon2id$v=19$m=256,t=2,p=99", "$argon2id$v=19$m=256,t=0,p=1",
        "$argon2id$v=19$m=0256,t=2,p=1", "$argon2id$v=19$m=-1,t=2,p=1",
        "$argon2id$v=19$m=7,t=2,p=1", "", "$2b$12$abc"}) {
    EXPECT_FALSE(PasswordForm::parse(head + tail)) << head;
  }
  for (const char* end : {"", "$", "$c29t$AAAA", "$c29tZXNhbHQ$nf65", "$c29tZXNhbHQ=$nf65EOgLrQMR",
                          "$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4$x"}) {
    EXPECT_FALSE(PasswordForm::parse("$argon2id$v=19$m=256,t=2,p=1" + std::string(end))) << end;
  }
}

TEST(PasswordKept, a_hash_without_a_salt_and_a_salt_or_hash_of_another_size_are_refused) {
  const auto text_of = [](std::size_t salt_bytes, std::size_t hash_bytes) {
    return PasswordForm{{256, 2, 1}, std::string(salt_bytes, 's'), std::string(hash_bytes, 'h')}
        .write();
  };
  for (const auto& [salt, hash] : {std::pair(8, 16), std::pair(8, 64), std::pair(64, 16)}) {
    EXPECT_TRUE(PasswordForm::parse(text_of(salt, hash))) << salt << " " << hash;
  }
  for (const auto& [salt, hash] :
       {std::pair(7, 16), std::pair(8, 15), std::pair(8, 65), std::pair(65, 16)}) {
    EXPECT_FALSE(PasswordForm::parse(text_of(salt, hash))) << salt << " " << hash;
  }
  const std::string whole = text_of(16, 16);
  EXPECT_FALSE(PasswordForm::parse(Bytes(whole).substr(0, whole.rfind('$'))));
}

TEST(PasswordKept, a_cost_is_possible_up_to_each_limit_and_no_further) {
  EXPECT_TRUE(is_possible({8, 1, 1}));
  EXPECT_TRUE(is_possible({memory_kib_max, passes_max, lanes_max}));
  EXPECT_TRUE(is_possible({8 * lanes_max, 1, lanes_max}));
  for (const HashCost& cost :
       {HashCost{7, 1, 1}, HashCost{8, 0, 1}, HashCost{8, 1, 0},
        HashCost{8 * lanes_max - 1, 1, lanes_max}, HashCost{memory_kib_max + 1, 1, 1},
        HashCost{8, passes_max + 1, 1}, HashCost{memory_kib_max, 1, lanes_max + 1}}) {
    EXPECT_FALSE(is_possible(cost)) << cost.memory_kib << " " << cost.passes << " " << cost.lanes;
  }
}

TEST(PasswordKept, what_argon2_refuses_is_an_error_that_names_the_reason) {
  const auto hash = argon2id("password", "short", {8, 1, 1}, 32);
  ASSERT_FALSE(hash);
  EXPECT_EQ(hash.error().code(), Code::internal);
  EXPECT_NE(hash.error().describe().find("Salt is too short"), std::string::npos)
      << hash.error().describe();
}

Task<std::string> walk(PasswordHasher& hasher, PasswordHasher& dearer) {
  const Result<std::string> stored = co_await hasher.hash(SecretText("correct horse"));
  const Result<std::string> again = co_await hasher.hash(SecretText("correct horse"));
  if (!stored || !again || *stored == *again) co_return "not hashed, or without a salt";
  const auto right = co_await hasher.verify(*stored, SecretText("correct horse"));
  if (!right || !right->right || right->needs_rehash) co_return "the right one is wrong";
  const auto wrong = co_await hasher.verify(*stored, SecretText("correct horsf"));
  if (!wrong || wrong->right || wrong->needs_rehash) co_return "a wrong one is right";
  const auto old = co_await dearer.verify(*stored, SecretText("correct horse"));
  if (!old || !old->right || !old->needs_rehash) co_return "an old one needs no new hash";
  const auto nobody = co_await hasher.verify(std::nullopt, SecretText("correct horse"));
  if (!nobody || nobody->right) co_return "nobody has a password";
  const auto broken = co_await hasher.verify("plain", SecretText("plain"));
  if (!broken || broken->right) co_return "what is no hash is a password";
  const std::string too_long(password_bytes_max + 1, 'a');
  for (const std::string& text : {std::string(), too_long, std::string("\xff")}) {
    const auto refused = co_await hasher.hash(SecretText(text));
    if (refused || refused.error().code() != Code::invalid_argument) co_return "it is hashed";
    const auto verdict = co_await hasher.verify(*stored, SecretText(text));
    if (!verdict || verdict->right) co_return "it is right";
  }
  co_return "right";
}

TEST(Passwords, are_right_wrong_old_or_nobodys) {
  const auto hasher = hasher_with({.cost = cheap});
  const auto dearer = hasher_with({.cost = {128, 1, 1}});
  thread::Loop loop;
  EXPECT_EQ(loop.run(walk(*hasher, *dearer)), "right");
}

Task<int> many(PasswordHasher& hasher, int count) {
  std::vector<Task<Result<std::string>>> tasks;
  for (int each = 0; each < count; ++each) tasks.push_back(hasher.hash(SecretText("password")));
  const auto results = co_await when_all(std::move(tasks));
  int refused = 0;
  for (const auto& result : results) {
    if (result) continue;
    EXPECT_EQ(result.error().code(), Code::resource_exhausted) << result.error().describe();
    ++refused;
  }
  co_return refused;
}

TEST(Passwords, more_than_may_wait_are_refused) {
  const auto hasher = hasher_with({.cost = {8192, 3, 1}, .threads = 1, .waiting_max = 2});
  thread::Loop loop;
  const int refused = loop.run(many(*hasher, 16));
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 16);
}

Task<std::string> check_sizes(PasswordHasher& hasher) {
  const std::string longest(password_bytes_max, 'a');
  const Result<std::string> stored = co_await hasher.hash(SecretText(longest));
  if (!stored) co_return "the longest password is refused";
  const auto right = co_await hasher.verify(*stored, SecretText(longest));
  if (!right || !right->right) co_return "the longest password is wrong";
  PasswordForm foreign{cheap, std::string(16, 's'), {}};
  foreign.hash = *argon2id("", foreign.salt, cheap, 32);
  const auto empty = co_await hasher.verify(foreign.write(), SecretText(""));
  if (!empty || empty->right) co_return "no password is right";
  co_return "right";
}

TEST(Passwords, have_one_to_password_bytes_max_bytes_though_a_kept_hash_is_of_none) {
  const auto hasher = hasher_with({.cost = cheap});
  thread::Loop loop;
  EXPECT_EQ(loop.run(check_sizes(*hasher)), "right");
}

TEST(Passwords, without_a_queue_are_refused_and_the_pool_is_named) {
  const auto made = PasswordHasher::make({.waiting_max = 0});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().describe().find("pool 'passwords'"), std::string::npos)
      << made.error().describe();
}

TEST(Passwords, a_cost_that_cannot_be_is_refused) {
  const auto made = PasswordHasher::make({.cost = {8, 1, 4}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().describe().find("8 KiB for each lane"), std::string::npos);
}

}  // namespace
}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
