#include "katana/identity/passwords/password_hasher.hpp"

#include <fmt/format.h>

#include <utility>

#include "katana/base/text/utf8.hpp"

namespace katana::passwords {
namespace {

constexpr std::size_t salt_bytes = 16;
constexpr std::size_t hash_bytes = 32;

Result<void> check(const SecretText& password) {
  if (password.empty() || password.size() > password_bytes_max) {
    return fail(Code::invalid_argument,
                fmt::format("A password has 1 to {} bytes.", password_bytes_max));
  }
  if (!is_utf8(password.reveal())) {
    return fail(Code::invalid_argument, "A password is UTF-8.");
  }
  return {};
}

// A form for unknown users. Salt and hash are random, and no known password matches.
PasswordForm form_of_nobody(const HashCost& cost) {
  return {cost, random_octets(salt_bytes), random_octets(hash_bytes)};
}

}  // namespace

Result<std::unique_ptr<PasswordHasher>> PasswordHasher::make(const PasswordOptions& options) {
  if (!is_possible(options.cost)) {
    return fail(Code::invalid_argument,
                fmt::format("passwords.cost: {} KiB, {} passes and {} lanes are not possible; take "
                            "8 KiB for each lane at least, at most {} KiB, {} passes and {} lanes",
                            options.cost.memory_kib, options.cost.passes, options.cost.lanes,
                            memory_kib_max, passes_max, lanes_max));
  }
  thread::PoolOptions how;
  how.name = "passwords";
  how.threads_min = options.threads;
  how.queue_max = options.waiting_max;
  auto pool = thread::Pool::create(std::move(how));
  if (!pool) return std::unexpected(pool.error().within("passwords"));
  return std::unique_ptr<PasswordHasher>(new PasswordHasher(options, *std::move(pool)));
}

PasswordHasher::PasswordHasher(const PasswordOptions& options, std::unique_ptr<thread::Pool> pool)
    : options_(options), nobody_(form_of_nobody(options.cost)), pool_(std::move(pool)) {}

Task<Result<std::string>> PasswordHasher::hash(SecretText password) {
  const Result<void> checked = check(password);
  if (!checked) co_return std::unexpected(checked.error());
  auto job = [password = std::move(password), cost = options_.cost]() -> Result<std::string> {
    PasswordForm form{cost, random_octets(salt_bytes), {}};
    auto made = argon2id(password.reveal(), form.salt, cost, hash_bytes);
    if (!made) return std::unexpected(made.error());
    form.hash = *std::move(made);
    return form.write();
  };
  Result<std::string> made = co_await pool_->run(thread::give(job));
  if (!made) co_return std::unexpected(made.error().within("the password cannot be hashed"));
  co_return made;
}

Task<Result<Verdict>> PasswordHasher::verify(std::optional<std::string> stored,
                                             SecretText password) {
  const Result<void> checked = check(password);
  if (!checked) co_return Verdict{};  // make() would have refused such a password
  std::optional<PasswordForm> form;
  if (stored) form = PasswordForm::parse(*stored);
  const bool is_known = form.has_value();
  auto job = [password = std::move(password), kept = std::move(form).value_or(nobody_), is_known,
              cost = options_.cost]() -> Result<Verdict> {
    const auto made = argon2id(password.reveal(), kept.salt, kept.cost, kept.hash.size());
    if (!made) return std::unexpected(made.error());
    Verdict verdict;
    verdict.right = equal_in_constant_time(*made, kept.hash) && is_known;
    verdict.needs_rehash = verdict.right && (kept.cost != cost || kept.hash.size() != hash_bytes);
    return verdict;
  };
  const Result<Verdict> verdict = co_await pool_->run(thread::give(job));
  if (!verdict) {
    co_return std::unexpected(verdict.error().within("the password cannot be verified"));
  }
  co_return *verdict;
}

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
