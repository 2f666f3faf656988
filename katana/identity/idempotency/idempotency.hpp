// Idempotency: carries out a request once although the client may send it twice, by the field
// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07).
//
//   auto keys = idempotency::Idempotency::make({}, std::make_shared<idempotency::MemoryStore>());
//   api.use(auth::bearer(…)).use(keys->middleware());
//   api.post("/orders", create_order);
//
//   a new key                        the handler runs; its reply is kept, and then sent
//   a used key, the same request     the same reply again, with Idempotent-Replayed: true
//   a used key, another request      422
//   a key of a running request       409 with Retry-After
//   no key, where it is required     400, as for a malformed one
//
// Requests are the same if method, path, query, Content-Type and body are equal. A key is separate
// for each principal and route. Replies with 5xx and `released_statuses` are not kept: the key is
// free, and the next request is carried out.
//
// A handler that is a Task<Reply> goes on when the client of a request with a key has left or has
// closed its side. The client can retry for the reply. Until the handler ends it counts in
// every limit that admitted its request: concurrency, the client's requests, the streams of its
// connection, memory. Its timeout stays the same. A handler that writes its reply in pieces is
// cancelled as usual. A streamed reply is not kept, and its key is answered with 409 from then on.
// If the client left before the handler began, the key is free at once.
//
// Execution exactly once is guaranteed if the handler keeps its reply in the transaction of its
// work (database/key_table.hpp). Otherwise a process may die between the two, or the handler may
// time out. The next request with the key is then carried out again, once the lease has ended.
//
// Owns       its options, and a share of the store.
// Thread     any; requests on their reactor's.
// Allocates  for a request with a key: digests, frames, the encoded reply. Without: a value in the
//            RequestContext.
// Fails      make() names the wrong option. A store that fails: 503, or see runs_without_store. A
//            reply that cannot be kept is sent, and the failure is recorded.
// Invariant  it runs after the request body is read, and behind the authentication.
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

// A request behind the middleware. Handlers may take it as FromContext<IdempotentRequest>.
class IdempotentRequest {
 public:
  IdempotentRequest() = default;
  IdempotentRequest(std::shared_ptr<const detail::State> state, const Claim& claim,
                    std::shared_ptr<detail::HandlerMark> mark) noexcept;

  // False: the request has no key.
  bool has_key() const noexcept { return state_ != nullptr; }
  // The claim of its key. This and the functions below REQUIRE has_key().
  const Claim& claim() const noexcept { return claim_; }
  // The reply in the form of stores.
  std::string encode(const Reply& reply) const;
  Duration kept() const noexcept;
  // Tells that the handler has kept the reply.
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
  // Returns an Error that names the wrong option. Takes a share of the store.
  static Result<Idempotency> make(Options options, std::shared_ptr<Store> store);

  // Returns the middleware, for use().
  Middleware middleware() const;
  Statistics statistics() const noexcept;
  const Options& options() const noexcept;

 private:
  explicit Idempotency(std::shared_ptr<detail::State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<detail::State> state_;
};

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
