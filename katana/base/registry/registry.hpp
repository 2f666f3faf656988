// Registry: services by interface and how each is made, until seal() builds them.
//
//   Registry registry;
//   registry.singleton<Clock>([] { return std::make_unique<SystemClock>(); });
//   registry.singleton<Users>([](Database& database, Clock& clock) {
//     return std::make_unique<StoredUsers>(database, clock);
//   });
//   Result<std::unique_ptr<Services>> services = std::move(registry).seal();
//   Users& users = (*services)->get<Users>();
//
// Owns       the factories, until seal() hands them on.
// Borrows    what instance() is given, for as long as the services live.
// Thread     one. Factories of singletons run on the thread that seals; those of scoped and
//            transient services wherever one is asked for, on several threads at once, so what
//            they capture must bear that.
// Allocates  for each registration; never for a lookup.
// Fails      seal() reports everything that is wrong with the registrations in one Error: twice
//            registered, needed and missing, in a circle, outlived by who keeps it. When a factory
//            fails, the Error names the service and what it needs, and what was made before is
//            destroyed in reverse.
// Invariant  a service is made after everything that it needs, and destroyed before it.
//
// The parameters of a factory are what it needs:
//   T&         a singleton or scoped service
//   T*         the same; null if it is not registered
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
  using Where = std::source_location;  // of the registration, for messages

  Registry() = default;
  Registry(Registry&&) = default;
  Registry& operator=(Registry&&) = default;

  // Made once, by seal(), and destroyed with the Services. Parameters of `factory` are other
  // services.
  template <class T, class F>
  void singleton(F factory, Where where = Where::current()) {
    add<T>(Lifetime::singleton, std::move(factory), where);
  }
  // Made once in each Scope, when it is first asked for there.
  template <class T, class F>
  void scoped(F factory, Where where = Where::current()) {
    static_assert(!detail::Signature<F>::changes_itself, "threads share it: no mutable factory");
    add<T>(Lifetime::scoped, std::move(factory), where);
  }
  // Made for each that asks, which owns it.
  template <class T, class F>
  void transient(F factory, Where where = Where::current()) {
    static_assert(!detail::Signature<F>::changes_itself, "threads share it: no mutable factory");
    add<T>(Lifetime::transient, std::move(factory), where);
  }
  // A singleton that somebody else owns.
  template <class T>
  void instance(std::type_identity_t<T>& object, Where where = Where::current()) {
    entries_.push_back(instance_of<T>(object, where));
  }
  // T is another name of U, which derives from it: the same object, with the same lifetime.
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

  // In the place of the registration of T, whatever makes that: for tests. T keeps its lifetime and
  // its place among the others. Among several overrides of one T the last counts. seal() fails when
  // nothing registers T.
  template <class T, class F>
  void override_service(F factory, Where where = Where::current()) {
    static_assert(!detail::Signature<F>::changes_itself, "threads share it: no mutable factory");
    detail::Entry entry = entry_of<T>(Lifetime::singleton, where);
    entry.needs = detail::needs_of<F>();
    entry.make = detail::make_with<T>(std::move(factory));
    overrides_.push_back({std::move(entry), true});
  }
  // The same by an object that somebody else owns, and that every scope shares.
  template <class T>
  void override_instance(std::type_identity_t<T>& object, Where where = Where::current()) {
    overrides_.push_back({instance_of<T>(object, where), false});
  }

  // T is not registered because it is switched off, and `remedy` switches it on: for messages.
  // Nothing where T is registered.
  template <class T>
  void absent(std::string remedy) {
    absent_.push_back({type_info_of<T>(), std::move(remedy)});
  }

  // Checks what was registered, and makes the singletons in the order of their needs; unneeded
  // ones, in the order of registration.
  Result<std::unique_ptr<Services>> seal() &&;

 private:
  struct Override {
    detail::Entry entry;
    bool keeps_lifetime;  // of what it replaces
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
