#include "katana/http/server/restart.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "katana/http/server/quiet_thread.hpp"

namespace katana::server {

Restart::Restart(StartReplacement start, Done done)
    : start_(std::move(start)), done_(std::move(done)) {
  CPU_ZERO(&cpus_);  // empty: not known; setting it fails
  (void)::sched_getaffinity(0, sizeof cpus_, &cpus_);
  if (::pipe2(cancel_.data(), O_CLOEXEC | O_NONBLOCK) != 0) cancel_ = {-1, -1};
}

Restart::~Restart() {
  cancel();
  if (thread_.joinable()) thread_.join();
  for (const int fd : cancel_) {
    if (fd >= 0) ::close(fd);
  }
}

Result<void> Restart::begin(std::vector<HandedSocket> sockets) {
  if (cancelled_.load(std::memory_order_acquire)) {
    return fail(Code::cancelled, "this program is told to end");
  }
  if (cancel_[0] < 0) {
    return fail(Code::resource_exhausted, "there was no descriptor for restarts at the start");
  }
  if (running_.exchange(true)) {
    return fail(Code::already_exists, "a successor is starting already");
  }
  if (thread_.joinable()) thread_.join();  // an earlier attempt, which has ended
  auto started = start_quiet_thread("restart", [this, sockets = std::move(sockets)] {
    run(sockets);
    running_.store(false);
  });
  if (!started) {
    running_.store(false);
    return std::unexpected(started.error());
  }
  thread_ = *std::move(started);
  return {};
}

void Restart::cancel() noexcept {
  cancelled_.store(true, std::memory_order_release);
  if (cancel_[1] >= 0) (void)!::write(cancel_[1], "", 1);  // a full pipe is readable already
}

void Restart::run(const std::vector<HandedSocket>& sockets) noexcept {
  // The reactor that began this thread may be bound to a CPU. The successor would inherit that.
  (void)::sched_setaffinity(0, sizeof cpus_, &cpus_);
  try {
    done_(sockets, start_(sockets, cancel_[0]));
  } catch (const std::exception& thrown) {
    done_(sockets, fail(Code::internal, thrown.what()));
  }
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
