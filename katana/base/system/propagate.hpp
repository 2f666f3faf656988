// KATANA_TRY, KATANA_TRY_DONE, KATANA_CO_TRY, KATANA_CO_TRY_DONE: take the value of a Result, or
// return its error to the caller.
//
//   Result<Order> load(int id) {
//     KATANA_TRY(const auto text, read_file(id));
//     KATANA_TRY(Order order, parse_order(text));
//     return order;
//   }
//
//   Task<Result<Reply>> show(Path<int> id, Inject<database::Database> db) {
//     KATANA_CO_TRY(const auto user, co_await db->query_one<User>("SELECT …", *id));
//
//     KATANA_CO_TRY_DONE(co_await db->execute("UPDATE …", *id));
//     co_return json_reply(*user);
//   }
//
// Each macro expands to the statements of a hand-written check. The Result gets a name before it is
// examined, because a compiler could otherwise destroy a temporary twice (decision 0018). The
// macros are statements: behind an `if` without braces they do not compile. An error of a narrower
// type (database::Error) is converted to the error type of the function's Result.
//
// Owns       the Result, to the end of the block.
// Thread     any.
// Allocates  never.
// Fails      as the expression does.
// Invariant  the expression is evaluated once, and the value is moved once.
#pragma once

#include <expected>
#include <utility>

namespace katana::detail {

template <class T, class E>
std::unexpected<E> error_of(std::expected<T, E>&& result) {
  return std::unexpected<E>(std::move(result).error());
}

}  // namespace katana::detail

#define KATANA_TRY_JOIN_(one, other) one##other
#define KATANA_TRY_NAME_(one, other) KATANA_TRY_JOIN_(one, other)

#define KATANA_TRY_STEP_(leave, result, ...) \
  auto result = __VA_ARGS__;                 \
  if (!result) [[unlikely]]                  \
  leave ::katana::detail::error_of(std::move(result))

#define KATANA_TRY_VALUE_(leave, result, declaration, ...) \
  KATANA_TRY_STEP_(leave, result, __VA_ARGS__);            \
  declaration = *std::move(result)

// For a function that returns a Result.
#define KATANA_TRY(declaration, ...) \
  KATANA_TRY_VALUE_(return, KATANA_TRY_NAME_(katana_try_, __LINE__), declaration, __VA_ARGS__)
// The same for a Result<void>, which has no value.
#define KATANA_TRY_DONE(...) \
  KATANA_TRY_STEP_(return, KATANA_TRY_NAME_(katana_try_, __LINE__), __VA_ARGS__)

// For a coroutine that returns a Result.
#define KATANA_CO_TRY(declaration, ...) \
  KATANA_TRY_VALUE_(co_return, KATANA_TRY_NAME_(katana_try_, __LINE__), declaration, __VA_ARGS__)
// The same for a Result<void> in a coroutine.
#define KATANA_CO_TRY_DONE(...) \
  KATANA_TRY_STEP_(co_return, KATANA_TRY_NAME_(katana_try_, __LINE__), __VA_ARGS__)

// SPDX-License-Identifier: Apache-2.0
