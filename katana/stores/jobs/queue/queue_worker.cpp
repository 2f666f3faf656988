#include "katana/stores/jobs/queue/queue_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/jobs/queue/queue_runner.hpp"

namespace katana::queue {
namespace {

std::uint64_t draw() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

Worker::Worker(JobQueue& queue) noexcept : queue_(queue) {}

Worker::~Worker() = default;

void Worker::add(QueueHandler handler) {
  handlers_.push_back(std::make_unique<QueueHandler>(std::move(handler)));
}

Result<void> Worker::check() const {
  for (const auto& handler : handlers_) {
    if (auto checked = handler->options.check(handler->queue); !checked) return checked;
    const auto same = [&](const auto& other) { return other->queue == handler->queue; };
    if (std::ranges::count_if(handlers_, same) > 1) {
      return fail(
          Code::already_exists,
          fmt::format("queue '{}' has two handlers: give their jobs two queues", handler->queue));
    }
  }
  return {};
}

Result<void> Worker::start(net::Reactor& reactor, const WorkerPlace& place) {
  if (auto checked = check(); !checked) return checked;
  const std::string worker = place.worker ? *place.worker : fmt::format("{:016x}", draw());
  for (const auto& handler : handlers_) {
    auto instruments = QueueInstruments::make(place.metrics, handler->queue);
    if (!instruments) return std::unexpected(instruments.error());
    const std::uint64_t seed = place.seed ? *place.seed : draw();
    runners_.push_back(std::make_unique<QueueRunner>(
        reactor, queue_, *handler, *std::move(instruments),
        QueueRunnerOptions{
            .failures = place.failures, .seed = seed, .worker = worker, .tracer = place.tracer}));
    runners_.back()->start();
  }
  return {};
}

void Worker::stop() noexcept { runners_.clear(); }

std::size_t Worker::running() const noexcept {
  std::size_t sum = 0;
  for (const auto& runner : runners_) sum += runner->running();
  return sum;
}

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
