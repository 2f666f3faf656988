#include "katana/app/telemetry/exporter_thread.hpp"

#include <pthread.h>

#include <algorithm>
#include <future>
#include <system_error>
#include <utility>

#include "katana/base/system/quiet_thread.hpp"
#include "katana/http/server/engines.hpp"

namespace katana::app {
namespace {

constexpr std::size_t session_bytes_max = 256;

net::ReactorOptions small_reactor_options() {
  net::ReactorOptions options;
  options.engine.links_max = 16;
  options.output_blocks_max = 1024;
  options.output_blocks_reserve = 16;
  options.carry_large_max = 16;
  return options;
}

}  // namespace

Result<std::unique_ptr<ExporterThread>> ExporterThread::start(Exporters exporters) {
  std::unique_ptr<ExporterThread> made(new ExporterThread(std::move(exporters)));
  std::promise<Result<void>> ready;
  auto is_ready = ready.get_future();
  try {
    made->thread_ = quiet_thread([exporter = made.get(), &ready] {
      pthread_setname_np(pthread_self(), "telemetry");
      auto reactor = server::make_reactor(server::EngineKind::epoll_edge, small_reactor_options(),
                                          session_bytes_max);
      auto started = reactor->start();
      const bool runs = started.has_value();
      // release: the reactor's state is visible with the pointer
      if (runs) exporter->reactor_.store(reactor.get(), std::memory_order_release);
      ready.set_value(std::move(started));
      if (runs) exporter->run(std::move(reactor));
    });
  } catch (const std::system_error& error) {
    return fail(Code::resource_exhausted, std::string("no thread: ") + error.what());
  }
  if (auto started = is_ready.get(); !started) {
    made->thread_.join();
    return std::unexpected(started.error());
  }
  return made;
}

void ExporterThread::on_wake() noexcept {
  is_woken_.exchange(false, std::memory_order_acq_rel);  // sees what wakers wrote before
  if (is_told_to_end_.load(std::memory_order_acquire)) return finish();
  const bool is_drain = is_draining_.exchange(false, std::memory_order_acquire);
  for (const auto& each : exporters_) {
    each->collect();
    if (is_drain) each->drain();
  }
}

void ExporterThread::finish() {
  for (const auto& each : exporters_) each->finish();
}

void ExporterThread::drain() noexcept {
  is_draining_.store(true, std::memory_order_release);
  wake();
}

void ExporterThread::wake() noexcept {
  net::Reactor* const reactor = reactor_.load(std::memory_order_acquire);
  if (reactor != nullptr && !is_woken_.exchange(true, std::memory_order_acq_rel)) {
    reactor->post(wake_);
  }
}

void ExporterThread::run(std::unique_ptr<net::Reactor> reactor) noexcept {
  reactor->turn(Duration{});
  {
    std::vector<Task<void>> tasks;
    for (const auto& each : exporters_) tasks.push_back(each->run());
    for (Task<void>& each : tasks) each.start();
    const auto all_done = [&] { return std::ranges::all_of(tasks, &Task<void>::done); };
    Instant give_up_at = never;
    while (!all_done() && reactor->now() < give_up_at) {
      if (give_up_at == never && is_told_to_end_.load(std::memory_order_acquire)) {
        give_up_at = reactor->now() + Duration{flush_ns_.load(std::memory_order_relaxed)};
        finish();
      }
      const Instant due = std::min(reactor->timers().next(), give_up_at);
      reactor->turn(due == never ? seconds(3600) : std::max(due - reactor->now(), Duration{}));
    }
  }
  for (const auto& each : exporters_) each->drop_rest();
  // A wake-up that is on its way to the reactor is received before the reactor is gone.
  reactor_.store(nullptr, std::memory_order_release);
  while (is_woken_.load(std::memory_order_acquire)) reactor->turn(Duration{});
}

void ExporterThread::stop(Duration flush_timeout) noexcept {
  if (!thread_.joinable()) return;
  flush_ns_.store(flush_timeout.ns, std::memory_order_relaxed);
  is_told_to_end_.store(true, std::memory_order_release);
  wake();
  thread_.join();
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
