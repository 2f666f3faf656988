// The pages of operations that show what the program does right now.
#include <memory>
#include <utility>

#include "katana/app/live_pages.hpp"
#include "katana/app/program.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::app {

// Tests run embedded programs in virtual time, and no thread of a pool may look at them meanwhile.
Result<void> Program::begin_history() {
  history_ =
      std::make_unique<History>(*observability_, database_ ? &*database_ : nullptr, slowest_);
  if (embedding_ || !serves_) return {};
  auto job = pools_->work().every(History::interval, [this] { history_->tick(current_time()); });
  if (!job) return std::unexpected(job.error());
  history_job_.emplace(*std::move(job));
  return {};
}

Result<void> Program::add_live(Group& pages, Group& shell) {
  if (auto begun = begin_history(); !begun) return begun;
  const Instant started = embedding_ && embedding_->clock ? embedding_->clock() : monotonic_now();
  std::vector<std::string> insecure;
  for (const InsecureSetting& each : insecure_) insecure.push_back(each.describe());
  live_ = std::make_unique<LiveState>(LiveSources{
      .program = options_.name,
      .version = options_.version,
      .requests_listed = settings()->requests.ids || services_->find<trace::Tracer>() != nullptr,
      .observability = observability_.get(),
      .pools = pools_.get(),
      .database = database_ ? &*database_ : nullptr,
      .jobs = &jobs_,
      .queues = database_ ? &queues_ : nullptr,
      .caches = caches_.get(),
      .bus = services_->find<bus::Bus>(),
      .history = history_.get(),
      .pool = &pools_->work(),
      .started = started,
      .insecure = std::move(insecure),
      .configuration = [this] { return settings_->print(); }});
  add_live_pages(pages, shell, *live_);
  ActionHooks hooks{.audit = services_->find<audit::AuditLog>(),
                    .logger = log_->logger("operations"),
                    .pool = &pools_->work(),
                    .reload = [this] { return reload(); },
                    .drain = [this] { shutdown(); },
                    .set_levels = [this](const std::string& to) { return log_->set_levels(to); },
                    .reset_levels = [this] { (void)log_->reset_levels(settings()->log.levels); }};
  if (settings()->http.load_shedding.enabled) {
    hooks.set_utilisation_max = [this](double to) { load_shedding_->set_utilisation_max(to); };
    hooks.utilisation_max = [this] { return settings()->http.load_shedding.utilisation_max; };
  }
  actions_ = std::make_unique<LiveActions>(std::move(hooks));
  return actions_->add_to(pages, *live_);
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
