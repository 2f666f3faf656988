// SecondLevel: a store outside of the process that keeps a cache's values for all instances of a
// program, such as Redis. A Cache asks it after its memory and before its loader.
//
//   get      before a load                     put      after it, in the background
//   remove   Cache::remove()                   try_lock, unlock
//                                              one instance loads, where the options say so
//
// A key is the cache's name, ":", and bytes of any kind; a level may put its own prefix
// before it. The cache alone defines the form of the bytes. It writes a version, the key and the
// time of expiry into them, and rejects bytes that do not fit. Therefore a level may lose, mix up
// or garble values: the worst result is a load. A program that may write there can choose the
// values that the cache serves, though.
//
// Owns       the values that are kept.
// Thread     calls: coroutines of any reactor, which go on there; health() and listen() any.
// Allocates  a frame for each call, and the bytes.
// Fails      with an Error of any code: the cache counts it and loads instead. A call may take any
//            time: the cache destroys its coroutine after second_level.timeout. After several
//            failures the cache makes no calls for a while.
// Invariant  destroying the coroutine of a call is safe at any time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::cache {

// Is told of changes by other instances, after which the entries in memory are outdated.
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  // The key of this cache was written or removed elsewhere. Any thread. The key as it was given to
  // put(), for the call. A level that cannot tell its own writes from others may report both.
  virtual void on_changed(Bytes key) noexcept = 0;
  // Entries with this tag were removed elsewhere. Any thread.
  virtual void on_tag_removed(Bytes tag) noexcept { (void)tag; }
  // Messages may have been missed: anything may have changed. Any thread.
  virtual void on_all_changed() noexcept = 0;
};

// A lock that was taken, for unlock().
struct Lease {
  std::uint64_t token = 0;  // of this holder alone; a fencing token where the level has them
};

class SecondLevel {
 public:
  virtual ~SecondLevel() = default;

  // The bytes that put() stored; nothing: there are none, or their time is over.
  virtual Task<Result<std::optional<std::string>>> get(std::string key) = 0;
  // Stores a value in place of an earlier one. `ttl` is more than 0; the level may round it, but
  // never to "for ever".
  virtual Task<Result<void>> put(std::string key, std::string octets, Duration ttl) = 0;
  // An entry that is gone already counts as removed. Other instances are told as far as the level
  // can.
  virtual Task<Result<void>> remove(std::string key) = 0;

  // A level that finds values by tags. False: values with tags are not put there, and a cache with
  // tags refuses it.
  virtual bool has_tags() const noexcept { return false; }
  // A removal by tag from here on has another mark. `prefix`: as of listen().
  virtual Task<Result<std::uint64_t>> tag_mark(std::string prefix);
  // put() of a value whose load began at `mark`. False: one of its tags was removed since, and the
  // value is not kept.
  virtual Task<Result<bool>> put_tagged(std::string key, std::string octets, Duration ttl,
                                        std::string prefix, std::vector<std::string> tags,
                                        std::uint64_t mark);
  // Removes all keys that begin with the prefix and have that tag.
  virtual Task<Result<void>> remove_tag(std::string prefix, std::string tag);

  // One of all instances gets the lease, which ends after `lease`. Nothing: another one has it. A
  // level without locks does not override this: each instance then loads for itself.
  virtual Task<Result<std::optional<Lease>>> try_lock(std::string key, Duration lease);
  // Gives the lease back. A lease that has ended is another instance's: nothing is unlocked.
  virtual Task<Result<void>> unlock(std::string key, Lease lease);

  // From here on the listener is told of changed keys that begin with `prefix`, as long as it
  // lives. False: this level reports no changes. A cache then sees them when the entry's time in
  // memory is over (Options::second_level.memory_ttl_max).
  virtual bool listen(std::string prefix, std::weak_ptr<ChangeListener> listener);
  // For a level whose listen() was true: it is told of changes at present. While it is not, values
  // stay in memory for memory_ttl_max. When it is told again, on_all_changed() is called. Any
  // thread.
  virtual bool hears() const noexcept { return true; }

  // For the health check of the program: an Error names the fault. Not asked before a call.
  virtual Result<void> health() const = 0;
};

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
