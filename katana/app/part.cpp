#include "katana/app/part.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace katana::app {
namespace {

// Keys of this project's parts that are not in every program.
constexpr Bytes nats_remedy =
    "add it with app.use(app::nats()) of katana/application_nats.hpp, or remove the key";
constexpr std::array<Bytes, 15> keys_of_nats = {"bus.url",
                                                "bus.required",
                                                "bus.user",
                                                "bus.password_file",
                                                "bus.token_file",
                                                "bus.nkey_file",
                                                "bus.creds_file",
                                                "bus.tls",
                                                "bus.prefix",
                                                "bus.when_away",
                                                "bus.kept_messages_max",
                                                "bus.kept_bytes_max",
                                                "bus.ping_interval",
                                                "bus.connect_timeout",
                                                "bus.reconnect_max"};
constexpr Bytes telemetry_remedy =
    "add it with app.use(app::telemetry()) of katana/application_telemetry.hpp, or remove the key";
constexpr Bytes database_remedy =
    "give ApplicationOptions::database the drivers, such as app::sqlite(), and derive the settings "
    "from app::SettingsWithDatabase";

}  // namespace

bool Parts::has(std::string_view name) const noexcept {
  return std::ranges::any_of(parts_, [name](const auto& part) { return part->name() == name; });
}

config::Additions Parts::additions() const {
  config::Additions additions;
  for (const auto& part : parts_) {
    if (const auto group = part->settings_group()) additions.groups.push_back(*group);
  }
  for (const Bytes key : keys_of_nats) additions.absent.push_back({key, nats_remedy});
  additions.absent.push_back({"telemetry", telemetry_remedy});
  for (const Bytes key : {"database", "queue"}) additions.absent.push_back({key, database_remedy});
  return additions;
}

Result<void> Parts::check() const {
  std::string wrong;
  for (const auto& part : parts_) {
    const auto checked = part->check();
    if (checked) continue;
    if (!wrong.empty()) wrong += '\n';
    wrong += checked.error().describe();
  }
  return wrong.empty() ? Result<void>() : fail(Code::invalid_argument, std::move(wrong));
}

PartNeeds Parts::needs() const {
  PartNeeds needs;
  for (const auto& part : parts_) part->add_needs(needs);
  return needs;
}

std::vector<InsecureSetting> Parts::judge() const {
  std::vector<InsecureSetting> findings;
  for (const auto& part : parts_) part->judge(findings);
  return findings;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
