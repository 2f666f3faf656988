#include "katana/app/nats/nats.hpp"

#include <stop_token>
#include <utility>

#include "katana/app/nats/program_bus.hpp"
#include "katana/app/system_metrics.hpp"

namespace katana::app {
namespace {

class NatsPart final : public PartWith<BusSettings> {
 public:
  NatsPart() : PartWith("bus", "messages between reactors, and between processes by NATS") {}

  Result<void> check() const override { return ProgramBus::check(settings()); }
  void add_needs(PartNeeds& needs) const override;
  void judge(std::vector<InsecureSetting>& findings) const override;

  Result<void> start(const PartContext& context) override {
    auto made = ProgramBus::make(settings(), context.embedded && !context.has_bus,
                                 context.log.logger("bus"));
    if (!made) return std::unexpected(made.error());
    bus_ = *std::move(made);
    return {};
  }
  void provide(registry::Registry& registry) override { registry.instance<bus::Bus>(bus_->get()); }
  Result<void> observe(metrics::Registry& metrics, metrics::HealthChecks& checks) override;
  Task<Result<void>> begin() override {
    bus_->start();
    co_return Result<void>();
  }
  void stop() noexcept override { bus_.reset(); }

 private:
  std::unique_ptr<ProgramBus> bus_;
};

void NatsPart::add_needs(PartNeeds& needs) const {
  const BusSettings& bus = settings();
  needs.connections = needs.connections || bus.is_remote();
  const std::vector<SecretFile> secrets = {
      {"bus.password_file", bus.password_file},
      {"bus.token_file", bus.token_file},
      {"bus.nkey_file", bus.nkey_file},
      {"bus.creds_file", bus.creds_file},
      {"bus.tls.certificate.key", bus.tls.certificate.key_file}};
  for (const SecretFile& each : secrets) needs.files.push_back(each.file);
  needs.files.push_back(bus.tls.authorities_file);
  needs.files.push_back(bus.tls.certificate.chain_file);
  needs.secrets.insert(needs.secrets.end(), secrets.begin(), secrets.end());
}

void NatsPart::judge(std::vector<InsecureSetting>& findings) const {
  const BusSettings& bus = settings();
  if (!bus.is_remote()) return;
  if (bus.tls.dangerously_accept_any_certificate) {
    findings.push_back({"bus.tls.dangerously_accept_any_certificate", "true",
                        "an attacker on the way can be the server",
                        "set bus.tls.authorities_file"});
  }
  const bool is_local = bus.url.find("//127.") != std::string::npos ||
                        bus.url.find("//localhost") != std::string::npos ||
                        bus.url.find("//[::1]") != std::string::npos;
  if (!bus.url.starts_with("tls://") && !is_local) {
    findings.push_back(
        {"bus.url", "nats://…",
         "messages, and a password or a token, go to the servers without TLS",
         "write tls://, and set bus.tls.authorities_file for an authority of your own"});
  }
}

Result<void> NatsPart::observe(metrics::Registry& metrics, metrics::HealthChecks& checks) {
  if (auto added = add_bus_metrics(metrics, bus_->get()); !added) return added;
  if (!bus_->is_remote()) return {};
  return checks.add({.name = "bus",
                     .run = [this](std::stop_token) { return bus_->health(); },
                     .required = settings().required,
                     .may_block = false});
}

}  // namespace

std::unique_ptr<Part> nats() { return std::make_unique<NatsPart>(); }

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
