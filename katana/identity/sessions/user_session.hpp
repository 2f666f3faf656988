// UserSession: the session of the browser that sent a request, found by its cookie. Handlers behind
// Sessions::middleware() take it as FromContext<UserSession>.
//
//   struct Cart { std::vector<std::int64_t> items; };
//   KATANA_DESCRIBE(Cart, items)
//
//   Task<Result<Reply>> add(Path<std::int64_t> item, FromContext<sessions::UserSession> session) {
//     Result<std::optional<Cart>> cart = co_await session->get<Cart>();
//     if (!cart) co_return std::unexpected(cart.error());
//
//     Cart changed = cart->value_or(Cart{});
//     changed.items.push_back(*item);
//     Result<void> kept = co_await session->set(changed);
//     …
//   }
//
// Nothing is loaded or made before the first of these calls. When they return, their changes are in
// the store, and in the cookie of the reply. Forms of a visitor without a stored session need no
// store: their secret is made from the cookie (session_id.hpp).
//
// Owns       a copy of the cookie's value, and the loaded session.
// Thread     its reactor's. Its calls are awaited one after the other.
// Allocates  from the recycler: itself, and a frame for each call. Records and stores allocate,
//            too.
// Fails      Code::unavailable (503) when the store does not answer. Code::already_exists (409)
//            when another request has changed, renewed or ended the session since this one loaded
//            it. With a store the first write wins, and the next call loads the session again. With
//            cookies the last reply wins. Code::out_of_range when the session would become larger
//            than the options permit.
// Invariant  an id that a client made up is never used: if no session is found, a new one gets an
//            id of the server. A login changes the id. An ended session is never written again;
//            end() ends it even if another request has changed it meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/session/personal.hpp"
#include "katana/identity/auth/principal.hpp"
#include "katana/identity/sessions/store.hpp"

namespace katana::sessions {

namespace detail {
struct SessionManager;
}

class UserSession {
 public:
  // Sessions::middleware() makes it. `cookie`: empty if the request has none. `mark` marks the
  // reply as personal from the first call on; null: replies are not shared.
  UserSession(std::shared_ptr<const detail::SessionManager> manager, Bytes cookie,
              std::shared_ptr<session::PersonalMark> mark = nullptr);
  UserSession(UserSession&&) noexcept = default;
  UserSession& operator=(UserSession&&) noexcept = default;
  ~UserSession() = default;

  // The struct that set() has stored; nothing: there is none, or it had another form, such as
  // before an upgrade.
  template <Described T>
  Task<Result<std::optional<T>>> get() const {
    const Result<void> loaded = co_await load();
    if (!loaded) co_return std::unexpected(loaded.error());
    if (state_.record == nullptr || state_.record->content.empty()) co_return std::nullopt;
    auto value = container::read_message_pack<T>(state_.record->content);
    if (!value) co_return std::nullopt;
    co_return std::optional<T>(*std::move(value));
  }
  // Stores a struct, which must be a variable. g++ 12 destroys an aggregate twice that is made in a
  // co_await expression (decision 0018). Such a call does not compile.
  template <Described T>
  Task<Result<void>> set(const T& value) const {
    return set_content(container::to_message_pack(value));
  }
  template <Described T>
  void set(const T&& value) const = delete;

  // The user who has logged in; nothing: none.
  Task<Result<std::optional<auth::Principal>>> principal() const;
  // Makes `who` the user of this session, under a new id. Values that set() stored stay, even if
  // another request changes them meanwhile. If the session of a visitor ends meanwhile, an empty
  // new one begins. If the session of a user ends meanwhile, no user is logged in, and it returns
  // Code::already_exists. REQUIRES who.id; Code::invalid_argument for text that is not UTF-8.
  Task<Result<void>> log_in(const auth::PrincipalFacts& who) const { return begin_login(who); }
  void log_in(const auth::PrincipalFacts&& who) const = delete;  // a variable, as for set()
  // Gives the session a new id, after a change of rights. Login does it, too.
  Task<Result<void>> renew() const;
  // Logs out: removes the session from the store, and its cookie from the browser. A copy of a
  // cookie that is the session itself ends only by its lifetime. A request with the id that the
  // session had before a renewal in the last minute ends the renewed session.
  Task<Result<void>> end() const;
  // Ends all other sessions of this user, and returns their number. Code::unsupported for sessions
  // that are cookies, Code::unauthenticated when no user has logged in.
  Task<Result<std::int64_t>> end_others() const;

  // The size of the secret of a browser for forms, in bytes of ASCII. The secret changes with the
  // id. A browser without a cookie gets one. With a store it is the cookie of a visitor, for whom
  // nothing is stored.
  static constexpr std::size_t form_secret_bytes = SessionId::form_secret_bytes;
  // The secret of the browser. Fails as set() does.
  Task<Result<std::string>> form_secret() const;
  // The same for the cookie that the request has; empty: it has none that is valid.
  Task<Result<std::string>> known_form_secret() const;

  // Adds to the reply Set-Cookie if the cookie changes, and headers that keep the reply out of
  // caches if the session was read. The maker of this object calls it. Fails as set_cookie() does.
  Result<void> finish(Reply& reply) const;

 private:
  enum class Cookie : std::uint8_t { as_it_is, set, removed };
  struct State {
    bool loaded = false;
    bool touched = false;  // a handler has asked for the session
    bool former = false;   // the id was valid until another request renewed it a moment ago
    Cookie cookie = Cookie::as_it_is;
    std::int64_t version = 0;
    std::optional<SessionId> id;                  // with a store: from the cookie, or a new one
    std::shared_ptr<const SessionRecord> record;  // null: there is no session
  };

  Task<Result<void>> load() const;
  Task<Result<void>> load_stored(std::int64_t now_s) const;
  void open_cookie(std::int64_t now_s) const;
  Task<Result<void>> set_content(std::string content) const;
  Task<Result<void>> begin_login(auth::PrincipalFacts who) const;
  // Keeps the session under a new id. `who` becomes its user; nothing: the user stays.
  Task<Result<void>> keep_renewed(std::optional<auth::PrincipalFacts> who) const;
  // Keeps the record. `renewed`: under a new id, and the old one is invalid. False: another request
  // has changed the session, and the next use loads it again.
  Task<Result<bool>> keep(SessionRecord record, bool renewed) const;
  Task<Result<bool>> keep_stored(SessionRecord record, bool renewed) const;
  SessionRecord copy_of_record() const;

  std::shared_ptr<const detail::SessionManager> manager_;
  Text cookie_;
  std::shared_ptr<session::PersonalMark> mark_;
  mutable State state_;  // mutable, because handlers have the session as const
};

}  // namespace katana::sessions

// The first call sets the mark. A page that takes a session and never calls it may be shared.
template <>
inline constexpr katana::session::Personal katana::personal_value<katana::sessions::UserSession> =
    katana::session::Personal::none;

// SPDX-License-Identifier: Apache-2.0
