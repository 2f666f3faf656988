#include "katana/identity/sessions/user_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/check.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/http/handlers/reply_fields.hpp"
#include "katana/identity/sessions/session_manager.hpp"

namespace katana::sessions {
namespace {

constexpr std::size_t form_secret_octets = 16;
// The maximum number of tries of a renewal while other requests change the session.
constexpr int renewals_max = 8;
// The time in seconds in which requests with the former id of a renewed session may arrive.
constexpr std::int64_t former_s = 60;

std::string new_form_secret() { return encode_base64url(random_octets(form_secret_octets)); }

// True if encode_session() can write the texts, and decode_session() can read them.
bool are_texts(const auth::PrincipalFacts& facts) noexcept {
  for (const auto* list : {&facts.roles, &facts.scopes}) {
    if (!std::ranges::all_of(*list, [](Bytes each) { return is_utf8(each); })) return false;
  }
  return is_utf8(facts.id) && is_utf8(facts.issuer) && is_utf8(facts.name);
}

Error changed_meanwhile() {
  return {Code::already_exists,
          "another request has changed or ended this session meanwhile; load it again and repeat"};
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
  if (!state_.id) state_.id = SessionId::parse(cookie_.bytes());
  if (!state_.id) state_.cookie = Cookie::removed;
  if (!state_.id || !state_.id->has_session()) co_return {};
  const SessionKey key = state_.id->key();
  Result<std::optional<StoredSession>> found = co_await manager_->store->load(key, now_s);
  if (!found) co_return std::unexpected(found.error().within("the session cannot be loaded"));
  // The lifetimes may have been shortened since the session was written.
  const bool is_there = *found && !is_expired(*(*found)->record, manager_->lifetimes, now_s);
  if (!is_there || !state_.id->is_secret_of((*found)->record->secret_hash)) {
    // The cookie of a session that was just renewed is not removed. The browser may already have
    // the new cookie when this reply arrives.
    state_.former = is_there && now_s - (*found)->record->renewed_s < former_s &&
                    state_.id->is_secret_of((*found)->record->former_secret_hash);
    if (!state_.former) state_.cookie = Cookie::removed;
    state_.id->forget_session();
    co_return {};
  }
  state_.version = (*found)->version;
  state_.record = std::move((*found)->record);
  if (now_s - state_.record->seen_s < manager_->touch_after_s) co_return {};
  SessionRecord seen = *state_.record;
  seen.seen_s = now_s;
  const std::int64_t end_s = expires_s(seen, manager_->lifetimes);
  // A failed write is ignored: the session only ends sooner.
  static_cast<void>(co_await manager_->store->touch(key, state_.version, now_s, end_s));
  state_.record = std::make_shared<const SessionRecord>(std::move(seen));
  co_return {};
}

Task<Result<void>> UserSession::load() const {
  state_.touched = true;
  if (mark_ != nullptr) mark_->set(session::Personal::session);
  if (state_.loaded) co_return {};
  if (!cookie_.empty() || state_.id) {
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
  const std::int64_t now_s = detail::SessionManager::now_s();
  SessionRecord record;
  if (state_.record != nullptr) {
    record = *state_.record;
  } else {
    record.began_s = now_s;
    if (manager_->sealer) record.form_secret = new_form_secret();
  }
  // A change also counts as seen.
  record.seen_s = std::max(record.seen_s, now_s);
  return record;
}

// The only function that writes sessions to stores. The new record is based on the one that was
// read, and is therefore written only if that is still present.
Task<Result<bool>> UserSession::keep_stored(SessionRecord record, bool renewed) const {
  SessionId id = state_.id ? *state_.id : SessionId::make_visitor();
  const bool is_new = state_.record == nullptr;
  if (renewed) id.renew();
  if (is_new) id.begin_session();
  if (is_new || renewed) {
    record.former_secret_hash = std::exchange(record.secret_hash, id.secret_hash());
    record.renewed_s = record.seen_s;
  }
  // A variable: g++ 12 would destroy an aggregate of a co_await expression twice (decision 0018).
  SessionWrite write;
  write.key = id.key();
  if (!is_new) write.read_version = state_.version;
  write.expires_s = expires_s(record, manager_->lifetimes);
  const auto kept = std::make_shared<const SessionRecord>(std::move(record));
  write.record = kept;
  const Result<bool> is_kept = co_await manager_->store->compare_and_set(std::move(write));
  if (!is_kept) co_return std::unexpected(is_kept.error().within("the session cannot be kept"));
  if (!*is_kept) {
    state_.loaded = false;
    state_.record.reset();
    co_return false;
  }
  state_.version = is_new ? 0 : state_.version + 1;
  state_.id = std::move(id);
  state_.record = kept;
  if (is_new || renewed) state_.cookie = Cookie::set;
  co_return true;
}

Task<Result<bool>> UserSession::keep(SessionRecord record, bool renewed) const {
  if (manager_->sealer && renewed) record.form_secret = new_form_secret();
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
    co_return true;
  }
  if (encoded > manager_->options.stored_bytes_max) {
    co_return fail(Code::out_of_range,
                   fmt::format("the session would have {} bytes, and sessions.stored_bytes_max is "
                               "{}; keep less in it",
                               encoded, manager_->options.stored_bytes_max));
  }
  co_return co_await keep_stored(std::move(record), renewed);
}

Task<Result<void>> UserSession::set_content(std::string content) const {
  const Result<void> loaded = co_await load();
  if (!loaded) co_return loaded;
  if (state_.former) co_return std::unexpected(changed_meanwhile());
  if (state_.record != nullptr && state_.record->content == content) co_return {};
  SessionRecord record = copy_of_record();
  record.content = std::move(content);
  const Result<bool> kept = co_await keep(std::move(record), false);
  if (!kept) co_return std::unexpected(kept.error());
  if (!*kept) co_return std::unexpected(changed_meanwhile());
  co_return {};
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
  co_return co_await keep_renewed(std::move(who));
}

// A login and a renewal do not read the content of the session. Content that another request writes
// meanwhile is therefore kept. Removed content does not come back.
Task<Result<void>> UserSession::keep_renewed(std::optional<auth::PrincipalFacts> who) const {
  bool may_begin = true;
  for (int renewals = 0; renewals < renewals_max; ++renewals) {
    const Result<void> loaded = co_await load();
    if (!loaded) co_return loaded;
    if (state_.record == nullptr && (!may_begin || (state_.former && !who))) break;
    if (state_.record == nullptr && !who && manager_->store != nullptr) {
      SessionId visitor = SessionId::make_visitor();
      state_.id = std::move(visitor);
      state_.cookie = Cookie::set;
      co_return {};
    }
    SessionRecord record = copy_of_record();
    may_begin = may_begin && who && record.principal.empty();
    if (who) set_principal(record, *who, record.seen_s);
    const Result<bool> kept = co_await keep(std::move(record), true);
    if (!kept) co_return std::unexpected(kept.error());
    if (*kept) co_return {};
  }
  co_return std::unexpected(changed_meanwhile());
}

Task<Result<void>> UserSession::renew() const { co_return co_await keep_renewed(std::nullopt); }

Task<Result<void>> UserSession::end() const {
  const Result<void> loaded = co_await load();
  if (!loaded) co_return loaded;
  // A request under the former id ends the renewed session, whose cookie may arrive later.
  const std::optional<SessionId> id = state_.former ? SessionId::parse(cookie_.bytes()) : state_.id;
  if ((state_.record != nullptr || state_.former) && manager_->store != nullptr) {
    const SessionKey key = id->key();
    const Result<void> removed = co_await manager_->store->remove(key);
    if (!removed) co_return std::unexpected(removed.error().within("the session cannot be ended"));
  }
  state_.id.reset();
  state_.former = false;
  state_.record.reset();
  state_.cookie = cookie_.empty() ? Cookie::as_it_is : Cookie::removed;
  co_return {};
}

Task<Result<std::int64_t>> UserSession::end_others() const {
  if (manager_->sealer) {
    co_return fail(Code::unsupported,
                   "sessions that are cookies cannot be ended from here; keep them in a store");
  }
  for (int rounds = 0; rounds < renewals_max; ++rounds) {
    const Result<void> loaded = co_await load();
    if (!loaded) co_return std::unexpected(loaded.error());
    if (state_.record == nullptr || state_.record->principal.empty()) {
      co_return fail(Code::unauthenticated, "No user is logged in.");
    }
    // Variables: arguments must not be temporaries of the expression that awaits the call.
    std::string issuer = state_.record->issuer;
    std::string principal = state_.record->principal;
    const SessionKey key = state_.id->key();
    const Result<std::optional<std::int64_t>> ended = co_await manager_->store->remove_others(
        std::move(issuer), std::move(principal), key, state_.version);
    if (!ended) co_return std::unexpected(ended.error());
    if (*ended) co_return **ended;
    state_.loaded = false;
    state_.record.reset();
  }
  co_return std::unexpected(changed_meanwhile());
}

// With a store the secret is made only from the cookie, and nothing is loaded.
Task<Result<std::string>> UserSession::known_form_secret() const {
  if (manager_->store != nullptr) {
    state_.touched = true;
    if (!state_.id && !state_.loaded) state_.id = SessionId::parse(cookie_.bytes());
    co_return state_.id ? state_.id->form_secret() : std::string();
  }
  const Result<void> loaded = co_await load();
  if (!loaded) co_return std::unexpected(loaded.error());
  if (state_.record == nullptr) co_return std::string();
  co_return state_.record->form_secret;
}

Task<Result<std::string>> UserSession::form_secret() const {
  const Result<void> loaded = co_await load();
  if (!loaded) co_return std::unexpected(loaded.error());
  if (manager_->store != nullptr) {
    if (!state_.id) state_.id = SessionId::make_visitor();
    // The id is new, or the session of the cookie has ended.
    if (cookie_.empty() || state_.cookie == Cookie::removed) state_.cookie = Cookie::set;
    co_return state_.id->form_secret();
  }
  if (state_.record == nullptr) {
    SessionRecord record = copy_of_record();
    const Result<bool> kept = co_await keep(std::move(record), false);
    if (!kept) co_return std::unexpected(kept.error());
  }
  co_return state_.record->form_secret;
}

Result<void> UserSession::finish(Reply& reply) const {
  if (!state_.touched) return {};
  // A shared cache must not keep a reply that was made for one user (RFC 9111 §7.3).
  reply.add_field("Vary", "Cookie");
  if (state_.cookie != Cookie::as_it_is || !find_field(reply.fields(), "Cache-Control")) {
    reply.add_field("Cache-Control", "no-store");
  }
  if (state_.cookie == Cookie::as_it_is) return {};
  SetCookie cookie = manager_->cookie();
  if (state_.cookie == Cookie::removed) return remove_cookie(reply, cookie);
  const std::string value =
      manager_->sealer ? manager_->sealer->seal(*state_.record) : state_.id->text();
  cookie.value = value;
  if (manager_->options.persistent) cookie.max_age = manager_->options.absolute_lifetime;
  return set_cookie(reply, cookie);
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
