// Form tokens: what a form of one of our pages has and a page of another origin cannot know, so
// that what it sends was meant by its user. Behind csrf() (http/middleware/csrf.hpp), which is
// enough for today's browsers, and for those that do not say where a request comes from.
//
//   Task<Result<Reply>> page(FromContext<sessions::UserSession> session) {
//     const Result<std::string> token = co_await sessions::form_token(session);
//     if (!token) co_return std::unexpected(token.error());
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
// Invariant  each page has another token of the same secret, so that its compressed length tells
//            nothing (BREACH). The secret is the session's, and changes at login.
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

// Makes a session if there is none.
Task<Result<std::string>> form_token(FromContext<UserSession> session);
Html form_token_field(Bytes token);

// The token of a request: of the field X-CSRF-Token, which scripts set, or of the form in its
// content. A parameter of handlers and middleware; the content is read before.
struct SentFormToken {
  std::string value;             // empty: none
  bool changes_nothing = false;  // GET, HEAD, OPTIONS, TRACE: none is needed
};

// Middleware: 403 unless the request changes nothing, or has a token of its session.
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
