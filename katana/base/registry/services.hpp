// Services: the services of a sealed registry. Scope: the services of one request, job or session.
//
//   Users& users = services.get<Users>();               // the reference stays valid
//   Result<Owned<Parser>> parser = services.make<Parser>();
//   Scope scope(services);
//   Result<Transaction*> transaction = scope.get<Transaction>();
//
// Owns       the singletons; a Scope its scoped services. Both destroy in reverse order.
// Borrows    a Scope its Services.
// Thread     Services: any, except for the destructor; nothing changes after seal(). A Scope: one
//            at a time.
// Allocates  a lookup never; a Scope one list when its first scoped service is made.
// Fails      get() of a singleton that is not registered throws MissingService (singletons.hpp);
//            find() is null and slot() an Error then. Factories of scoped and transient services
//            fail with an Error that names the service and what it needs.
// Invariant  an object that get() or find() returns does not move until the services end.
//
// A lookup by type hashes the address of its TypeInfo into a table that is at most a quarter full.
// A Slot is a place that was looked up once. It is checked against the type at each use.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "katana/base/registry/entry.hpp"
#include "katana/base/registry/singletons.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"

namespace katana::registry {

// The place of a service, looked up once. It is valid for the Services that returned it, and for
// their scopes.
template <class T>
class Slot {
 public:
  Slot() = default;  // empty; its use is a defect of the program

 private:
  friend class Services;
  friend class Scope;
  explicit Slot(std::uint32_t index) noexcept : index_(index) {}
  std::uint32_t index_ = UINT32_MAX;
};

class Services : public Singletons {
 public:
  ~Services();
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  using Singletons::get;
  // The singleton at a place.
  template <class T>
  T& get(Slot<T> slot, std::source_location where = std::source_location::current()) const {
    const Held& held = held_at(slot.index_, type_info_of<T>(), where);
    if (held.object == nullptr) [[unlikely]]
      refuse(type_info_of<T>(), where);
    return *static_cast<T*>(held.object);
  }
  // The place of a service of any lifetime.
  template <class T>
  Result<Slot<T>> slot() const {
    const Found* const found = look_up(type_info_of<T>());
    if (found->type == nullptr) return std::unexpected(unknown(type_info_of<T>()));
    return Slot<T>(found->index);
  }
  // Makes a transient service that needs only singletons and other transient services.
  template <class T>
  Result<Owned<T>> make() const {
    return owned<T>(make_transient(type_info_of<T>(), nullptr));
  }

  // One line for each service, in the order in which they are made: name, lifetime, needs.
  std::string describe() const;

 private:
  friend class Registry;
  friend class Scope;

  struct Held {
    const TypeInfo* type;
    void* object;
  };

  // `order` has all entries, each after its needs.
  Services(std::vector<detail::Entry> entries, const std::vector<std::uint32_t>& order,
           std::vector<AbsentService> absent);

  const Held& held_at(std::uint32_t index, const TypeInfo* type,
                      const std::source_location& where) const {
    if (index >= held_.size() || held_[index].type != type) [[unlikely]]
      refuse(type, where);
    return held_[index];
  }

  Result<void> make_singletons();
  void build_table();
  Error unknown(const TypeInfo* type) const;
  Result<detail::Made> call_factory(const detail::Entry& entry, class Scope* scope) const;
  Result<detail::Made> make_transient(const TypeInfo* type, class Scope* scope) const;
  Result<detail::Made> argument(const detail::Need& need, class Scope* scope) const;

  template <class T>
  static Result<Owned<T>> owned(Result<detail::Made> made) {
    if (!made) return std::unexpected(std::move(made).error());
    return Owned<T>(static_cast<T*>(made->interface), made->owner);
  }

  std::vector<Held> held_;              // by index of entry
  std::vector<detail::Entry> entries_;  // each after its needs
  std::vector<detail::Destroyer> made_;
};

// The scoped services of one unit of work, such as a request. Made on demand, and destroyed with it
// in reverse order.
class Scope {
 public:
  explicit Scope(const Services& services) noexcept : services_(services) {}
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // A scoped service, made when it is first asked for here; or a singleton.
  template <class T>
  Result<T*> get() {
    return pointer<T>(get_shared(type_info_of<T>()));
  }
  template <class T>
  Result<T*> get(Slot<T> slot, std::source_location where = std::source_location::current()) {
    (void)services_.held_at(slot.index_, type_info_of<T>(), where);
    return pointer<T>(get_at(slot.index_));
  }
  // A transient service, which may need scoped ones of this scope.
  template <class T>
  Result<Owned<T>> make() {
    return Services::owned<T>(services_.make_transient(type_info_of<T>(), this));
  }

 private:
  friend class Services;

  Result<void*> get_shared(const TypeInfo* type);
  Result<void*> get_at(std::uint32_t index);
  template <class T>
  static Result<T*> pointer(Result<void*> object) {
    if (!object) return std::unexpected(std::move(object).error());
    return static_cast<T*>(*object);
  }

  const Services& services_;
  std::vector<void*> objects_;  // by index of entry; empty until the first is made
  std::vector<detail::Destroyer> made_;
};

}  // namespace katana::registry

// SPDX-License-Identifier: Apache-2.0
