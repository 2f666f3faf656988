// Cache<Key, Value>: keeps expensive results in memory; concurrent requests for one key share one
// load.
//
//   auto users = cache::Cache<std::int64_t, User>::make({.name = "users", .ttl = seconds(30)});
//   …
//   auto load = [&database](std::int64_t id) { return find_user(database, id); };
//   const auto user = co_await users->get_or_load(id, load);   // Result<Cached<User>>
//   if (!user) co_return std::unexpected(user.error());        // the load failed, or was refused
//   if (!*user) co_return problem(404, "There is no such user.");
//   use((*user)->name);                                        // shared, and never changed
//   …
//   users->remove(id);                                         // after what changes it
//
// A loader returns Task<R>, where R is one of these, or a Result of one:
//
//   Value, std::shared_ptr<const Value>
//   std::optional<Value>   nothing: there is no value, which is remembered for negative_ttl
//   Loaded<Value>          with its own ttl, and tags
//
// It may run after the request that began it has ended, and on another reactor. A loader therefore
// captures only objects that outlive the loads, such as services, never local variables of
// a handler. Store a lambda that has something to destroy in a variable before you pass it
// (decision 0018).
//
// Owns       a share of the cache: copy it freely. Values are shared, and live while a caller has
//            one.
// Borrows    nothing; a loader is kept until its load ends.
// Thread     any. get_or_load() is awaited on a reactor, and goes on there.
// Allocates  put() and loads. get() never, nor get_or_load() of a key that is there.
// Fails      get_or_load() with the loader's Error or exception, which all its waiters get, and
//            which is not kept. Also with Code::resource_exhausted when loads_max run and
//            loads_waiting_max wait, and with Code::deadline_exceeded by the caller's deadline.
//            A second level never makes it fail.
// Invariant  one load of a key at a time in the process. A caller that is cancelled or late leaves
//            the others to wait. The load goes on when the request that began it is destroyed, and
//            on the reactor of another one that waits when its reactor ends. A load does not
//            overwrite a value that was put or removed while it ran. Memory is at most bytes_max.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/base/system/result.hpp"
#include "katana/data/container/binary_read.hpp"
#include "katana/data/container/binary_write.hpp"
#include "katana/stores/cache/core.hpp"
#include "katana/stores/cache/envelope.hpp"
#include "katana/stores/cache/heap_bytes.hpp"
#include "katana/stores/cache/key_form.hpp"
#include "katana/stores/cache/options.hpp"
#include "katana/stores/cache/second_level.hpp"

namespace katana::cache {

// The answer of a cache for a key: a value, the knowledge that there is none, or neither.
template <class Value>
class [[nodiscard]] Cached {
 public:
  // Nothing is known of the key.
  Cached() noexcept = default;
  Cached(bool is_known, std::shared_ptr<const Value> value) noexcept
      : is_known_(is_known), value_(std::move(value)) {}

  // There is a value.
  explicit operator bool() const noexcept { return value_ != nullptr; }
  // There is a value, or it is known that there is none.
  bool is_known() const noexcept { return is_known_; }
  bool is_absent() const noexcept { return is_known_ && value_ == nullptr; }
  // REQUIRE a value.
  const Value& operator*() const noexcept { return *value_; }
  const Value* operator->() const noexcept { return value_.get(); }
  // Shares the value; null without one.
  const std::shared_ptr<const Value>& share() const& noexcept { return value_; }
  std::shared_ptr<const Value> share() && noexcept { return std::move(value_); }

