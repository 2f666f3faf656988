// Shared: what the reactors that use one HttpClient have in common.
// ReactorPool: what each has for itself: its connections, by origin.
//
// Owns       a ReactorPool its OriginPools, and a share of the Shared; it is attached to its reactor,
//            which destroys it. Shared: the context of TLS, and the threads that look names up.
// Borrows    the reactor; calls, as long as they wait to be gone on with.
// Thread     Shared any; a ReactorPool its reactor's.
// Allocates  for each origin and connection.
// Fails      origin_pool() is null when there are too many origins; resolver() is an Error.
// Invariant  coroutines resume, and connections are begun and forgotten, in one deferred message
//            per turn.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/base/executor.hpp"
#include "katana/client/call.hpp"
#include "katana/client/options.hpp"
#include "katana/client/origin_pool.hpp"
#include "katana/core/reactor.hpp"
#include "katana/thread/pool.hpp"
#include "katana/tls/client_context.hpp"
#include "katana/wire/http1/response_machine.hpp"
#include "katana/wire/http2/client_machine.hpp"

namespace katana::client {

class Shared {
 public:
  Shared(const HttpClientOptions& options, std::shared_ptr<const tls::ClientContext> context)
      : options_(options), tls_(std::move(context)) {}

  const HttpClientOptions& options() const noexcept { return options_; }
  const std::shared_ptr<const tls::ClientContext>& tls() const noexcept { return tls_; }
  Result<thread::Pool*> resolver() const;

 private:
  const HttpClientOptions options_;
  const std::shared_ptr<const tls::ClientContext> tls_;
  mutable std::mutex mutex_;  // guards own_resolver_
  mutable std::unique_ptr<thread::Pool> own_resolver_;
};

// What a pool has done.
struct PoolCounters {
  std::uint64_t calls = 0;
  std::uint64_t retries = 0;
  std::uint64_t failures = 0;            // calls that ended in an error, after their retries
  std::uint64_t handshakes = 0;          // of TLS, complete
  std::uint64_t handshakes_resumed = 0;  // of those
};

class ReactorPool final : public core::Attachment {
 public:
  // Of that reactor; made when it is asked for first.
  static ReactorPool& of(core::Reactor& reactor, const std::shared_ptr<const Shared>& shared);

  ReactorPool(core::Reactor& reactor, std::shared_ptr<const Shared> shared);
  ~ReactorPool() override;

  core::Reactor& reactor() noexcept { return reactor_; }
  const HttpClientOptions& options() const noexcept { return shared_->options(); }
  const std::shared_ptr<const tls::ClientContext>& tls() const noexcept { return shared_->tls(); }
  Result<thread::Pool*> resolver() const { return shared_->resolver(); }
  http1::HeadMemo& head_memo() noexcept { return head_memo_; }
  // What its connections of HTTP/2 share; made for the first.
  http2::ClientContext& http2();
  PoolCounters& counters() noexcept { return counters_; }
  std::size_t connection_count() const noexcept;

  // Null: there are origins_max already.
  OriginPool* origin_pool(const Origin& origin) noexcept;
  void run_later(OriginPool& origin) noexcept;
  void resume_later(Call& call) noexcept;
  // 0 … most.
  Duration random_part(Duration most) noexcept;

 private:
  static void work(Message& message) noexcept;
  void schedule() noexcept;
  void forget_empty() noexcept;

  core::Reactor& reactor_;
  const std::shared_ptr<const Shared> shared_;
  std::unique_ptr<http2::ClientContext> http2_;  // longer than the connections
  std::unordered_map<std::string, std::unique_ptr<OriginPool>> origins_;
  std::vector<OriginPool*> to_run_;
  CallList to_resume_;
  http1::HeadMemo head_memo_;
  PoolCounters counters_;
  std::uint64_t random_;
  bool scheduled_ = false;
  struct Work final : Message {
    explicit Work(ReactorPool& owner) noexcept : Message(&ReactorPool::work), pool(owner) {}
    ReactorPool& pool;
  } work_{*this};
};

}  // namespace katana::client
