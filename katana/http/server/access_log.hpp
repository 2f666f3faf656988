// AccessLog: one record for every exchange of an HTTP server.
//
//   server::AccessLog access((*log)->logger("access"));
//   options.http.observer = &access;     // HttpServerOptions
//
// A record says method and target, without what is secret in it (http/server/shown_target.hpp), and
// has the fields
//
//   route        the pattern of the route that served it; empty: none
//   status       of the reply; 0: none was begun
//   bytes        of its content
//   duration_us  from the end of the request's head to the end of the exchange
//   peer         its address, as in "127.0.0.1:5000"; "unix:uid=1000" on a Unix-domain socket
//   client       who asked, when a trusted proxy said who; the peer is that proxy then
//   request      which of its connection, from 1
//   end          replied, aborted or peer_left
//
// A request whose head the protocol refused has "-" for method and target. Server errors and broken
// replies are warnings, all else is information.
//
// Borrows    the Log behind the logger, which must outlive the server.
// Thread     any: reactors share it, and each writes into its own ring.
// Allocates  never, but for the first record of a thread.
// Fails      never: what a full ring drops is counted, and the log says so.
#pragma once

#include <utility>

#include "katana/http/server/shown_target.hpp"
#include "katana/http/session/exchange_observer.hpp"
#include "katana/observe/log/logger_handle.hpp"

namespace katana::server {

class AccessLog final : public session::ExchangeObserver {
 public:
  explicit AccessLog(log::LoggerHandle logger, TargetRules rules = {}) noexcept
      : logger_(logger), rules_(std::move(rules)) {}

  void on_exchange_end(session::Exchange& exchange,
                       const session::ExchangeRecord& record) noexcept override;

 private:
  const log::LoggerHandle logger_;
  const TargetRules rules_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
