// PasswordHasher: hashes and verifies passwords on a pool of threads.
//
//   auto hasher = passwords::PasswordHasher::make({});
//   Result<std::string> stored = co_await (*hasher)->hash(std::move(password));
//   Result<passwords::Verdict> verdict =
//       co_await (*hasher)->verify(user.password, std::move(given));
//
//   if (verdict && verdict->right && verdict->needs_rehash) …  // hash(), and keep that
//
// For a user who does not exist call verify(nullopt, …). It takes the same time, with a password
// that no user has. The time of an answer then does not tell whether an account exists.
//
// A password is 1 to 1,024 bytes of UTF-8, and is not normalised. The tables of Unicode for that
// change with its versions, and a normalised password would change with them.
//
// Owns       a pool of threads.
// Thread     hash() and verify(): coroutines of any executor. The destructor: not its own threads.
// Allocates  `memory_kib` for each running hash, and its job.
// Fails      Code::invalid_argument for an invalid password; Code::resource_exhausted (503) when
//            too many wait, and nothing was tried.
// Invariant  at most `threads` hashes run and `waiting_max` wait. Their memory is at most `threads`
//            times the memory_kib of the options or of the stored password. A password is
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

// The longest password. Longer ones are refused, and not cut off.
inline constexpr std::size_t password_bytes_max = 1024;

// The cost of hashes, and the number of simultaneous ones.
struct PasswordOptions {
  HashCost cost = {};            // cost of new hashes
  unsigned threads = 2;          // hashes that run at the same time
  std::size_t waiting_max = 64;  // rounded up to a power of two
};
// The description for the settings of a program.
KATANA_DESCRIBE(PasswordOptions, cost, (threads, range(1, 256), help("hashes that run at a time")),
                (waiting_max, range(1, 1 << 16),
                 help("hashes that wait for a thread; more are refused (503)")))

// The result of the verification of a password.
struct Verdict {
  bool right = false;  // the password is right
  // A right password is stored with another cost than that of the options.
  bool needs_rehash = false;
};

class PasswordHasher {
 public:
  // Starts the threads. Returns an Error that names the wrong option.
  static Result<std::unique_ptr<PasswordHasher>> make(const PasswordOptions& options);

  // Returns the stored form of a password, with a new salt.
  Task<Result<std::string>> hash(SecretText password);
  // Verifies a password. `stored` is the result of hash(); nothing: there is no such user. No
  // password is right for any other text.
  Task<Result<Verdict>> verify(std::optional<std::string> stored, SecretText password);

 private:
  PasswordHasher(const PasswordOptions& options, std::unique_ptr<thread::Pool> pool);

  const PasswordOptions options_;
  const PasswordForm nobody_;
  std::unique_ptr<thread::Pool> pool_;
};

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
