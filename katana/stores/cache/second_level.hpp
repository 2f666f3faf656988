// SecondLevel: where what a cache holds is kept outside of the process, for all instances of a
// program: Redis. A Cache asks it after its memory and before its loader.
//
//   get      before a load                     put      after it, in the background
//   remove   Cache::remove()                   try_lock, unlock
//                                              one instance loads, where the options say so
//
// A key is the cache's name, ":", and bytes of any kind; a level may put its own prefix
// before it. The cache alone defines what the bytes mean: it writes a version, the key and the end
// of their time into them, and takes nothing that does not fit. Therefore a level may lose, mix up
// or garble what it was given, and the worst that comes of it is a load. A program that may write
// there chooses what is served, though.
//
// Owns       what is kept.
// Thread     calls: coroutines of any reactor, which go on there; health() and listen() any.
// Allocates  a frame for each call, and the bytes.
// Fails      with an Error of any code: the cache counts it and loads instead. A call may take as
//            long as it likes: the cache destroys what takes longer than second_level.timeout, and
//            asks no more for a while after several failures.
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

// From other instances: the entries in memory are outdated.
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

// A lock that was taken: what unlock() gives back.
struct Lease {
  std::uint64_t token = 0;  // of this holder alone; a fencing token where the level has them
};

class SecondLevel {
 public:
  virtual ~SecondLevel() = default;

  // The bytes as put() was given them; nothing: there are none, or their time is over.
  virtual Task<Result<std::optional<std::string>>> get(std::string key) = 0;
  // Replaces what is there. `ttl` is more than 0; rounded as the level needs it, never to "for
  // ever".
  virtual Task<Result<void>> put(std::string key, std::string octets, Duration ttl) = 0;
  // An entry that is gone already counts as removed. Other instances are told as far as the level
  // can.
  virtual Task<Result<void>> remove(std::string key) = 0;

  // A level that finds values by tags. False: values with tags are not put there, and a cache with
  // tags refuses it.
  virtual bool has_tags() const noexcept { return false; }
  // A removal by tag from here on has another mark. `prefix`: as of listen().
  virtual Task<Result<std::uint64_t>> tag_mark(std::string prefix);
  // put() of what began to be found out at `mark`. False: one of its tags was removed since, and it
  // is not kept.
  virtual Task<Result<bool>> put_tagged(std::string key, std::string octets, Duration ttl,
                                        std::string prefix, std::vector<std::string> tags,
                                        std::uint64_t mark);
  // All that has that tag, and that begins with the prefix.
  virtual Task<Result<void>> remove_tag(std::string prefix, std::string tag);

  // Of all instances one gets the lease, which ends after `lease`. Nothing: another one
  // has it. A level without locks leaves it at this: each instance loads for itself.
  virtual Task<Result<std::optional<Lease>>> try_lock(std::string key, Duration lease);
  // A lease that has ended is none of ours any more, and nothing is unlocked.
  virtual Task<Result<void>> unlock(std::string key, Lease lease);

  // From here on the listener is told of keys that begin with `prefix`, as long as it lives. False:
  // this level has no such messages, and what others change is seen when its time in memory is
  // over (Options::second_level.memory_ttl_max).
  virtual bool listen(std::string prefix, std::weak_ptr<ChangeListener> listener);
  // For a level whose listen() was true: messages come at present. While they do not, what is put
  // into memory stays there for memory_ttl_max; when they come again on_all_changed() is called.
  // Any thread.
  virtual bool hears() const noexcept { return true; }

  // For the health check of the program: an Error says what is wrong. Not asked before a call.
  virtual Result<void> health() const = 0;
};

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
