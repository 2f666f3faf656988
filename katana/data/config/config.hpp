// Config<T>: the typed configuration of a program, and its reload.
//
//   struct Http { std::uint16_t port = 8080; Duration idle_timeout = seconds(60); };
//   KATANA_DESCRIBE(Http, (port, at_least(1)), (idle_timeout, reloadable))
//
//   Result<Config<Http>> config = Config<Http>::load({.file = "katana.yaml"});
//   config->get()->port
//
// A member may be bool, a number, text, a described enumeration, Duration, ByteCount, a described
// struct, a std::vector, std::map or std::optional of these. The rules are those of
// base/values/rules.hpp.
//
// Owns       the value, and its sources for a reload.
// Thread     load() one. The rest any: get() gives a value that does not change any more; a reload
//            makes a new one.
// Allocates  at load() and reload().
// Fails      load() and reload() give one Error that lists everything that is wrong, each with its
//            file and line, variable or flag. After a reload that failed everything is as before.
// Invariant  only what is marked reloadable, or lies in a group that is, changes by a reload.
//            Secrets are in no text that this gives.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/config/printer.hpp"
#include "katana/data/config/problems.hpp"
#include "katana/data/config/reader.hpp"
#include "katana/data/config/shape.hpp"
#include "katana/data/config/sources.hpp"

namespace katana::config {

// What a reload found: lines like "http.idle_timeout: 30s → 10s (katana.yaml:4)".
struct Reloaded {
  // Keys whose new value counts from now on.
  std::vector<std::string> applied;
  std::vector<std::string> needs_restart;  // changed, but not reloadable: the old value stays
};

namespace detail {

struct Merging {
  const Origins& fresh_origins;
  const Origins& old_origins;
  Reloaded found = {};
  Origins origins = {};
  std::string path = {};

  void keep_origin(const Origins& of);
  void note(bool applied, Bytes before, Bytes after);
};

// Takes over from `fresh` into `value` what has changed and is reloadable.
template <class T>
void merge_member(Merging& merging, T& value, const T& fresh, bool reloadable, bool secret);

template <Described T>
void merge_group(Merging& merging, T& value, const T& fresh, bool reloadable, bool secret) {
  for_each_index<T>([&](auto index) {
    constexpr const auto& field = field_of<T, index>;
    const std::size_t size = merging.path.size();
    if (size != 0) merging.path += '.';
    merging.path += field.name;
    merge_member(merging, value.*field.pointer, fresh.*field.pointer,
                 reloadable || field.rules.reloadable, secret || field.rules.secret);
    merging.path.resize(size);
  });
}

template <class T>
void merge_member(Merging& merging, T& value, const T& fresh, bool reloadable, bool secret) {
  if constexpr (Described<T>) {
    merge_group(merging, value, fresh, reloadable, secret);
  } else {
    if constexpr (Described<WithoutOptional<T>>) {
      if (value && fresh) return merge_group(merging, *value, *fresh, reloadable, secret);
    }
    if (write_value(value, true) == write_value(fresh, true)) {
      merging.keep_origin(merging.fresh_origins);
      return;
    }
    merging.note(reloadable, secret ? std::string(hidden_value) : write_value(value),
                 secret ? std::string(hidden_value) : write_value(fresh));
    merging.keep_origin(reloadable ? merging.fresh_origins : merging.old_origins);
    if (reloadable) value = fresh;
  }
}

}  // namespace detail

template <Described T>
class Config {
 public:
  // What no rule of one member can say: whether the values go together.
  using Check = Result<void> (*)(const T& value);

  static Result<Config> load(Sources sources, Check check = nullptr) {
    Config config(std::move(sources), check);
    auto read = config.read();
    if (!read) return std::unexpected(std::move(read).error());
    if (auto checked = config.check((*read)->value); !checked) {
      return std::unexpected(std::move(checked).error());
    }
    config.state_->current = *std::move(read);
    return config;
  }

  // The present value. Whoever keeps it has one that fits together, also while a reload runs.
  std::shared_ptr<const T> get() const {
    const auto loaded = current();
    return {loaded, &loaded->value};
  }

  // What the sources have that is no mistake and should be known, as variables that set nothing.
  std::vector<std::string> notes() const { return current()->notes; }

  // Every effective value and where it came from, as YAML.
  std::string print() const {
    const auto loaded = current();
    Printing printing{.origins = loaded->origins};
    print_group(printing, loaded->value);
    return std::move(printing.text);
  }

  // Reads the sources again. What changed and is reloadable is applied, all of it at once or, when
  // anything is wrong, nothing.
  Result<Reloaded> reload() {
    const std::lock_guard one_at_a_time(state_->reload_mutex);
    auto fresh = read();
    if (!fresh) return std::unexpected(fresh.error().within("the configuration was not reloaded"));
    const auto old = current();
    const auto merged = std::make_shared<Loaded>();
    merged->value = old->value;
    detail::Merging merging{.fresh_origins = (*fresh)->origins, .old_origins = old->origins};
    detail::merge_group(merging, merged->value, (*fresh)->value, false, false);
    if (auto checked = check(merged->value); !checked) {
      return std::unexpected(checked.error().within("the configuration was not reloaded"));
    }
    merged->origins = std::move(merging.origins);
    merged->notes = (*fresh)->notes;
    const std::lock_guard lock(state_->mutex);
    state_->current = merged;
    return std::move(merging.found);
  }

 private:
  struct Loaded {
    T value;
    Origins origins;
    std::vector<std::string> notes;
  };
  struct State {
    std::mutex reload_mutex;
    std::mutex mutex;  // what follows
    std::shared_ptr<const Loaded> current;
  };

  Config(Sources sources, Check judge)
      : sources_(std::move(sources)), check_(judge), state_(std::make_unique<State>()) {}

  std::shared_ptr<const Loaded> current() const {
    const std::lock_guard lock(state_->mutex);
    return state_->current;
  }
  Result<void> check(const T& value) const {
    return check_ != nullptr ? check_(value) : Result<void>();
  }
  // On the heap: as a local variable g++ 12 takes a part of it for uninitialised.
  Result<std::shared_ptr<Loaded>> read() const {
    const Shape shape = shape_of<T>();
    Problems problems;
    auto loaded = std::make_shared<Loaded>();
    const Node root = read_sources(sources_, shape, problems);
    Reading reading{.problems = problems, .root = shape, .how_to_set = how_to_set(sources_)};
    read_group(reading, &root, loaded->value, shape);
    if (!problems.empty()) return std::unexpected(problems.error());
    loaded->origins = std::move(reading.origins);
    loaded->notes = problems.notes();
    return loaded;
  }

  Sources sources_;
  Check check_;
  std::unique_ptr<State> state_;
};

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
