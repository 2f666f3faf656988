// Part: a system that a program uses, such as a bus or a mail server. A part has its settings, its
// start and end, the services that it provides, its metrics and its health.
//
//   class Mail final : public app::PartWith<MailSettings> {
//    public:
//     Mail() : PartWith("mail", "the mail server") {}
//
//     Result<void> start(const app::PartContext& context) override { … settings().host … }
//     void provide(registry::Registry& registry) override { registry.instance<Mailer>(*mailer_); }
//     void stop() noexcept override { mailer_.reset(); }
//   };
//
//   app.use(std::make_unique<Mail>());
//
// An Application calls a part in this order:
//
//   take_settings → check, add_needs, judge   the configuration is read; nothing is made
//   add_outputs                               before the log begins; not where it is embedded
//   start                                     the log, metrics, pools, the database and needs() are
//                                             there. Parts that do not need one another start side
//                                             by side, each on a thread that may wait
//   provide, observe                          one part after another, before the program's services
//   begin                                     a task on the first reactor, once the program serves
//   reload                                    for each SIGHUP that read a valid configuration
//   drain                                     the graceful shutdown has begun; requests are served
//   stop                                      services are gone; parts that needed it have stopped
//
// --check-config ends behind check() and judge(). stop() follows each start() that succeeded, also
// where a later part failed.
//
// Owns       the objects that a part makes of its settings, from start() to stop().
// Borrows    the context's members until stop() has returned.
// Thread     start() any; begin() and its tasks the first reactor's; drain() a reactor's, where it
//            must not wait; reload() a thread of the pool "work". Others the program's.
// Allocates  as the part does.
// Fails      start() with an Error that names the setting; the program adds the name and remedy of
//            the part, and stops what had started. An Error of begin() is logged.
// Invariant  a part starts after all parts that it needs, and stops before any of them. A group
//            that no part of the program has is refused, with the remedy where the group is known.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/app/insecure_setting.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/registry/registry.hpp"
#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/data/config/composition.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/metrics/health.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::app {

class Pools;

// The resources of the program that a part is started with.
struct PartContext {
  log::Log& log;                           // the program's; outlives the part
  Pools& pools;                            // the thread pools of `pools`; outlive the part
  database::Database* database = nullptr;  // null: the program has none
  // True in a test or while the program only describes itself (embedding.hpp): there is no network.
  bool embedded = false;
  // Embedded, and the bus of the settings can be reached all the same.
  bool has_bus = false;
  // The clock of measurements; null: the machine's monotonic clock.
  std::function<Instant()> clock = {};
  std::string program = {};  // its name
  std::string version = {};
};

// The rights that a part keeps when the program gives up its own (process.sandbox).
struct PartNeeds {
  std::vector<std::string> files = {};   // read; their folders, because a file may be replaced
  std::vector<std::string> reads = {};   // files and folders to read
  std::vector<std::string> writes = {};  // files and folders to write
  std::vector<SecretFile> secrets = {};  // files of `files` that only the program may read
  bool connections = false;              // it connects to servers
};

class Part {
 public:
  Part() = default;
  virtual ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // Unlike that of every other part; also of its start in the log and in katana_startup_seconds.
  virtual std::string_view name() const noexcept = 0;
  // Names of other parts.
  virtual std::vector<std::string> needs() const { return {}; }
  // The remedy when the part does not start, as a sentence without its end.
  virtual std::string remedy() const { return {}; }

  // Its group of the configuration; none: it has no settings.
  virtual std::optional<config::AddedGroup> settings_group() const { return std::nullopt; }
  // `settings` are of the type of the group.
  virtual void take_settings(std::shared_ptr<const void> settings) { (void)settings; }
  // Whether the settings go together, and start() would take them.
  virtual Result<void> check() const { return {}; }
  virtual void add_needs(PartNeeds& needs) const { (void)needs; }
  // Adds values that expose the program.
  virtual void judge(std::vector<InsecureSetting>& findings) const { (void)findings; }

  // Whether it sends the program's metrics somewhere: they then have OpenTelemetry's names, too.
  virtual bool exports_metrics() const { return false; }
  // Adds outputs of the log, beside those of `log`.
  virtual void add_outputs(std::vector<log::SinkOptions>& outputs) { (void)outputs; }

  // Blocks its thread, not a reactor. After an Error stop() is not called.
  virtual Result<void> start(const PartContext& context) = 0;
  // Registers the services that it offers; called once, after start().
  virtual void provide(registry::Registry& registry) { (void)registry; }
  // Adds its metrics and health checks; metrics::HealthChecks says how /ready uses them.
  virtual Result<void> observe(metrics::Registry& metrics, metrics::HealthChecks& checks) {
    (void)metrics;
    (void)checks;
    return {};
  }
  // Not in a program that is embedded.
  virtual Task<Result<void>> begin() { co_return Result<void>(); }
  // `settings`: the present ones. An Error is logged, and the part goes on as before.
  virtual Result<void> reload(std::shared_ptr<const void> settings) {
    (void)settings;
    return {};
  }
  virtual void drain() noexcept {}
  virtual void stop() noexcept {}
};

// A part with settings: a described struct, or one whose table is declared (compiled_group.hpp).
template <class Settings>
class PartWith : public Part {
 public:
  std::string_view name() const noexcept final { return name_; }
  std::optional<config::AddedGroup> settings_group() const final {
    return config::added_group<Settings>(name_, help_);
  }
  void take_settings(std::shared_ptr<const void> settings) final {
    settings_ = std::static_pointer_cast<const Settings>(std::move(settings));
  }
  Result<void> reload(std::shared_ptr<const void> settings) final {
    return reload_settings(*static_cast<const Settings*>(settings.get()));
  }
  std::string remedy() const override { return "Check the settings " + std::string(name_); }

 protected:
  // The name of the part is that of the group. Both are literals.
  PartWith(Bytes name, Bytes help) noexcept : name_(name), help_(help) {}
  // The settings of the start.
  const Settings& settings() const noexcept { return *settings_; }
  // Only members that are marked reloadable differ from settings().
  virtual Result<void> reload_settings(const Settings& settings) {
    (void)settings;
    return {};
  }

 private:
  const Bytes name_;
  const Bytes help_;
  std::shared_ptr<const Settings> settings_;
};

// The parts of one program.
class Parts {
 public:
  // REQUIRES that the configuration is not loaded yet.
  void add(std::unique_ptr<Part> part) { parts_.push_back(std::move(part)); }
  bool has(std::string_view name) const noexcept;
  std::span<const std::unique_ptr<Part>> all() const noexcept { return parts_; }

  // For the configuration: the groups of the parts, and keys of further parts of this project.
  config::Additions additions() const;
  // Everything that check() finds wrong.
  Result<void> check() const;
  PartNeeds needs() const;
  std::vector<InsecureSetting> judge() const;

 private:
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
