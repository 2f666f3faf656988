// Revocations: tokens that are refused although they have not expired. It revokes single tokens,
// and all tokens of a subject that were issued before a time.
//
// Owns       each revocation, until the token would have expired.
// Thread     any.
// Allocates  for each revocation.
// Fails      Code::resource_exhausted with entries_max entries. The caller must treat this as a
//            failed logout; no entry is removed before its time. Code::invalid_argument for a
//            token without an id, which can only be revoked by its subject.
// Invariant  the generation changes with every revocation. Caches compare it.
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

  // Revokes one token by its `jti`. `until`: its `exp` with the leeway of the verifiers. After that
  // time it is refused anyway, and the entry is removed.
  Result<void> revoke_token(Bytes issuer, Bytes id, Timestamp until);
  // Revokes all tokens of a subject with an `iat` before `before`, and those without `iat`.
  Result<void> revoke_subject(Bytes issuer, Bytes subject, Timestamp before, Timestamp until);

  // True if a token with these claims is revoked.
  bool covers(Bytes issuer, Bytes id, Bytes subject, Timestamp issued_at) const;
  // A number that every revocation changes.
  std::uint64_t generation() const noexcept {
    return generation_.load(std::memory_order_acquire);  // see TokenKeys::generation()
  }
  // The number of kept entries, including entries past their time.
  std::size_t count() const;

 private:
  using Name = std::pair<std::string, std::string>;  // issuer and name
  struct Subject {
    Timestamp before;
    Timestamp until;
  };
  // True if there is room for one more entry, after entries past their time were removed.
  bool has_capacity(Timestamp now);

  const std::size_t entries_max_;
  mutable std::mutex mutex_;
  std::map<Name, Timestamp> tokens_;  // end of each revocation
  std::map<Name, Subject> subjects_;
  std::atomic<std::uint64_t> generation_ = 0;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
