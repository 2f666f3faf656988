#include "katana/stores/database/postgres/cancel_request.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "katana/base/system/quiet_thread.hpp"
#include "katana/stores/database/postgres/pool_wake.hpp"
#include "katana/wire/postgres/requests.hpp"

namespace katana::database::postgres {
namespace {

// A message in memory.
struct CancelMessage {
  std::array<char, protocol::cancel_key_message_bytes_max> bytes;
  std::size_t size = 0;
  bool takes(std::size_t count) const noexcept { return count <= bytes.size() - size; }
  void write(Bytes text) noexcept {
    std::ranges::copy(text, bytes.begin() + static_cast<std::ptrdiff_t>(size));
    size += text.size();
  }
};

}  // namespace

bool send_cancel_request(const CancelKey& key) noexcept {
  CancelMessage message;
  const protocol::BackendKey whom{.process = key.process, .key = key.key};
  if (protocol::write_cancel(whom, message) != protocol::Submitted::ok) return true;
  const int socket = ::socket(key.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return true;
  const timeval wait{.tv_sec = cancel_wait.count_ms() / 1000, .tv_usec = 0};
  (void)setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  (void)setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  const auto* const address = reinterpret_cast<const sockaddr*>(&key.address);
  char answer = 0;
  bool is_over = true;
  if (::connect(socket, address, key.address_bytes) == 0 &&
      ::send(socket, message.bytes.data(), message.size, MSG_NOSIGNAL) ==
          static_cast<ssize_t>(message.size)) {
    // The end: the server has passed the request on.
    is_over = ::recv(socket, &answer, 1, 0) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }
  ::close(socket);
  return is_over;
}

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
  is_over_ = send_cancel_request(*handle_);
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
  if (request.pool_->pool == nullptr) return;
  cancel_answered(*request.pool_->pool, request.connection_, request.is_over_);
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
