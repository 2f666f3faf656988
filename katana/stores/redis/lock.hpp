// LockTable: locks that all instances of a program share, each with a lease and a fencing token.
//
//   redis::LockTable locks(redis);
//   const std::string name = "report:7";
//   auto lease = co_await locks.try_acquire(name, seconds(30));
//   if (lease && *lease) {
//     storage.write(data, (*lease)->token);
//     co_await locks.release(**lease);
//   }
//
// A lease can expire while its holder still runs: the holder was paused, or could not reach Redis.
// To prevent a late write, the protected system stores the token with each write and rejects
// a smaller one. Tokens grow for each name, also when Redis is restarted without its data, as long
// as its machine's clock does not go back.
//
// One Redis server has the locks. When a replica takes over, two holders may have one lock at
// a time; the token tells them apart.
//
// Owns       a share of the client.
// Thread     any reactor's.
// Allocates  as the client's calls do.
// Fails      with the client's Error. When try_acquire() fails with Kind::unknown_outcome the
//            lock may be taken without a holder until its lease ends.
// Invariant  one holder has a name at a time, by the clock of the server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/stores/redis/client.hpp"

namespace katana::redis {

// A name that is held.
struct HeldLock {
  std::string name;         // as it was asked for, without the table's prefix
  std::uint64_t token = 0;  // greater than those of all who held it before
};

class LockTable {
 public:
  // `prefix`: of the keys.
  explicit LockTable(Client client, std::string prefix = "katana:lock:")
      : redis_(std::move(client)), prefix_(std::move(prefix)) {}

  // Nothing: another one holds it. `lease`: at least a millisecond.
  Task<Result<std::optional<HeldLock>>> try_acquire(std::string name, Duration lease) const;
  // Renews the lock for `lease` from now on. False: it has ended, and another holder may have the
  // name.
  Task<Result<bool>> renew(HeldLock lock, Duration lease) const;
  // False: it had ended.
  Task<Result<bool>> release(HeldLock lock) const;

 private:
  const Client redis_;
  const std::string prefix_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
