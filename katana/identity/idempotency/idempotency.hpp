// Idempotency: requests that may be sent twice and are carried out once, by the field
// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07).
//
//   auto keys = idempotency::Idempotency::make({}, std::make_shared<idempotency::MemoryStore>());
//   api.use(auth::bearer(…)).use(keys->middleware());
//   api.post("/orders", create_order);
//
//   a new key                        the handler; its reply is kept, and then sent
//   the same, the same request       the same reply again, with Idempotent-Replayed: true
//   the same, another request        422
//   the same, while it is carried out   409 with Retry-After
//   none, where it is required       400, as for a malformed one
//
// A request is the same by method, path, query, Content-Type and content. Keys are told apart by
// principal and route. Replies of 5xx and of `released_statuses` are not kept: the key is free, and
// the next request is carried out.
//
// The handler of a request with a key, if it is a Task<Reply>, goes on when its client has left or
// has ended its side: the client comes back for the reply. Until it has ended it counts in every
// limit that admitted its request (concurrency, the client's requests, the streams of its
// connection, memory), and it has the time that it had. A handler that writes its reply in pieces
// is cancelled as ever, and a reply that is streamed is not kept: its key answers 409 from then on.
// The key of a request whose client left before its handler began is free at once.
//
// Exactly once is promised where the handler keeps its reply in the transaction of its work
// (database/key_table.hpp). Otherwise a process that dies between the two, or a handler whose time
// is up, lets the next request with the key be carried out again, once the lease has ended.
//
// Owns       its options, and a share of the store.
// Thread     any; requests on their reactor's.
// Allocates  for a request with a key: digests, frames, the encoded reply. Without: a value in the
//            RequestContext.
// Fails      make() names the option. A store that fails: 503, or see runs_without_store. A reply
//            that cannot be kept is sent, and the failure recorded.
// Invariant  the content of the request is read before; it is behind whatever authenticates.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/identity/idempotency/options.hpp"
#include "katana/identity/idempotency/store.hpp"

namespace katana::idempotency {

namespace detail {
struct State;
struct HandlerMark;
}  // namespace detail

// What handlers behind the middleware may take, as FromContext<IdempotentRequest>.
class IdempotentRequest {
 public:
  IdempotentRequest() = default;
  IdempotentRequest(std::shared_ptr<const detail::State> state, const Claim& claim,
                    std::shared_ptr<detail::HandlerMark> mark) noexcept;

  // False: it came without one.
  bool has_key() const noexcept { return state_ != nullptr; }
  // REQUIRES has_key(), each.
  const Claim& claim() const noexcept { return claim_; }
  // As stores keep it.
  std::string encode(const Reply& reply) const;
  Duration kept() const noexcept;
  // The handler has kept it itself.
  void note_kept() const noexcept;

 private:
  std::shared_ptr<const detail::State> state_;
  Claim claim_;
  std::shared_ptr<detail::HandlerMark> mark_;
};

}  // namespace katana::idempotency

template <>
inline constexpr katana::session::Personal
    katana::personal_value<katana::idempotency::IdempotentRequest> =
        katana::session::Personal::none;

namespace katana::idempotency {

class Idempotency {
 public:
  // The Error names the option. Takes a share of the store.
  static Result<Idempotency> make(Options options, std::shared_ptr<Store> store);

  // For use().
  Middleware middleware() const;
  Statistics statistics() const noexcept;
  const Options& options() const noexcept;

 private:
  explicit Idempotency(std::shared_ptr<detail::State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<detail::State> state_;
};

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
