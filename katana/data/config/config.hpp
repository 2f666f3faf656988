// Config<T>: the typed configuration of a program, and its reload.
//
//   struct Http { std::uint16_t port = 8080; Duration idle_timeout = seconds(60); };
//   KATANA_DESCRIBE(Http, (port, at_least(1)), (idle_timeout, reloadable))
//
//   Result<Config<Http>> config = Config<Http>::load({.file = "katana.yaml"});
//   config->get()->port
//
// A member may be bool, a number, text, a described enumeration, Duration, ByteCount or a described
// struct. It may also be a std::vector, std::map or std::optional of these. The rules are those of
// base/values/rules.hpp.
//
// Owns       the value, and its sources for a reload.
// Thread     load() one. All other members any: get() returns a value that never changes; a reload
//            makes a new one.
// Allocates  at load() and reload().
// Fails      load() and reload() give one Error that lists all mistakes, each with its file and
//            line, variable or flag. After a failed reload the value is the one before it.
// Invariant  a reload changes only reloadable members, and members of reloadable groups.
//            No text of this class contains a secret.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/config/composition.hpp"
#include "katana/data/config/printer.hpp"
#include "katana/data/config/problems.hpp"
#include "katana/data/config/reader.hpp"
#include "katana/data/config/shape.hpp"
#include "katana/data/config/sources.hpp"

namespace katana::config {

// The changes of a reload, as lines like "http.idle_timeout: 30s → 10s (katana.yaml:4)".
struct Reloaded {
  // The keys with a new value that is in use now.
  std::vector<std::string> applied;
  std::vector<std::string> needs_restart;  // changed but not reloadable: the old value stays
};

namespace detail {

// A configuration without its type, on which Config is built.
class AnyConfig {
 public:
  using AnyCheck = void (*)();
  // The functions that are compiled for each type.
  struct Typed {
    const Type& (*type)();
    MakeValue make;
    Result<void> (*judge)(AnyCheck check, const void* value);
  };
  struct Loaded {
    Composition::Value value;
    Origins origins;
    std::vector<std::string> notes;
  };

  AnyConfig(Sources sources, const Typed& of, AnyCheck judge, Additions additions);
  ~AnyConfig();
  AnyConfig(AnyConfig&& from) noexcept;
  AnyConfig& operator=(AnyConfig&& from) noexcept;

  Result<void> load();
  std::shared_ptr<const Loaded> current() const;
  std::shared_ptr<const void> group(Bytes name) const;
  std::string print() const;
  Result<Reloaded> reload();

 private:
  struct State;

  Result<void> check(const Loaded& loaded) const;
  Result<std::shared_ptr<Loaded>> read() const;

  Sources sources_;
  const Typed* typed_;
  std::unique_ptr<const Composition> composition_;
  AnyCheck check_;
  std::unique_ptr<State> state_;
};

template <Described T>
Result<void> judge(AnyConfig::AnyCheck check, const void* value) {
  return reinterpret_cast<Result<void> (*)(const T&)>(check)(*static_cast<const T*>(value));
}
template <Described T>
inline constexpr AnyConfig::Typed typed{
    .type = &type_of<T>, .make = &make_value<T>, .judge = &judge<T>};

}  // namespace detail

template <Described T>
class Config {
 public:
  // A check that the values fit together, which the rules of single members cannot express.
  using Check = Result<void> (*)(const T& value);

  // Loads the configuration. `additions`: groups of the program's parts, and keys of absent parts.
  static Result<Config> load(Sources sources, Check check = nullptr, Additions additions = {}) {
    Config config(std::move(sources), check, std::move(additions));
    if (auto loaded = config.any_.load(); !loaded) {
      return std::unexpected(std::move(loaded).error());
    }
    return config;
  }

  // The present value. The returned struct stays unchanged and consistent during a reload.
  std::shared_ptr<const T> get() const {
    return std::static_pointer_cast<const T>(any_.current()->value.value);
  }

  // The present value of an added group. REQUIRES that the group was added with this type.
  template <class G>
  std::shared_ptr<const G> group(Bytes name) const {
    return std::static_pointer_cast<const G>(any_.group(name));
  }
  // The same without its type; null: there is no such group.
  std::shared_ptr<const void> find_group(Bytes name) const { return any_.group(name); }

  // Notes about the sources that are no mistakes, such as variables that set nothing.
  std::vector<std::string> notes() const { return any_.current()->notes; }

  // All effective values with their origins, as YAML.
  std::string print() const { return any_.print(); }

  // Reads the sources again. It applies all changed reloadable members at once, or none if there is
  // a mistake.
  Result<Reloaded> reload() { return any_.reload(); }

 private:
  Config(Sources sources, Check judge, Additions additions)
      : any_(std::move(sources), detail::typed<T>,
             reinterpret_cast<detail::AnyConfig::AnyCheck>(judge), std::move(additions)) {}

  detail::AnyConfig any_;
};

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
