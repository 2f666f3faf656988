// Client: Redis, for handlers and other coroutines of a reactor.
//
//   auto redis = redis::Client::make(*redis::parse_url("redis://cache.internal:6379/0")).value();
//   co_await redis.set("greeting", "hello", {.time_to_live = seconds(30)});
//   auto greeting = co_await redis.get("greeting");
//
// Each reactor has one connection, which is made by the first call and kept. One send carries the
// commands of one turn, of all handlers. No call waits for another's reply: this is pipelining
// without a pipeline in the code.
//
// Commands that would block the connection, or change it for all other calls, fail with
// Kind::refused:
//
//   BLPOP, XREAD with BLOCK and other blocking commands
//   MULTI and WATCH                                       use a Script
//   SUBSCRIBE                                             use katana/stores/bus
//   SELECT, AUTH, MONITOR and similar commands
//
// Owns       a share of the state of its copies and connections.
// Thread     calls: a reactor's; status() and totals() any.
// Allocates  see Call.
// Fails      make() names the option. A call with an Error of its kind. A command that may have
//            taken effect fails with Kind::unknown_outcome; no command is sent twice.
// Invariant  see Pipeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "katana/stores/redis/call.hpp"
#include "katana/stores/redis/command.hpp"
#include "katana/stores/redis/options.hpp"
#include "katana/stores/redis/script.hpp"
#include "katana/stores/redis/shared.hpp"

namespace katana::redis {

// Options of set().
struct SetOptions {
  Duration time_to_live = {};  // zero: for ever. In milliseconds, at least one
  // A condition on the key; if it does not hold nothing is set.
  enum class If : std::uint8_t {
    always,   // nothing
    absent,   // NX: there is no such key
    present,  // XX: there is one
  };
  If condition = If::always;  // judged by the server, in the same step
};

class Client {
 public:
  // Does not connect yet: the first call does.
  static katana::Result<Client> make(Options options);

  // ---- texts ----
  Call<std::optional<std::string>> get(Bytes key) const;
  Call<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys) const;
  // False: the condition did not hold.
  Call<bool> set(Bytes key, Bytes value, const SetOptions& options = {}) const;
  // The value after it.
  Call<std::int64_t> increment(Bytes key, std::int64_t by = 1) const;

  // ---- keys ----
  // Returns how many of them existed.
  Call<std::int64_t> remove(Bytes key) const;
  Call<std::int64_t> remove_many(std::span<const std::string> keys) const;
  Call<bool> exists(Bytes key) const;
  // False: there is no such key.
  Call<bool> expire(Bytes key, Duration after) const;
  // None: there is no such key, or it does not expire.
  Call<std::optional<Duration>> time_to_live(Bytes key) const;

  // ---- everything else ----
  Call<Reply> call(Command command, const CallOptions& options = {}) const;
  template <class... Arguments>
  Call<Reply> command(std::string_view name, const Arguments&... arguments) const {
    return call(Command(name, arguments...));
  }
  // The first `key_count` of the arguments are KEYS, the others ARGV.
  template <class... Arguments>
  Call<Reply> run(const Script& script, std::size_t key_count,
                  const Arguments&... arguments) const {
    return run(script, CallOptions{}, key_count, arguments...);
  }
  template <class... Arguments>
  Call<Reply> run(const Script& script, const CallOptions& options, std::size_t key_count,
                  const Arguments&... arguments) const {
    return send_script(script, Command("EVALSHA", script.digest(), key_count, arguments...),
                       options);
  }
  // EVALSHA, as `command` has been made with the script's digest.
  Call<Reply> run(const Script& script, Command command, const CallOptions& options = {}) const {
    return send_script(script, std::move(command), options);
  }
  // Returns how many subscribers got it.
  Call<std::int64_t> publish(Bytes channel, Bytes message) const;
  Call<bool> ping() const;

  // The connections of all reactors: for readiness.
  upstream::Status status() const { return shared_->servers()->status(); }
  Totals totals() const { return shared_->totals(); }
  const Options& options() const noexcept { return shared_->options(); }
  // Applies to new connections; existing ones stay. Any thread.
  void set_password(SecretText password) const { shared_->set_password(std::move(password)); }
  // The state that parts with their own connection share.
  const std::shared_ptr<Shared>& shared() const noexcept { return shared_; }

 private:
  Call<Reply> send_script(const Script& script, Command command, const CallOptions& options) const;

  explicit Client(std::shared_ptr<Shared> shared) noexcept : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
