// ProgramSettings: the settings of a program, independent of their type: loaded, loaded again,
// printed. Application<Settings> has SettingsOf<Settings>.
//
// Owns       the current values, which readers share across a reload.
// Thread     load() and on_reload() one, before the program has threads; get() and
//            settings_of_part() any.
// Allocates  as Config does.
// Fails      load() names every wrong key; after an Error of load_again() the old values stay.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/app/settings.hpp"
#include "katana/base/registry/registry.hpp"
#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/data/config/config.hpp"
#include "katana/data/config/schema.hpp"

namespace katana::app {

class ProgramSettings {
 public:
  ProgramSettings() = default;
  virtual ~ProgramSettings() = default;
  ProgramSettings(const ProgramSettings&) = delete;
  ProgramSettings& operator=(const ProgramSettings&) = delete;

  // Reads and checks the configuration, once, before anything starts.
  virtual Result<void> load(config::Sources sources, config::Additions additions) = 0;
  // Reads the same sources again.
  virtual Result<config::Reloaded> load_again() = 0;
  virtual std::shared_ptr<const ApplicationSettings> get() const = 0;
  // The settings of a part; null: no part has this group.
  virtual std::shared_ptr<const void> settings_of_part(Bytes group) const = 0;
  virtual std::vector<std::string> notes() const = 0;  // see Config::notes()
  // The texts behind --print-config, --print-defaults and --print-schema; secrets are not shown.
  virtual std::string print() const = 0;
  virtual std::string print_defaults(config::Additions additions) const = 0;
  virtual std::string print_schema(config::Additions additions, const std::string& name) const = 0;
  virtual void register_in(registry::Registry& registry) = 0;
  virtual void tell_listeners() = 0;  // the subscribers of reloads
};

// The settings of one type: Config<Settings>, with the listeners of its reloads.
template <std::derived_from<ApplicationSettings> Settings>
class SettingsOf final : public ProgramSettings {
 public:
  // Judges the settings as a whole; see Config.
  using Check = typename config::Config<Settings>::Check;

  explicit SettingsOf(Check check) : check_(check) {}

  // REQUIRES that load() has succeeded.
  const config::Config<Settings>& config() const noexcept { return *config_; }
  void on_reload(std::function<void(const Settings&)> f) { listeners_.push_back(std::move(f)); }

  Result<void> load(config::Sources sources, config::Additions additions) override {
    auto loaded = config::Config<Settings>::load(std::move(sources), check_, std::move(additions));
    if (!loaded) return std::unexpected(std::move(loaded).error());
    config_.emplace(std::move(*loaded));
    return {};
  }
  Result<config::Reloaded> load_again() override { return config_->reload(); }
  std::shared_ptr<const ApplicationSettings> get() const override { return config_->get(); }
  std::shared_ptr<const void> settings_of_part(Bytes group) const override {
    return config_->find_group(group);
  }
  std::vector<std::string> notes() const override { return config_->notes(); }
  std::string print() const override { return config_->print(); }
  std::string print_defaults(config::Additions additions) const override {
    return composition(std::move(additions)).print_defaults();
  }
  std::string print_schema(config::Additions additions, const std::string& name) const override {
    return composition(std::move(additions)).json_schema("Configuration of " + name);
  }
  void register_in(registry::Registry& registry) override {
    registry.instance<config::Config<Settings>>(*config_);
  }
  void tell_listeners() override {
    const auto settings = config_->get();
    for (const auto& listener : listeners_) listener(*settings);
  }

 private:
  static config::Composition composition(config::Additions additions) {
    return {config::type_of<Settings>(), &config::make_value<Settings>, std::move(additions)};
  }

  const Check check_;
  std::optional<config::Config<Settings>> config_;
  std::vector<std::function<void(const Settings&)>> listeners_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
