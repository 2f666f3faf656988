// Redirects: the request that follows a reply of 3xx (RFC 9110 §15.4), without the credentials that
// another origin must not get.
//
// Owns       nothing.
// Borrows    its arguments for the call.
// Thread     any; there is no state.
// Allocates  the texts of the request that follows.
// Fails      follow_redirect() names the target that cannot or must not be requested, and the
//            remedy.
// Invariant  no credential reaches an origin other than the one that the caller named. A field that
//            is removed for a foreign origin does not come back at a later hop.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/client/options.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/client/url.hpp"

namespace katana::client {

// True for 301, 302, 303, 307 and 308; a reply needs Location, too.
bool is_redirect(unsigned status) noexcept;

// The absolute form of a reference in a document at `base` (RFC 3986 §5.2). Nothing is validated.
std::string resolve_reference(const Url& base, Bytes reference);

// Turns `request`, which was sent to `from`, into the request that follows. POST becomes GET after
// 301 and 302, every method but HEAD after 303. The new request then has no body, and no field
// about one. REQUIRES is_redirect(status).
Result<void> follow_redirect(Request& request, const Url& from, unsigned status, Bytes location,
                             const HttpClientOptions& options);

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
