#include "katana/service/sessions/user_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/base64.hpp"
#include "katana/base/check.hpp"
#include "katana/base/secrets.hpp"
#include "katana/base/utf8.hpp"
#include "katana/service/reply_fields.hpp"
#include "katana/service/sessions/session_manager.hpp"

namespace katana::sessions {
namespace {

constexpr std::size_t id_octets = 32;
constexpr std::size_t id_bytes = 43;  // of them as base64url
constexpr std::size_t form_secret_octets = 16;

std::string new_form_secret() { return encode_base64url(random_octets(form_secret_octets)); }

// What encode_session() can write and decode_session() read.
bool are_texts(const auth::PrincipalFacts& facts) noexcept {
  for (const auto* list : {&facts.roles, &facts.scopes}) {
    if (!std::ranges::all_of(*list, [](Bytes each) { return is_utf8(each); })) return false;
  }
  return is_utf8(facts.id) && is_utf8(facts.issuer) && is_utf8(facts.name);
}

Error changed_meanwhile() {
  return {Code::already_exists,
          "another request has changed this session meanwhile; load it again and repeat"};
}

}  // namespace

UserSession::UserSession(std::shared_ptr<const detail::SessionManager> manager, Bytes cookie,
                         std::shared_ptr<session::PersonalMark> mark)
    : manager_(std::move(manager)), cookie_(cookie), mark_(std::move(mark)) {}

void UserSession::open_cookie(std::int64_t now_s) const {
  auto record = manager_->sealer->open(cookie_.bytes());
  if (!record || is_expired(*record, manager_->lifetimes, now_s)) {
    state_.cookie = Cookie::removed;
    return;
  }
  if (now_s - record->seen_s >= manager_->touch_after_s) {
    record->seen_s = now_s;
    state_.cookie = Cookie::set;
  }
  state_.record = std::make_shared<const SessionRecord>(*std::move(record));
}

Task<Result<void>> UserSession::load_stored(std::int64_t now_s) const {
  if (cookie_.size() != id_bytes) {
    state_.cookie = Cookie::removed;
    co_return {};
  }
  const SessionKey key = crypto::sha256(cookie_.bytes());
  Result<std::optional<StoredSession>> found = co_await manager_->store->load(key, now_s);
  if (!found) co_return std::unexpected(found.error().within("the session cannot be loaded"));
  // Lifetimes may have been shortened since it was written.
  if (!*found || is_expired(*(*found)->record, manager_->lifetimes, now_s)) {
    state_.cookie = Cookie::removed;
    co_return {};
  }
  state_.key = key;
  state_.version = (*found)->version;
  state_.record = std::move((*found)->record);
  if (now_s - state_.record->seen_s < manager_->touch_after_s) co_return {};
  SessionRecord seen = *state_.record;
  seen.seen_s = now_s;
  // Not written, it only ends sooner: a store that can be read is enough to go on.
  static_cast<void>(
      co_await manager_->store->touch(key, now_s, expires_s(seen, manager_->lifetimes)));
  state_.record = std::make_shared<const SessionRecord>(std::move(seen));
  co_return {};
}

Task<Result<void>> UserSession::load() const {
  state_.touched = true;
  if (mark_ != nullptr) mark_->set(session::Personal::session);
  if (state_.loaded) co_return {};
  if (!cookie_.empty()) {
    const std::int64_t now_s = detail::SessionManager::now_s();
    if (manager_->sealer) {
      open_cookie(now_s);
    } else {
      const Result<void> loaded = co_await load_stored(now_s);
      if (!loaded) co_return loaded;
    }
  }
  state_.loaded = true;
  co_return {};
}

SessionRecord UserSession::copy_of_record() const {
  if (state_.record != nullptr) return *state_.record;
  SessionRecord record;
  record.began_s = record.seen_s = detail::SessionManager::now_s();
  record.form_secret = new_form_secret();
  return record;
}

Task<Result<void>> UserSession::keep_stored(std::shared_ptr<const SessionRecord> record,
                                            bool renewed) const {
  const std::int64_t end_s = expires_s(*record, manager_->lifetimes);
  SessionStore& store = *manager_->store;
  // Named: g++ 12 would destroy an aggregate of a co_await expression twice (decision 0018).
  StoredSession stored;
  stored.record = record;
  if (state_.key && !renewed) {
    stored.version = state_.version;
    const Result<bool> updated = co_await store.update(*state_.key, std::move(stored), end_s);
    if (!updated) co_return std::unexpected(updated.error().within("the session cannot be kept"));
    if (!*updated) co_return std::unexpected(changed_meanwhile());
    ++state_.version;
    state_.record = std::move(record);
    co_return {};
  }
  const std::string id = encode_base64url(random_octets(id_octets));
  const SessionKey key = crypto::sha256(id);
  const Result<void> created = co_await store.create(key, std::move(stored), end_s);
  if (!created) co_return std::unexpected(created.error().within("the session cannot be kept"));
  const std::optional<SessionKey> before = std::exchange(state_.key, key);
  state_.id = id;
  state_.version = 0;
  state_.record = std::move(record);
  state_.cookie = Cookie::set;
  if (!before) co_return {};
  const Result<void> removed = co_await store.remove(*before);
  if (!removed) {
    co_return std::unexpected(removed.error().within("the session's former id cannot be removed"));
  }
  co_return {};
}

Task<Result<void>> UserSession::keep(SessionRecord record, bool renewed) const {
  if (renewed) record.form_secret = new_form_secret();
  const std::size_t encoded = encode_session(record).size();
  if (manager_->sealer) {
    const std::size_t bytes = CookieSealer::value_bytes(encoded);
    if (bytes > manager_->options.cookie_bytes_max) {
      co_return fail(Code::out_of_range,
                     fmt::format("the session would be a cookie of {} bytes, and "
                                 "sessions.cookie_bytes_max is {}; keep less in it, or sessions in "
                                 "a store",
                                 bytes, manager_->options.cookie_bytes_max));
    }
    state_.record = std::make_shared<const SessionRecord>(std::move(record));
    state_.cookie = Cookie::set;
    co_return {};
  }
  if (encoded > manager_->options.stored_bytes_max) {
    co_return fail(Code::out_of_range,
                   fmt::format("the session would have {} bytes, and sessions.stored_bytes_max is "
                               "{}; keep less in it",
                               encoded, manager_->options.stored_bytes_max));
  }
  auto kept = std::make_shared<const SessionRecord>(std::move(record));
  co_return co_await keep_stored(std::move(kept), renewed);
}

Task<Result<void>> UserSession::set_content(std::string content) const {
  const Result<void> loaded = co_await load();
  if (!loaded) co_return loaded;
  if (state_.record != nullptr && state_.record->content == content) co_return {};
  SessionRecord record = copy_of_record();
  record.content = std::move(content);
  co_return co_await keep(std::move(record), false);
}

Task<Result<std::optional<auth::Principal>>> UserSession::principal() const {
  const Result<void> loaded = co_await load();
  if (!loaded) co_return std::unexpected(loaded.error());
  if (state_.record == nullptr) co_return std::nullopt;
  co_return principal_of(*state_.record);
}

Task<Result<void>> UserSession::begin_login(auth::PrincipalFacts who) const {
  KATANA_REQUIRE(!who.id.empty());
  if (!are_texts(who)) {
    co_return fail(Code::invalid_argument, "sessions: who logs in has a name that is not UTF-8");
  }
  const Result<void> loaded = co_await load();
  if (!loaded) co_return loaded;
  SessionRecord record = copy_of_record();
  set_principal(record, who, detail::SessionManager::now_s());
  co_return co_await keep(std::move(record), true);
}

Task<Result<void>> UserSession::renew() const {
  const Result<void> loaded = co_await load();
  if (!loaded) co_return loaded;
  SessionRecord record = copy_of_record();
  co_return co_await keep(std::move(record), true);
}

Task<Result<void>> UserSession::end() const {
  const Result<void> loaded = co_await load();
  if (!loaded) co_return loaded;
  if (state_.key) {
    const Result<void> removed = co_await manager_->store->remove(*state_.key);
    if (!removed) co_return std::unexpected(removed.error().within("the session cannot be ended"));
  }
  state_.key.reset();
  state_.record.reset();
  state_.cookie = cookie_.empty() ? Cookie::as_it_is : Cookie::removed;
  co_return {};
}

Task<Result<std::int64_t>> UserSession::end_others() const {
  if (manager_->sealer) {
    co_return fail(Code::unsupported,
                   "sessions that are cookies cannot be ended from here; keep them in a store");
  }
  const Result<void> loaded = co_await load();
  if (!loaded) co_return std::unexpected(loaded.error());
  if (state_.record == nullptr || state_.record->principal.empty()) {
    co_return fail(Code::unauthenticated, "Nobody has logged in.");
  }
  // Named: what a call takes may not be a temporary of the expression that awaits it.
  std::string issuer = state_.record->issuer;
  std::string principal = state_.record->principal;
  co_return co_await manager_->store->remove_all(std::move(issuer), std::move(principal),
                                                 state_.key);
}

Task<Result<std::string>> UserSession::known_form_secret() const {
  const Result<void> loaded = co_await load();
  if (!loaded) co_return std::unexpected(loaded.error());
  if (state_.record == nullptr) co_return std::string();
  co_return state_.record->form_secret;
}

Task<Result<std::string>> UserSession::form_secret() const {
  const Result<void> loaded = co_await load();
  if (!loaded) co_return std::unexpected(loaded.error());
  if (state_.record == nullptr) {
    SessionRecord record = copy_of_record();
    const Result<void> kept = co_await keep(std::move(record), false);
    if (!kept) co_return std::unexpected(kept.error());
  }
  co_return state_.record->form_secret;
}

Result<void> UserSession::finish(Reply& reply) const {
  if (!state_.touched) return {};
  // What a cache may keep for everybody was made for one (RFC 9111 §7.3).
  reply.add_field("Vary", "Cookie");
  if (state_.cookie != Cookie::as_it_is || !find_field(reply.fields(), "Cache-Control")) {
    reply.add_field("Cache-Control", "no-store");
  }
  if (state_.cookie == Cookie::as_it_is) return {};
  SetCookie cookie = manager_->cookie();
  if (state_.cookie == Cookie::removed) return remove_cookie(reply, cookie);
  const std::string value = manager_->sealer ? manager_->sealer->seal(*state_.record) : state_.id;
  cookie.value = value;
  if (manager_->options.persistent) cookie.max_age = manager_->options.absolute_lifetime;
  return set_cookie(reply, cookie);
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
