// Store: where keys and the replies to their requests are kept: in memory (memory_store.hpp), in a
// database (database/key_table.hpp), in Redis (redis/key_store.hpp), or behind an implementation of
// the program's own.
//
//             claim()              keep()
//   no key ──────────▶ in progress ──────────▶ done
//     ▲ ▲  release(), or          │              │
//     │ └──── the lease ends ─────┘              │
//     └───────────── the reply's time ends ──────┘
//
// Owns       the records.
// Thread     calls: by coroutines of any reactor, which go on there.
// Allocates  a frame for each call, from the recycler, and what a record needs.
// Fails      with Code::unavailable where nothing is known, Code::resource_exhausted where there is
//            no room.
// Invariant  a store sees digests, never a key or who sent it. Of the claims of one key at most one
//            is held at a time, and keep() and release() change nothing for any other token.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/crypto/digest.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::idempotency {

// A claim: the key, with whom it is of and their route; what they asked for; and a number of this
// one attempt.
struct Claim {
  crypto::Sha256 key;          // what a record is found by
  crypto::Sha256 fingerprint;  // differs: the key is used for another request
  std::int64_t token = 0;      // of the attempt that holds the key
};

// What claim() found.
enum class ClaimState : std::uint8_t {
  claimed,      // this request has it, as long as the lease lasts
  in_progress,  // another attempt has it
  done,         // and `reply` says what came of it
};

// The answer of claim().
struct Claimed {
  ClaimState state = ClaimState::claimed;  // other than claimed: the handler must not run
  crypto::Sha256 fingerprint = {};         // of in_progress and done: what was asked for then
  std::string reply = {};                  // of done: as keep() got it
};

class Store {
 public:
  virtual ~Store() = default;
  // Where it is, for messages: "memory".
  virtual std::string words() const = 0;

  // Takes the key if no request has it, or its time is over.
  virtual Task<Result<Claimed>> claim(Claim claim, Duration lease) = 0;
  // `reply` is not empty. False: the claim was lost, or is done already.
  virtual Task<Result<bool>> keep(Claim claim, std::string reply, Duration kept) = 0;
  // The key is free again. A finished request stays finished.
  virtual Task<Result<void>> release(Claim claim) = 0;
};

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
