// Store: keeps keys and the replies to their requests. Implementations use memory
// (memory_store.hpp), a database (database/key_table.hpp) or Redis (redis/key_store.hpp). A program
// may implement another one.
//
//             claim()              keep()
//   no key ──────────▶ in progress ──────────▶ done
//     ▲ ▲  release(), or          │              │
//     │ └──── the lease ends ─────┘              │
//     └───────────── the reply's time ends ──────┘
//
// Owns       the records.
// Thread     calls: by coroutines of any reactor, which go on there.
// Allocates  a frame for each call, from the recycler, and the records.
// Fails      with Code::unavailable if the store does not answer, and Code::resource_exhausted if
//            there is no room.
// Invariant  a store sees digests, and never a key or its sender. At most one claim of a key is
//            held at a time. keep() and release() change nothing for another token.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/crypto/digest.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::idempotency {

// A claim: digests of the key (with its sender and route) and of the request, and the number of the
// attempt.
struct Claim {
  crypto::Sha256 key;          // finds the record
  crypto::Sha256 fingerprint;  // differs: the key is used for another request
  std::int64_t token = 0;      // number of the attempt that holds the key
};

// The state of a key after claim().
enum class ClaimState : std::uint8_t {
  claimed,      // this request holds the key, as long as the lease lasts
  in_progress,  // another attempt holds the key
  done,         // the request has ended, with `reply`
};

// The answer of claim().
struct Claimed {
  ClaimState state = ClaimState::claimed;  // other than claimed: the handler must not run
  crypto::Sha256 fingerprint = {};         // in_progress, done: that of the earlier request
  std::string reply = {};                  // done: the argument of keep()
};

class Store {
 public:
  virtual ~Store() = default;
  // The name of the store for messages: "memory".
  virtual std::string words() const = 0;

  // Takes the key if no request holds it, or its time is over.
  virtual Task<Result<Claimed>> claim(Claim claim, Duration lease) = 0;
  // Keeps the reply, which is not empty. False: the claim was lost, or is done already.
  virtual Task<Result<bool>> keep(Claim claim, std::string reply, Duration kept) = 0;
  // Frees the key. A finished request stays finished.
  virtual Task<Result<void>> release(Claim claim) = 0;
};

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
