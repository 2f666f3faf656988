// in_transaction(): a handler whose statements take effect together, or not at all.
//
//   Task<Answer<Json<Desk>>> move(database::Transaction& within, Path<std::int64_t> id,
//                                 Json<Place> place);
//   router.put("/desks/{id}/place", app::in_transaction(move));
//
// The first parameter of the handler is the transaction; the others are as those of any handler. It
// runs as the body of database::transact(): an Error, and a reply with a status of 400 or above,
// roll back. The handler runs again after a conflict with another transaction, with copies of its
// parameters.
//
// Owns       the parameters, until the transaction has ended.
// Borrows    the database, which the registry has.
// Thread     the reactor's.
// Allocates  as transact(), and a copy of the parameters for each run.
// Fails      as transact(). A handler that takes a parameter by reference does not compile.
// Invariant  a reply of success is sent behind the commit.
#pragma once

#include <type_traits>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/http/handlers/parameters.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::app {
namespace detail {

template <class R, class... P>
Task<R> run_in_transaction(Task<R> (*handler)(database::Transaction&, P...),
                           Inject<database::Database> database, P... given) {
  auto body = [&](database::Transaction& within) -> Task<R> { return handler(within, given...); };
  co_return co_await database::transact(*database, body);
}

}  // namespace detail

// A handler for the router. R is a Result or an Answer.
template <class R, class... P>
auto in_transaction(Task<R> (*handler)(database::Transaction&, P...)) {
  static_assert((!std::is_reference_v<P> && ...),
                "a handler in a transaction may run again: it takes its parameters by value");
  return [handler](Inject<database::Database> database, P... given) -> Task<R> {
    return detail::run_in_transaction<R, P...>(handler, std::move(database), std::move(given)...);
  };
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
