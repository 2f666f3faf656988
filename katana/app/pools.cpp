#include "katana/app/pools.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/cpus.hpp"

namespace katana::app {

Result<std::unique_ptr<Pools>> Pools::make(const std::map<std::string, PoolSettings>& settings,
                                           FailureObserver* failures, bool stopped) {
  auto made = std::make_unique<Pools>();
  made->failures_ = failures;
  made->stopped_ = stopped;
  if (!settings.contains("work")) {
    if (auto added = made->add("work", {}); !added) return std::unexpected(added.error());
  }
  for (const auto& [name, one] : settings) {
    if (auto added = made->add(name, one); !added) return std::unexpected(added.error());
  }
  made->work_ = *made->at("work");
  return made;
}

Result<void> Pools::add(const std::string& name, const PoolSettings& settings) {
  thread::PoolOptions options;
  options.name = name;
  options.threads_min = settings.threads_min;
  options.threads_max = settings.threads_max != 0 ? settings.threads_max
                                                  : std::max(settings.threads_min, usable_cpus());
  options.queue_max = settings.queue_max;
  options.stopped = stopped_;
  if (failures_ != nullptr) {
    options.on_failure = [failures = failures_,
                          place = fmt::format("pool '{}'", name)](std::exception_ptr thrown) {
      failures->on_failure({.what = "a job threw", .exception = std::move(thrown), .place = place});
    };
  }
  auto pool = thread::Pool::create(std::move(options));
  if (!pool) return std::unexpected(pool.error().within(fmt::format("pools.{}", name)));
  pools_.push_back(std::move(*pool));
  return {};
}

Result<thread::Pool*> Pools::at(const std::string& name) const {
  std::string names;
  for (const auto& pool : pools_) {
    if (pool->name() == name) return pool.get();
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", pool->name());
  }
  return fail(Code::not_found,
              fmt::format("there is no pool '{}', only {}: configure pools.{}", name, names, name));
}

void Pools::stop() noexcept {
  for (const auto& pool : pools_) pool->stop(thread::StopMode::graceful);
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
