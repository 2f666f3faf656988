// Registry: services by interface, with the factory of each, until seal() builds them.
//
//   Registry registry;
//   registry.singleton<Clock>([] { return std::make_unique<SystemClock>(); });
//   registry.singleton<Users>([](Database& database, Clock& clock) {
//     return std::make_unique<StoredUsers>(database, clock);
//   });
//
//   Result<std::unique_ptr<Services>> services = std::move(registry).seal();
//   Users& users = (*services)->get<Users>();
//
// Owns       the factories, until seal() hands them on.
// Borrows    the objects of instance(), for as long as the services live.
// Thread     one. Factories of singletons run on the thread that seals. Factories of scoped and
//            transient services run on each thread that asks for one, several at once. Their
//            captures must allow that.
// Allocates  for each registration; never for a lookup.
// Fails      seal() reports all mistakes of the registrations in one Error: registered twice,
//            needed but missing, a circle of needs, a service that outlives its need. When a
//            factory fails, the Error names the service and its needs. The services that were made
//            before are destroyed in reverse order.
// Invariant  a service is made after everything that it needs, and destroyed before it.
//
// The parameters of a factory are what it needs:
//   T&         a singleton or scoped service
//   T*         a singleton or scoped service; null if it is not registered
//   Owned<T>   a transient one, which the parameter owns
// It returns std::unique_ptr<U>, or a Result of that, where U is T or derives from it.
#pragma once

#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/registry/entry.hpp"
#include "katana/base/registry/services.hpp"
#include "katana/base/system/result.hpp"

namespace katana::registry {

class Registry {
 public:
  using Where = std::source_location;  // the place of the registration, for messages

  Registry() = default;
  Registry(Registry&&) = default;
  Registry& operator=(Registry&&) = default;

  // Registers a service that seal() makes once and that is destroyed with the Services. Parameters
  // of `factory` are other services.
  template <class T, class F>
  void singleton(F factory, Where where = Where::current()) {
    add<T>(Lifetime::singleton, std::move(factory), where);
  }
  // Registers a service that is made once in each Scope, when it is first asked for there.
  template <class T, class F>
  void scoped(F factory, Where where = Where::current()) {
    static_assert(!detail::Signature<F>::changes_itself, "threads share it: no mutable factory");
    add<T>(Lifetime::scoped, std::move(factory), where);
  }
  // Registers a service that is made for each parameter, which owns it.
  template <class T, class F>
  void transient(F factory, Where where = Where::current()) {
    static_assert(!detail::Signature<F>::changes_itself, "threads share it: no mutable factory");
    add<T>(Lifetime::transient, std::move(factory), where);
  }
  // Registers a singleton that the caller owns.
  template <class T>
  void instance(std::type_identity_t<T>& object, Where where = Where::current()) {
    entries_.push_back(instance_of<T>(object, where));
  }
  // Registers T as another name of U, which derives from T: the same object and lifetime.
  template <class T, class U>
  void alias(Where where = Where::current()) {
    static_assert(std::is_convertible_v<U*, T*> && !std::is_same_v<T, U>, "U derives from T");
    detail::Entry entry = entry_of<T>(Lifetime::singleton, where);
    entry.alias = true;
    entry.needs = {{type_info_of<U>(), detail::NeedKind::shared}};
    entry.make = [](std::span<detail::Made> arguments) {
      detail::Made& of = arguments.front();
      return Result<detail::Made>(detail::Made{static_cast<T*>(static_cast<U*>(of.interface)),
                                               std::exchange(of.owner, {})});
    };
    entries_.push_back(std::move(entry));
  }

  // Replaces the factory of T, for tests. T keeps its lifetime and its place among the others. The
  // last of several overrides of one T counts. seal() fails when T is not registered.
  template <class T, class F>
  void override_service(F factory, Where where = Where::current()) {
    static_assert(!detail::Signature<F>::changes_itself, "threads share it: no mutable factory");
    detail::Entry entry = entry_of<T>(Lifetime::singleton, where);
    entry.needs = detail::needs_of<F>();
    entry.make = detail::make_with<T>(std::move(factory));
    overrides_.push_back({std::move(entry), true});
  }
  // Replaces T by an object that the caller owns, and that every scope shares.
  template <class T>
  void override_instance(std::type_identity_t<T>& object, Where where = Where::current()) {
    overrides_.push_back({instance_of<T>(object, where), false});
  }

  // Notes for messages that T is switched off, and that `remedy` switches it on. It has no effect
  // where T is registered.
  template <class T>
  void absent(std::string remedy) {
    absent_.push_back({type_info_of<T>(), std::move(remedy)});
  }

  // Checks the registrations, and makes the singletons in the order of their needs. Singletons
  // that are not needed come in the order of registration.
  Result<std::unique_ptr<Services>> seal() &&;

 private:
  struct Override {
    detail::Entry entry;
    bool keeps_lifetime;  // takes the lifetime of the replaced service
  };

  template <class T>
  static detail::Entry instance_of(T& object, Where where) {
    detail::Entry entry = entry_of<T>(Lifetime::singleton, where);
    entry.make = [&object](std::span<detail::Made>) {
      return Result<detail::Made>(detail::Made{&object, {}});
    };
    return entry;
  }
  template <class T>
  static detail::Entry entry_of(Lifetime lifetime, Where where) {
    detail::Entry entry;
    entry.type = type_info_of<T>();
    entry.lifetime = lifetime;
    entry.where = where;
    return entry;
  }
  template <class T, class F>
  void add(Lifetime lifetime, F factory, Where where) {
    detail::Entry entry = entry_of<T>(lifetime, where);
    entry.needs = detail::needs_of<F>();
    entry.make = detail::make_with<T>(std::move(factory));
    entries_.push_back(std::move(entry));
  }

  Result<void> apply_overrides();

  std::vector<detail::Entry> entries_;
  std::vector<Override> overrides_;
  std::vector<AbsentService> absent_;
};

}  // namespace katana::registry

// SPDX-License-Identifier: Apache-2.0
