#include "katana/stores/database/postgres/io_thread.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"

namespace katana::database::postgres {

katana::Result<std::unique_ptr<IoThread>> IoThread::create() {
  auto poller = Poller::create();
  if (!poller) return std::unexpected(poller.error());
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) return katana::fail(Code::unavailable, "no descriptor is left for an eventfd");
  std::unique_ptr<IoThread> made(new IoThread(*std::move(poller), wake));
  if (auto watched = made->poller().watch(wake, true, false, *made); !watched) {
    return std::unexpected(watched.error());
  }
  return made;
}

IoThread::IoThread(std::unique_ptr<Poller> poller, int wake) noexcept
    : Home(std::move(poller)), wake_(wake), now_(monotonic_now()), timers_(now_) {}

IoThread::~IoThread() {
  if (thread_.joinable()) stop([] {});
  ::close(wake_);
}

void IoThread::start() {
  thread_ = quiet_thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "db-postgres");
}

void IoThread::stop(std::function<void()> last) {
  last_ = std::move(last);
  stopping_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);  // only a full counter fails, which wakes as well
  thread_.join();
}

void IoThread::post(Message& message) noexcept {
  if (mailbox_.post(message)) {
    const std::uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one);  // as above
    // release: the sender's last touch of this executor; see run().
    posts_done_.fetch_add(1, std::memory_order_release);
  }
}

void IoThread::defer(Message& message) noexcept {
  message.next = nullptr;
  *deferred_end_ = &message;
  deferred_end_ = &message.next;
}

void IoThread::run() noexcept {
  enter(this);
  while (!stopping_.load(std::memory_order_acquire)) turn(true);
  last_();
  // acquire: the posting thread has left post().
  while (expected() != 0 || posts_done_.load(std::memory_order_acquire) != takes_) turn(false);
  turn(false);
  enter(nullptr);
}

void IoThread::turn(bool waits) noexcept {
  now_ = monotonic_now();
  int timeout_ms = waits ? -1 : 1;
  if (first_deferred_ != nullptr || mailbox_.has_messages()) {
    timeout_ms = 0;
  } else if (const Instant next = timers_.next(); waits && next != never) {
    constexpr std::int64_t longest_ms = 60'000;
    timeout_ms =
        static_cast<int>(std::clamp<std::int64_t>((next - now_).count_ms() + 1, 0, longest_ms));
  }
  poller().dispatch(timeout_ms);
  now_ = monotonic_now();
  timers_.advance(now_);
  run_messages();
  while (Message* const message = first_deferred_) {
    first_deferred_ = message->next;
    if (first_deferred_ == nullptr) deferred_end_ = &first_deferred_;
    message->run(*message);
  }
  end_turn();
}

void IoThread::run_messages() noexcept {
  Message* message = mailbox_.take_all();
  if (message != nullptr) ++takes_;
  while (message != nullptr) {
    Message* const next = message->next;
    message->run(*message);
    message = next;
  }
}

void IoThread::on_socket(bool) noexcept {
  std::uint64_t count = 0;
  (void)!::read(wake_, &count, sizeof count);  // nothing to read is no failure
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
