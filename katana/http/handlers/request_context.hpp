// RequestContext: what the middleware of a request has found out, for the middleware and the
// handler behind it. FromContext<T>: a parameter that takes a value from it.
//
//   Result<User> authenticate(Header<Credentials> credentials, Inject<Users> users);
//   api.use(authenticate);
//   api.get("/me", [](FromContext<User> user) { return Json(Profile{user->name}); });
//
// Owns       the values, shared with every handler that took them as a parameter; the content, when
//            a middleware reads it.
// Thread     its reactor's. A FromContext may go to another thread, and the value is const there.
// Allocates  from the recycler: itself and each value. A route without functions as middleware has
//            none.
// Fails      never: build() refuses a route whose handler takes what nothing provides.
// Invariant  of two values of one type the one that was provided last counts. All are destroyed
//            when the reply is complete and the work of the request has ended, unless a FromContext
//            still has them: a place in a limit travels with the work that it let on. A type with
//            `static constexpr bool is_place = true` is such a place, and is kept for as long as a
//            WebSocket connection that the request became.
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

// What middleware in front of the handler has found: the value of its std::expected<T, Reply>. A
// route whose middleware provides no T is an error of Router::build().
template <class T>
class FromContext {
 public:
  // For tests that call a handler themselves.
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
// Null: nothing provided it.
template <class Key, class T>
std::shared_ptr<T> find() const noexcept {
  return std::static_pointer_cast<T>(look_up(registry::type_info_of<Key>()));
}

// Content that is here, for a request that goes on after the call which lent it, and what decoded
// it, which is charged for it; null: nothing did.
void keep_content(Text content, std::unique_ptr<ContentDecoder> decoder = nullptr) noexcept {
  content_ = std::move(content);
  decoder_ = std::move(decoder);
}
const std::optional<Text>& content() const noexcept { return content_; }
// No longer read: the handler has begun.
void drop_content() noexcept {
  content_.reset();
  decoder_.reset();
}

std::size_t held_bytes() const noexcept override;
void on_exchange_end(const session::RequestShare& self) noexcept override;
bool keep_places() noexcept override;

// Of the route's middleware, which is called next.
std::size_t next = 0;
// What a function that suspended has come to: an answer, an exception, or neither.
std::optional<Reply> answer;
std::exception_ptr thrown;
// Of the reply, before it is sent; null: none, or it was taken.
std::unique_ptr<ReplyRecorder> recorder;

private:
struct Value {
  const registry::TypeInfo* type;
  std::size_t (*bytes)(const void*);
  std::shared_ptr<void> object;
  bool is_place;
};
// Found out when somebody asks: most requests end before.
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
