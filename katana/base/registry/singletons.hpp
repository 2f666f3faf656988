// Singletons: the part of Services that Inject<T> needs: a lookup by type.
//
// Borrows    the services.
// Thread     any; nothing changes after seal().
// Allocates  never.
// Fails      get() of a singleton that is not registered throws MissingService; find() is then
//            null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/registry/type_info.hpp"
#include "katana/base/system/hints.hpp"

namespace katana::registry {

// The exception of get(). It names the service and the place of the call. If it is known, it also
// names the setting that registers the service. An Application then fails to start; a handler
// answers 500.
class MissingService : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// A service that is switched off, and how to switch it on.
struct AbsentService {
  const TypeInfo* type = nullptr;  // the type of the service; not null
  std::string remedy = {};         // "set 'redis.url'"
};

class Singletons {
 public:
  // The singleton T. Throws MissingService if it is not registered.
  template <class T>
  T& get(std::source_location where = std::source_location::current()) const {
    void* const object = look_up(type_info_of<T>())->object;
    if (object == nullptr) [[unlikely]]
      refuse(type_info_of<T>(), where);
    return *static_cast<T*>(object);
  }
  // The singleton T; null if it is not registered.
  template <class T>
  T* find() const noexcept {
    return static_cast<T*>(look_up(type_info_of<T>())->object);
  }

  // The way to switch on a service that is not registered; empty: it is not known.
  std::string_view remedy(const TypeInfo* type) const noexcept;

 protected:
  struct Found {
    const TypeInfo* type = nullptr;
    void* object = nullptr;  // the object of a singleton
    std::uint32_t index = 0;
  };

  Singletons() = default;
  ~Singletons() = default;

  // The entry of `type`; without one an entry whose type is null.
  const Found* look_up(const TypeInfo* type) const noexcept {
    // Fibonacci hashing: the upper bits of the product are the best mixed.
    std::size_t at = (reinterpret_cast<std::uintptr_t>(type) * 0x9E3779B97F4A7C15u) >> shift_;
    while (table_[at].type != type) {
      if (table_[at].type == nullptr) return &table_[at];
      at = (at + 1) & mask_;
    }
    return &table_[at];
  }
  // Throws MissingService with the name of the type, the caller and the setting to switch on, for
  // get() of a service that is not registered.
  [[noreturn]] KATANA_RARE void refuse(const TypeInfo* type,
                                       const std::source_location& where) const;

  unsigned shift_ = 0;
  std::size_t mask_ = 0;
  std::vector<Found> table_;
  std::vector<AbsentService> absent_;
};

}  // namespace katana::registry

// SPDX-License-Identifier: Apache-2.0
