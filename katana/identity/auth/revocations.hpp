// Revocations: tokens that are not believed any more although they have not expired: single ones,
// and all of a person's that were issued before a time.
//
// Owns       what is revoked, until it would have expired.
// Thread     any.
// Allocates  for each revocation.
// Fails      Code::resource_exhausted with entries_max of them: the caller has to treat it as a
//            failed logout. Nothing is forgotten before its time. Code::invalid_argument for a
//            token without an id, which only its subject's revocation covers.
// Invariant  the generation changes with every revocation, and is what caches compare.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana::auth {

class Revocations {
 public:
  explicit Revocations(std::size_t entries_max = 64 * 1024) : entries_max_(entries_max) {}

  // By its `jti`. `until`: its `exp` with the leeway of the verifiers; afterwards it is refused
  // anyway, and forgotten here.
  Result<void> revoke_token(Bytes issuer, Bytes id, Timestamp until);
  // All that were issued (`iat`) before `before`; those that do not say when count as such.
  Result<void> revoke_subject(Bytes issuer, Bytes subject, Timestamp before, Timestamp until);

  // Whether a token of these claims is revoked.
  bool covers(Bytes issuer, Bytes id, Bytes subject, Timestamp issued_at) const;
  // Another one: something was revoked since.
  std::uint64_t generation() const noexcept {
    return generation_.load(std::memory_order_acquire);  // see TokenKeys::generation()
  }
  // That are kept, also of those that are over.
  std::size_t count() const;

 private:
  using Name = std::pair<std::string, std::string>;  // with its issuer
  struct Subject {
    Timestamp before;
    Timestamp until;
  };
  // For one more, after what is over was forgotten.
  bool has_capacity(Timestamp now);

  const std::size_t entries_max_;
  mutable std::mutex mutex_;
  std::map<Name, Timestamp> tokens_;  // until when
  std::map<Name, Subject> subjects_;
  std::atomic<std::uint64_t> generation_ = 0;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
