#include "katana/stores/database/postgres/cancel_request.hpp"

#include <pthread.h>

#include <array>
#include <system_error>
#include <thread>
#include <utility>

#include "katana/base/system/quiet_thread.hpp"
#include "katana/stores/database/postgres/pool_wake.hpp"

namespace katana::database::postgres {

CancelRequest::CancelRequest(Handle handle, Executor& executor, std::shared_ptr<PoolHandle> pool,
                             std::uint64_t connection) noexcept
    : Message(&arrive),
      handle_(std::move(handle)),
      executor_(executor),
      pool_(std::move(pool)),
      connection_(connection) {}

std::shared_ptr<CancelRequest> CancelRequest::start(
    Handle handle, Executor& executor, std::shared_ptr<PoolHandle> pool, std::uint64_t connection,
    const std::shared_ptr<std::atomic<unsigned>>& running) noexcept {
  if (handle == nullptr) return nullptr;
  if (running->fetch_add(1) >= requests_max) {
    running->fetch_sub(1);
    return nullptr;
  }
  const std::shared_ptr<CancelRequest> made(
      new CancelRequest(std::move(handle), executor, std::move(pool), connection));
  made->self_ = made;
  executor.expect();
  try {
    std::thread thread = quiet_thread([request = made, running] {
      request->run();
      running->fetch_sub(1);
    });
    pthread_setname_np(thread.native_handle(), "db-cancel");
    thread.detach();
    return made;
  } catch (const std::system_error&) {
    executor.unexpect();
    made->self_.reset();
    running->fetch_sub(1);
    return nullptr;
  }
}

void CancelRequest::run() noexcept {
  std::array<char, 256> why{};
  // A failure changes nothing: the statement ends by its timeout, or the connection does.
  (void)PQcancel(handle_.get(), why.data(), static_cast<int>(why.size()));
  // acq_rel: the first thread decides which one touches the executor.
  if (word_.exchange(posted, std::memory_order_acq_rel) == pending) executor_.post(*this);
}

void CancelRequest::abandon() noexcept {
  if (answered_ || word_.exchange(abandoned, std::memory_order_acq_rel) != pending) return;
  executor_.unexpect();
  self_.reset();
}

void CancelRequest::arrive(Message& message) noexcept {
  auto& request = static_cast<CancelRequest&>(message);
  const std::shared_ptr<CancelRequest> kept = std::move(request.self_);
  request.answered_ = true;
  request.executor_.unexpect();
  if (request.pool_->pool != nullptr) cancel_answered(*request.pool_->pool, request.connection_);
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
