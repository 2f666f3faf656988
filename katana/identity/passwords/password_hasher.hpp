// PasswordHasher: hashes passwords, and finds out whether one is right, on its own threads.
//
//   auto hasher = passwords::PasswordHasher::make({});
//   Result<std::string> stored = co_await (*hasher)->hash(std::move(password));
//   Result<passwords::Verdict> verdict =
//       co_await (*hasher)->verify(user.password, std::move(given));
//   if (verdict && verdict->right && verdict->needs_rehash) …  // hash(), and keep that
//
// A user who does not exist is verified as well, against a password that no user has:
// verify(nullopt, …) takes as long, so that the time of an answer does not tell who has an account.
//
// A password is 1 to 1,024 bytes of UTF-8, and is taken as it was sent: it is not normalised,
// since the tables of Unicode for that change with its versions, and with them a password would.
//
// Owns       a pool of threads.
// Thread     hash() and verify(): coroutines of any executor. The destructor: not its own threads.
// Allocates  `memory_kib` for each hash that runs, and what a job takes.
// Fails      Code::invalid_argument for a password that could not be one; Code::resource_exhausted
//            when too many wait: 503, and nothing was tried.
// Invariant  no more than `threads` hashes run and `waiting_max` wait: their memory is at most
//            threads times memory_kib, of the options or of what is stored. A password is
//            overwritten when its hash is made.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/identity/passwords/password_form.hpp"

namespace katana::passwords {

// Longer ones are refused, not cut off.
inline constexpr std::size_t password_bytes_max = 1024;

// What hashes cost, and how many there are at a time.
struct PasswordOptions {
  HashCost cost = {};            // of new ones
  unsigned threads = 2;          // hashes that run
  std::size_t waiting_max = 64;  // rounded up to a power of two
};
// For settings of a program.
KATANA_DESCRIBE(PasswordOptions, cost, (threads, range(1, 256), help("hashes that run at a time")),
                (waiting_max, range(1, 1 << 16),
                 help("hashes that wait for a thread; more are refused (503)")))

// What came of a password that was given.
struct Verdict {
  bool right = false;  // it is the password
  // It was kept with another cost than that of the options; only when it is right.
  bool needs_rehash = false;
};

class PasswordHasher {
 public:
  // An Error names the option that is wrong. Starts the threads.
  static Result<std::unique_ptr<PasswordHasher>> make(const PasswordOptions& options);

  // As it is to be kept, with its own salt.
  Task<Result<std::string>> hash(SecretText password);
  // `stored`: what hash() gave; nothing: there is no such user. Of something else nothing is right.
  Task<Result<Verdict>> verify(std::optional<std::string> stored, SecretText password);

 private:
  PasswordHasher(const PasswordOptions& options, std::unique_ptr<thread::Pool> pool);

  const PasswordOptions options_;
  const PasswordForm nobody_;
  std::unique_ptr<thread::Pool> pool_;
};

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
