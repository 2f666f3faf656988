// Singletons: what Inject<T> needs of Services: a lookup by type.
//
// Borrows    the services.
// Thread     any; nothing changes after seal().
// Allocates  never.
// Fails      get() of a singleton that nobody registered is a defect of the caller and aborts, by
//            name; find() is null then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "katana/base/registry/type_info.hpp"
#include "katana/base/system/hints.hpp"

namespace katana::registry {

class Singletons {
 public:
  // A singleton. REQUIRES that it is registered as one.
  template <class T>
  T& get() const noexcept {
    void* const object = look_up(type_info_of<T>())->object;
    if (object == nullptr) [[unlikely]]
      refuse(type_info_of<T>());
    return *static_cast<T*>(object);
  }
  // A singleton, or null.
  template <class T>
  T* find() const noexcept {
    return static_cast<T*>(look_up(type_info_of<T>())->object);
  }

 protected:
  struct Found {
    const TypeInfo* type = nullptr;
    void* object = nullptr;  // of a singleton
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
  // Aborts with the name of the type, for get() of a service that is not registered.
  [[noreturn]] KATANA_RARE void refuse(const TypeInfo* type) const noexcept;

  unsigned shift_ = 0;
  std::size_t mask_ = 0;
  std::vector<Found> table_;
};

}  // namespace katana::registry

// SPDX-License-Identifier: Apache-2.0