 private:
  bool is_known_ = false;
  std::shared_ptr<const Value> value_;
};

// A value from a loader or for put(), with its own options.
template <class Value>
struct Loaded {
  std::optional<Value> value = {};     // nothing: there is none
  Duration ttl = {};                   // 0: the option's
  std::vector<std::string> tags = {};  // by which remove_tag() finds it
};

// Options of one put().
struct PutOptions {
  Duration ttl = {};                   // 0: the option's
  std::vector<std::string> tags = {};  // by which remove_tag() finds it
  // Result of Cache::mark() from before the value was computed. The value is not kept if one of its
  // tags, or everything, was removed since.
  std::optional<std::uint64_t> mark = {};
};

namespace detail {

template <class Value>
concept Encodable =
    requires(const Value& value, std::string& to) { container::write_binary(value, to); } &&
    (Described<Value> || std::same_as<Value, std::string> || std::same_as<Value, container::Value>);

template <class Value>
LoadedValue loaded_value(std::shared_ptr<const Value> value) {
  LoadedValue loaded;
  if (value == nullptr) return loaded;
  constexpr std::size_t counts = 16;  // of the shared pointer, in the same piece
  loaded.bytes = allocation_bytes(counts + sizeof(Value)) + heap_bytes(*value);
  loaded.value = std::move(value);
  return loaded;
}

// Values that are not described stay in memory.
template <class Value>
Codec codec_of() noexcept {
  Codec codec;
  if constexpr (Encodable<Value>) {
    codec.encode = [](const void* value, std::string& to) {
      container::write_binary(*static_cast<const Value*>(value), to);
    };
    codec.decode = [](Bytes octets) -> std::optional<LoadedValue> {
      Result<Value> value = container::read_binary<Value>(octets);
      if (!value) return std::nullopt;
      return loaded_value<Value>(std::make_shared<const Value>(*std::move(value)));
    };
  }
  return codec;
}

// Sets the tags of a value that will be kept.
inline void set_tags(const Core& core, const std::vector<std::string>& tags, LoadedValue& loaded) {
  if (tags.empty()) return;
  loaded.tags = core.hashes_of(tags);
  if (!core.has_second_level()) return;
  if (!core.takes_tags()) [[unlikely]] {
    throw_misuse("a value with tags was given to a cache whose second level knows no tags",
                 "make a version part of the key, or keep this cache without a second level");
  }
  const bool fits = tags.size() <= tags_max && std::ranges::all_of(tags, [](const auto& tag) {
                      return tag.size() <= tag_bytes_max;
                    });
  if (!fits) [[unlikely]] {
    throw_misuse("a value has more than 64 tags, or one of more than 200 bytes",
                 "with a second level tags are written there with each value: give it fewer");
  }
  loaded.tag_names = tags;
}

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<Result<T>> = true;

// Converts the result of a loader to the form that the cache keeps.
template <class Value, class R>
Result<LoadedValue> as_loaded(const Core& core, R&& result) {
  using T = std::remove_cvref_t<R>;
  if constexpr (is_result<T>) {
    if (!result) return std::unexpected(std::move(result).error());
    return as_loaded<Value>(core, *std::move(result));
  } else if constexpr (std::same_as<T, std::shared_ptr<const Value>>) {
    return loaded_value<Value>(std::move(result));
  } else if constexpr (std::same_as<T, Loaded<Value>>) {
    Result<LoadedValue> loaded = as_loaded<Value>(core, std::move(result.value));
    loaded->ttl = result.ttl;
    set_tags(core, result.tags, *loaded);
    return loaded;
  } else if constexpr (std::same_as<T, std::optional<Value>>) {
    if (!result) return LoadedValue();
    return loaded_value<Value>(std::make_shared<const Value>(*std::move(result)));
  } else {
    static_assert(std::same_as<T, Value>,
                  "a loader gives Task<R> where R is Value, std::optional<Value>, Loaded<Value>, "
                  "std::shared_ptr<const Value>, or a Result of one of them");
    return loaded_value<Value>(std::make_shared<const Value>(std::move(result)));
  }
}

// `core` and `loader` are kept by the load.
template <class Value, class Key, class F>
Task<Result<LoadedValue>> run_loader(const Core& core, F& loader, Key key) {
  auto result = co_await loader(std::move(key));
  co_return as_loaded<Value>(core, std::move(result));
}

template <class F>
concept HasNothingToDestroy =
    std::is_lvalue_reference_v<F> || std::is_trivially_destructible_v<std::remove_cvref_t<F>>;

}  // namespace detail

template <class Key, class Value>
class Cache {
 public:
  // Shared with the cache: a value lives on when its entry is removed or evicted.
  using ValuePointer = std::shared_ptr<const Value>;
  // The type in which keys are given: a view, where keys are text.
  using KeyView = std::conditional_t<std::same_as<Key, std::string>, Bytes, const Key&>;

  // An Error names the wrong option.
  static Result<Cache> make(const Options& options) {
    if (auto checked = check(options); !checked) return std::unexpected(checked.error());
    return Cache(detail::Core::make(options, nullptr, detail::codec_of<Value>()));
  }
  // Makes a cache with a second level. Its values are described structs, because they leave the
  // process.
  static Result<Cache> make(const Options& options, std::shared_ptr<SecondLevel> level)
    requires detail::Encodable<Value>
  {
    if (auto checked = check(options); !checked) return std::unexpected(checked.error());
    return Cache(detail::Core::make(options, std::move(level), detail::codec_of<Value>()));
  }

  // The value in memory; never loads.
  Cached<Value> get(KeyView key) const { return get(key, detail::now()); }
  // The same at a known time: saves a reading of the clock off a reactor.
  Cached<Value> get(KeyView key, Instant now) const {
    return with_key_octets(key, [&](Bytes octets) {
      auto look = core_->find(octets, core_->hash_of(octets), now);
      return Cached<Value>(look.is_found, pointer(std::move(look.value)));
    });
  }

