// ProgramBus: the bus of a program, as its settings want it: of this process, or by NATS servers.
//
// Owns       the bus, and the credentials that its files have.
// Thread     make() and start() one; the bus as it says.
// Allocates  the bus.
// Fails      make() with an Error that names the setting, or the file.
// Invariant  the log has one record when the bus loses its servers, and one when it has one again.
//            It has one for each reason why no server can be reached. The same holds for a stream
//            that cannot go on. Missed messages are logged at most once a second.
#pragma once

#include <memory>

#include "katana/app/nats/bus_settings.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/nats/nats_bus.hpp"

namespace katana::app {

class ProgramBus final : private bus::NatsObserver {
 public:
  // `in_test`: the bus is that of this process, whatever the settings say.
  static Result<std::unique_ptr<ProgramBus>> make(const BusSettings& settings, bool in_test,
                                                  log::Logger logger);

  // Fails where make() would refuse, without making anything. Reads the files of credentials.
  static Result<void> check(const BusSettings& settings);

  // The bus; it lives as long as this object.
  bus::Bus& get() noexcept { return *bus_; }
  // Whether start() has something to do.
  bool is_remote() const noexcept { return nats_ != nullptr; }
  // Connects. Called on the reactor that is to have the connection.
  void start();
  // Ready, or why not.
  Result<void> health() const;

 private:
  explicit ProgramBus(log::Logger logger) : logger_(std::move(logger)) {}
  void on_connected(const std::string& server, bool again, Duration away) noexcept override;
  void on_disconnected(const std::string& server, const Error& why) noexcept override;
  void on_unreachable(const std::string& server, const Error& why) noexcept override;
  void on_server_error(const std::string& server, const std::string& text) noexcept override;
  void on_missed(Bytes pattern, Bytes subject, std::uint64_t count) noexcept override;
  void on_stream_stalled(const std::string& what, const Error& why) noexcept override;
  void on_stream_going(const std::string& what, Duration away) noexcept override;
  void on_stream_gap(const std::string& what, const Error& gap) noexcept override;
  void on_not_stored(std::uint64_t count) noexcept override;

  const log::Logger logger_;
  std::unique_ptr<bus::Bus> bus_;
  bus::NatsBus* nats_ = nullptr;
  std::uint64_t missed_ = 0;  // and not logged yet
  Instant missed_logged_{};
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
