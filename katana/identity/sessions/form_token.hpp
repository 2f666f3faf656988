// Form tokens: a token in a form of the program that a page of another origin cannot know. A
// request with it was intended by the user. Use it behind csrf() (http/middleware/csrf.hpp), which
// is enough for current browsers. The token also protects browsers that do not send the origin of a
// request.
//
//   Task<Result<Reply>> page(FromContext<sessions::UserSession> session) {
//     const Result<std::string> token = co_await sessions::form_token(session);
//     if (!token) co_return std::unexpected(token.error());
//
//     co_return html(R"(<form method="post">{}<button>Buy</button></form>)",
//                    sessions::form_token_field(*token));
//   }
//   router.use(sessions->middleware()).use(sessions::require_form_token);
//
// Owns       nothing.
// Thread     the reactor's.
// Allocates  as sessions do, and a token.
// Fails      403 for a request that changes something without a token of its session; 503 when the
//            session cannot be loaded.
// Invariant  each page has a different token of the same secret: the compressed length then reveals
//            nothing (BREACH). The secret belongs to the session, and changes at login.
#pragma once

#include <optional>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/html.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/identity/sessions/user_session.hpp"

namespace katana::sessions {

// Returns a token for a form. Makes a session if there is none.
Task<Result<std::string>> form_token(FromContext<UserSession> session);
Html form_token_field(Bytes token);

// The token of a request, from the field X-CSRF-Token, which scripts set, or from the form in the
// body. It is a parameter of handlers and middleware; the body is read before.
struct SentFormToken {
  std::string value;             // empty: none
  bool changes_nothing = false;  // GET, HEAD, OPTIONS, TRACE: no token is needed
};

// Middleware that answers 403 unless the request changes nothing, or has a token of its session.
Task<std::optional<Reply>> require_form_token(SentFormToken sent, FromContext<UserSession> session);

namespace detail {

std::string mask_form_secret(Bytes secret);
bool is_token_of(Bytes token, Bytes secret);

}  // namespace detail
}  // namespace katana::sessions

namespace katana::detail {

template <>
struct Extractor<sessions::SentFormToken> {
  static std::expected<sessions::SentFormToken, Refusal> from(const RequestView& request,
                                                              std::size_t);
};
template <>
inline constexpr bool wants_content<sessions::SentFormToken> = true;

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