  // The value in memory, or the result of `loader(key)`, which runs once for all concurrent
  // callers.
  template <class F>
  class [[nodiscard]] GetOrLoad final : public detail::LoadWait {
   public:
    GetOrLoad(detail::Core& core, Key key, F loader)
        : LoadWait(core), key_(std::move(key)), loader_(std::move(loader)) {}
    bool await_ready() {
      bool leads = false;
      const bool is_there =
          with_key_octets(key_, [&](Bytes octets) { return find(octets, leads); });
      if (is_there && !leads) [[likely]]
        return true;
      if (!leads) return false;
      core_.lead(flight_,
                 [core = &core_, loader = std::move(loader_), key = std::move(key_)]() mutable {
                   return detail::run_loader<Value, Key, F>(*core, loader, key);
                 });
      return is_there || has_ended();
    }
    Result<Cached<Value>> await_resume() {
      auto taken = take();
      if (!taken) return std::unexpected(std::move(taken).error());
      return Cached<Value>(true, pointer(*std::move(taken)));
    }

   private:
    Key key_;
    F loader_;
  };
  // Awaited: Result<Cached<Value>>. A value in memory is given at once, without a suspension.
  template <class F>
  GetOrLoad<std::remove_cvref_t<F>> get_or_load(Key key, F&& loader) const {
    static_assert(detail::HasNothingToDestroy<F>,
                  "a loader that owns something is a variable, which is given by its name "
                  "(decision 0018)");
    return {*core_, std::move(key), std::forward<F>(loader)};
  }

  // Replaces the value here, and in the background in a second level. False: it is larger than
  // value_bytes_max(), and was not kept in memory.
  bool put(KeyView key, Value value) const { return put(key, std::move(value), {}); }
  bool put(KeyView key, Value value, const PutOptions& options) const {
    return put(key, std::make_shared<const Value>(std::move(value)), options);
  }
  bool put(KeyView key, ValuePointer value, const PutOptions& options) const {
    detail::LoadedValue loaded = detail::loaded_value<Value>(std::move(value));
    loaded.ttl = options.ttl;
    detail::set_tags(*core_, options.tags, loaded);
    const std::uint64_t mark = options.mark.value_or(UINT64_MAX);
    return with_key_octets(key, [&](Bytes octets) { return core_->put(octets, loaded, mark); });
  }
  std::uint64_t mark() const noexcept { return core_->mark(); }
  // Remembers that there is no value, for `ttl`; 0: negative_ttl.
  void put_absent(KeyView key, Duration ttl = {}) const {
    const detail::LoadedValue none{.ttl = ttl};
    with_key_octets(key, [&](Bytes octets) { return core_->put(octets, none); });
  }
  // Removes the entry here at once, and in the background in a second level. True: it was in
  // memory.
  bool remove(KeyView key) const {
    return with_key_octets(key, [&](Bytes octets) { return core_->remove(octets); });
  }
  // Removes the entry here at once, and in the second level before it returns. An Error: it is
  // still there; the removal is tried again, and this instance does not read it before.
  Task<Result<void>> remove_everywhere(Key key) const {
    return with_key_octets(key, [&](Bytes octets) {
      return detail::Core::remove_everywhere(core_, std::string(octets));
    });
  }

  // Removes all entries with the tag here at once, and in the background in a second level. Returns
  // how many were in memory.
  std::size_t remove_tag(Bytes tag) const { return core_->remove_tag_name(tag); }
  // The same, and in the second level before it returns. An Error: they are still there; the
  // removal is tried again, and this instance reads nothing there before.
  Task<Result<void>> remove_tag_everywhere(std::string tag) const {
    return detail::Core::remove_tag_everywhere(core_, std::move(tag));
  }
  // Removes the entries whose key begins with `prefix`. Looks at every key.
  std::size_t remove_prefix(Bytes prefix) const
    requires std::same_as<Key, std::string>
  {
    return core_->remove_prefix(prefix);
  }
  std::size_t clear() const { return core_->remove_prefix({}); }

  // Adds up the shards under their locks: for metrics, not for each request.
  Statistics statistics() const { return core_->statistics(); }
  // The options given to make().
  const Options& options() const noexcept { return core_->options(); }
  // The largest size of one value with its key, in bytes.
  std::size_t value_bytes_max() const noexcept { return core_->value_bytes_max(); }
  // Health of the second level; without one always healthy.
  Result<void> health() const { return core_->second_level_health(); }
  // The core, for figures and health, without the types.
  std::shared_ptr<const detail::Core> core() const noexcept { return core_; }

 private:
  explicit Cache(std::shared_ptr<detail::Core> core) noexcept : core_(std::move(core)) {}
  static ValuePointer pointer(std::shared_ptr<const void>&& value) noexcept {
    const auto* const typed = static_cast<const Value*>(value.get());
    return ValuePointer(std::move(value), typed);
  }

  std::shared_ptr<detail::Core> core_;
};

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
