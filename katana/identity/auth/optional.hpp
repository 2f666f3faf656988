// optional(): identifies the client on routes that also serve clients without credentials.
//
//   Group open = router.anonymous();
//   open.use(auth::optional(auth::bearer(…)));
//   open.get("/articles", [](FromContext<std::optional<auth::Principal>> who) { … });
//
//   no credentials           the request goes on; there is no principal
//   valid credentials        the request goes on with their principal
//   invalid credentials      refused as by the Authentication alone: 401, 400 or 503; a client with
//                            an expired token learns that, and is not treated as anonymous
//
// The OpenAPI document has the schemes of the Authentication, and the alternative without any.
//
// Owns       a share of the authenticators.
// Thread     the reactor's; one object serves all reactors.
// Allocates  as the Authentication does.
// Fails      as the Authentication does, except for requests without credentials.
// Invariant  it does not provide the Principal that require() and FromContext<Principal> need. A
//            route behind it that needs a principal is an error of Router::build().
#pragma once

#include <optional>

#include "katana/identity/auth/authenticator.hpp"

namespace katana::auth {

// Returns middleware for Group::use() of an anonymous() group.
Middleware optional(const Authentication& how);

}  // namespace katana::auth

template <>
inline constexpr katana::session::Personal
    katana::personal_value<std::optional<katana::auth::Principal>> =
        katana::session::Personal::principal;

// SPDX-License-Identifier: Apache-2.0
