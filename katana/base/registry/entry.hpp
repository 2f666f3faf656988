// Entry: one registered service with its type erased: its type, its needs and its factory.
//
// Owns       the factory.
// Thread     a value; `make` may be called by several threads at once unless the service is a
//            singleton.
// Allocates  where it is registered.
// Fails      make() gives the factory's Error, or one that describes the exception of the factory.
// Invariant  the parameters of the factory are the dependencies. No second list exists that could
//            differ.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/registry/type_info.hpp"
#include "katana/base/system/result.hpp"

namespace katana::registry {

// The time for which an instance of a service lives.
enum class Lifetime : std::uint8_t {
  singleton,  // made once, when the registry is sealed
  scoped,     // made once in each scope, when it is first asked for there
  transient,  // made for each parameter, which owns it
};
// The name for messages: "singleton".
std::string_view lifetime_name(Lifetime lifetime) noexcept;

namespace detail {

// Destroys the object of a factory as its real type, independent of its interface.
struct Destroyer {
  void* object = nullptr;
  void (*destroy)(void*) noexcept = nullptr;

  void operator()(const void*) const noexcept {
    if (destroy != nullptr) destroy(object);
  }
};

// The result of a factory: a pointer to the interface, and the destroyer.
struct Made {
  void* interface = nullptr;
  Destroyer owner;

  void end() const noexcept { owner(nullptr); }
};

}  // namespace detail

// A transient service, owned by the service that takes it. T needs no virtual destructor.
template <class T>
using Owned = std::unique_ptr<T, detail::Destroyer>;

namespace detail {

enum class NeedKind : std::uint8_t {
  shared,    // T&: a singleton or scoped service
  optional,  // T*: a singleton or scoped service, or null
  owned,     // Owned<T>: a transient service
};
struct Need {
  const TypeInfo* type;
  NeedKind kind;
};

// The type and the kind of a factory's parameter, and the conversion from the found service to it.
template <class T>
struct Parameter;  // a factory's parameters are T&, T* or Owned<T>
template <class T>
struct Parameter<T&> {
  static Need need() { return {type_info_of<std::remove_const_t<T>>(), NeedKind::shared}; }
  static T& from(Made& made) { return *static_cast<T*>(made.interface); }
};
template <class T>
struct Parameter<T*> {
  static Need need() { return {type_info_of<std::remove_const_t<T>>(), NeedKind::optional}; }
  static T* from(Made& made) { return static_cast<T*>(made.interface); }
};
template <class T>
struct Parameter<Owned<T>> {
  static Need need() { return {type_info_of<T>(), NeedKind::owned}; }
  static Owned<T> from(Made& made) {
    return Owned<T>(static_cast<T*>(std::exchange(made.interface, nullptr)),
                    std::exchange(made.owner, {}));
  }
};

using Make = std::move_only_function<Result<Made>(std::span<Made> arguments)>;

struct Entry {
  const TypeInfo* type = nullptr;
  Lifetime lifetime = Lifetime::singleton;
  std::source_location where;
  std::vector<Need> needs;
  mutable Make make;   // a scope calls it through a const Services; see Registry on threads
  bool alias = false;  // its lifetime is that of the service it needs
};

// The parameters of a callable without overloads, and whether a call may change the callable.
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... P>
struct Signature<R (*)(P...)> {
  static constexpr bool changes_itself = false;
  using Parameters = std::tuple<std::type_identity<P>...>;
};
template <class R, class... P>
struct Signature<R (*)(P...) noexcept> : Signature<R (*)(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...)> : Signature<R (*)(P...)> {
  static constexpr bool changes_itself = true;
};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) const> : Signature<R (*)(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) noexcept> : Signature<R (C::*)(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) const noexcept> : Signature<R (*)(P...)> {};

template <class T, class U>
Result<Made> made_of(std::unique_ptr<U> object) {
  static_assert(std::is_convertible_v<U*, T*>, "the factory's object is no T");
  if (object == nullptr) return fail(Code::internal, "its factory returned null");
  U* const raw = object.release();
  return Made{static_cast<T*>(raw),
              {raw, [](void* each) noexcept { delete static_cast<U*>(each); }}};
}
template <class T, class U>
Result<Made> made_of(Result<std::unique_ptr<U>> object) {
  if (!object) return std::unexpected(std::move(object).error());
  return made_of<T>(std::move(*object));
}

// Makes an Error from the exception that is being handled.
Error error_of_exception();

template <class T, class F>
Make make_with(F factory) {
  using Parameters = typename Signature<F>::Parameters;
  return [factory = std::move(factory)](std::span<Made> arguments) mutable -> Result<Made> {
    try {
      return [&]<class... P, std::size_t... I>(std::type_identity<std::tuple<P...>>,
                                               std::index_sequence<I...>) {
        return made_of<T>(factory(Parameter<typename P::type>::from(arguments[I])...));
      }(std::type_identity<Parameters>{},
             std::make_index_sequence<std::tuple_size_v<Parameters>>{});
    } catch (...) {
      return std::unexpected(error_of_exception());
    }
  };
}

template <class F>
std::vector<Need> needs_of() {
  return []<class... P>(std::type_identity<std::tuple<P...>>) {
    return std::vector<Need>{Parameter<typename P::type>::need()...};
  }(std::type_identity<typename Signature<F>::Parameters>{});
}

}  // namespace detail
}  // namespace katana::registry

// SPDX-License-Identifier: Apache-2.0
