#include "katana/identity/auth/revocations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::auth {
namespace {

std::unexpected<Error> full(std::size_t entries_max) {
  return fail(Code::resource_exhausted,
              fmt::format("{} revocations are kept, and none of them is over: raise the limit, or "
                          "replace the key that signs",
                          entries_max));
}

}  // namespace

bool Revocations::has_capacity(Timestamp now) {
  const auto count = [this] { return tokens_.size() + subjects_.size(); };
  if (count() < entries_max_) return true;
  std::erase_if(tokens_, [now](const auto& each) { return each.second <= now; });
  std::erase_if(subjects_, [now](const auto& each) { return each.second.until <= now; });
  return count() < entries_max_;
}

Result<void> Revocations::revoke_token(Bytes issuer, Bytes id, Timestamp until) {
  if (id.empty()) {
    return fail(Code::invalid_argument,
                "a token without `jti` cannot be revoked by it: revoke its subject's tokens");
  }
  {
    const std::lock_guard lock(mutex_);
    Name name(issuer, id);
    if (!tokens_.contains(name) && !has_capacity(current_time())) return full(entries_max_);
    Timestamp& kept = tokens_[std::move(name)];
    kept = std::max(kept, until);
  }
  generation_.fetch_add(1, std::memory_order_release);
  return {};
}

Result<void> Revocations::revoke_subject(Bytes issuer, Bytes subject, Timestamp before,
                                         Timestamp until) {
  {
    const std::lock_guard lock(mutex_);
    Name name(issuer, subject);
    if (!subjects_.contains(name) && !has_capacity(current_time())) return full(entries_max_);
    Subject& kept = subjects_[std::move(name)];
    kept = {std::max(kept.before, before), std::max(kept.until, until)};
  }
  generation_.fetch_add(1, std::memory_order_release);
  return {};
}

bool Revocations::covers(Bytes issuer, Bytes id, Bytes subject, Timestamp issued_at) const {
  const std::lock_guard lock(mutex_);
  if (tokens_.contains(Name(issuer, id))) return true;
  const auto found = subjects_.find(Name(issuer, subject));
  return found != subjects_.end() && issued_at < found->second.before;
}

std::size_t Revocations::count() const {
  const std::lock_guard lock(mutex_);
  return tokens_.size() + subjects_.size();
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
