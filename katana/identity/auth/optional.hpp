// optional(): who asks, on routes that also serve clients without credentials.
//
//   Group open = router.anonymous();
//   open.use(auth::optional(auth::bearer(…)));
//   open.get("/articles", [](FromContext<std::optional<auth::Principal>> who) { … });
//
//   no credentials           the request goes on; there is no principal
//   credentials that fit     the request goes on with their principal
//   credentials that do not  refused as by the Authentication alone: 401, 400 or 503; a client
//                            whose token has expired learns that, and is not taken for a stranger
//
// OpenAPI has the schemes of the Authentication, and that none is needed as well.
//
// Owns       a share of the authenticators.
// Thread     the reactor's; one object serves all reactors.
// Allocates  as the Authentication does.
// Fails      as the Authentication does, but for requests without credentials.
// Invariant  what require() and FromContext<Principal> ask for is not provided: a route behind it
//            that needs a principal is an error of Router::build().
#pragma once

#include <optional>

#include "katana/identity/auth/authenticator.hpp"

namespace katana::auth {

// For Group::use() of an anonymous() group.
Middleware optional(const Authentication& how);

}  // namespace katana::auth

template <>
inline constexpr katana::session::Personal
    katana::personal_value<std::optional<katana::auth::Principal>> =
        katana::session::Personal::principal;

// SPDX-License-Identifier: Apache-2.0
