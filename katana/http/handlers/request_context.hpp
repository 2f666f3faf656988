// RequestContext: values that the middleware of a request provides for the middleware and the
// handler behind it. FromContext<T>: a parameter that takes a value from it.
//
//   Result<User> authenticate(Header<Credentials> credentials, Inject<Users> users);
//   api.use(authenticate);
//   api.get("/me", [](FromContext<User> user) { return Json(Profile{user->name}); });
//
// Owns       the values, shared with every handler that took them as a parameter; the body, when a
//            middleware reads it.
// Thread     its reactor's. A FromContext may go to another thread, and the value is const there.
// Allocates  from the recycler: itself and each value. A route without functions as middleware has
//            none.
// Fails      never: build() refuses a route whose handler takes a value that no middleware
//            provides.
// Invariant  if a type has two values, the one that was provided last counts. All values are
//            destroyed when the reply is complete and the work of the request has ended, unless a
//            FromContext still has them. A place in a limit thus lives as long as the work that it
//            admitted. A type with `static constexpr bool is_place = true` is such a place. If the
//            request becomes a WebSocket connection, the place is kept as long as the connection.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "katana/base/memory/recycler.hpp"
#include "katana/base/registry/type_info.hpp"
#include "katana/base/text/text.hpp"
#include "katana/data/container/heap_bytes.hpp"
#include "katana/http/handlers/decompression.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/reply_recorder.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana {

// A value of the middleware in front of the handler: the value of its std::expected<T, Reply>. A
// route whose middleware provides no T is an error of Router::build().
template <class T>
class FromContext {
 public:
  // For tests that call a handler directly.
  explicit FromContext(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  explicit FromContext(std::shared_ptr<const T> value) noexcept : value_(std::move(value)) {}
  const T& operator*() const noexcept { return *value_; }
  const T* operator->() const noexcept { return value_.get(); }

 private:
  std::shared_ptr<const T> value_;
};

namespace detail {

class RequestContext final : public session::RequestState {
 public:
  // REQUIRES a route with functions as middleware, whose first has been called.
  static RequestContext& of(session::Exchange& exchange) noexcept {
    return static_cast<RequestContext&>(*exchange.kept());
  }

  // `Key` finds it again; FromContext<T> looks for T.
  template <class Key, class T>
  void provide(T&& value) {
    using Object = std::remove_cvref_t<T>;
    values_.push_back(
        {registry::type_info_of<Key>(), &bytes_of_object<Object>,
         std::allocate_shared<Object>(recycler::Allocator<Object>(), std::forward<T>(value)),
         requires { requires Object::is_place;
  }});
}  // namespace detail
// Returns null if no middleware provided it.
template <class Key, class T>
std::shared_ptr<T> find() const noexcept {
  return std::static_pointer_cast<T>(look_up(registry::type_info_of<Key>()));
}

// Keeps the received body for a request that continues after the call which lent it. `decoder` is
// charged for the memory of the decoded body; null: the body was not decoded.
void keep_content(Text content, std::unique_ptr<ContentDecoder> decoder = nullptr) noexcept {
  content_ = std::move(content);
  decoder_ = std::move(decoder);
}
const std::optional<Text>& content() const noexcept { return content_; }
// The body is no longer needed: the handler has begun.
void drop_content() noexcept {
  content_.reset();
  decoder_.reset();
}

std::size_t held_bytes() const noexcept override;
void on_exchange_end(const session::RequestShare& self) noexcept override;
bool keep_places() noexcept override;

// The index of the next middleware of the route.
std::size_t next = 0;
// The result of a function that suspended: a reply, an exception, or neither.
std::optional<Reply> answer;
std::exception_ptr thrown;
// The recorder of the reply, until it is taken; null: there is none.
std::unique_ptr<ReplyRecorder> recorder;

private:
struct Value {
  const registry::TypeInfo* type;
  std::size_t (*bytes)(const void*);
  std::shared_ptr<void> object;
  bool is_place;
};
// Computed on demand: most requests end before.
template <class Object>
static std::size_t bytes_of_object(const void* object) {
  return sizeof(Object) + container::known_heap_bytes(*static_cast<const Object*>(object)).bytes;
}
std::shared_ptr<void> look_up(const registry::TypeInfo* type) const noexcept;

std::vector<Value, recycler::Allocator<Value>> values_;
std::optional<Text> content_;
std::unique_ptr<ContentDecoder> decoder_;
};  // namespace katana

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
