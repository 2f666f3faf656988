// Context and Scope: fields that every record of a thread carries while a scope is open, such as
// the id of the current request.
//
//   log::Context context(field("request_id", id), field("trace_id", trace));
//   log::Scope scope(context);        // until the end of the block
//
// A scope belongs to a thread, not to a coroutine, and must not be held across a co_await. The
// thread's Activity (base/coroutine/activity.hpp), with its context, is carried across. A server
// gives each request one: every record of its handler has the fields.
//
// Owns       a Context keeps copies of its values.
// Borrows    a Scope its Context, for as long as it is open.
// Thread     a Context is a value; a Scope stays on its thread. Scopes are closed in reverse order.
// Allocates  never.
// Fails      never: fields beyond context_bytes_max are left out, and overflowed() reports it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "katana/base/coroutine/activity.hpp"
#include "katana/observe/log/capture.hpp"

namespace katana::log {

// The limit of all captured fields together, with their names.
inline constexpr std::size_t context_bytes_max = 256;

class Context {
 public:
  Context() noexcept = default;
  template <class... T>
  explicit Context(const Field<T>&... fields) noexcept {
    (add(fields), ...);
  }

  // A field that does not fit is left out, and overflowed() is true.
  template <class T>
  void add(const Field<T>& one) noexcept {
    static_assert(Loggable<T> && (Textual<T> || is_rendered<T> || !Described<T>),
                  "a context keeps single values: no structs");
    const auto captured = capture(one.value);
    const std::size_t bytes = sizeof one.name + 1 + captured_bytes(captured);
    if (bytes > context_bytes_max - size_) {
      overflowed_ = true;
      return;
    }
    char* at = octets_.data() + size_;
    std::memcpy(at, &one.name, sizeof one.name);
    at[sizeof one.name] = static_cast<char>(detail::kind_of<T>());
    put(at + sizeof one.name + 1, captured);
    size_ += static_cast<std::uint16_t>(bytes);
  }
  void clear() noexcept { size_ = 0, overflowed_ = false; }  // removes all fields

  Bytes bytes() const noexcept { return {octets_.data(), size_}; }  // captured fields, for records
  bool overflowed() const noexcept { return overflowed_; }  // a field was left out since clear()

 private:
  std::array<char, context_bytes_max> octets_;
  std::uint16_t size_ = 0;
  bool overflowed_ = false;
};

// The context of the thread's activity; null: none.
inline const Context* current_context() noexcept {
  return current_activity != nullptr ? current_activity->log_context : nullptr;
}

class [[nodiscard]] Scope {
 public:
  explicit Scope(const Context& context) noexcept
      : activity_(activity_with(context)), scope_(&activity_) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  // A copy of the thread's activity with other fields.
  static Activity activity_with(const Context& context) noexcept {
    Activity activity = current_activity != nullptr ? *current_activity : Activity();
    activity.log_context = &context;
    return activity;
  }

  const Activity activity_;
  const ActivityScope scope_;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
