// AccessLog: one record for every exchange of an HTTP server.
//
//   server::AccessLog access((*log)->logger("access"));
//   options.http.observer = &access;     // HttpServerOptions
//
// A record shows method and target, without secrets in them (http/server/shown_target.hpp), and has
// the fields
//
//   route        the pattern of the route that served it; empty: none
//   status       of the reply; 0: none was begun
//   bytes        of its content
//   duration_us  from the end of the request's head to the end of the exchange
//   peer         address of the other side, as in "127.0.0.1:5000"; "unix:uid=1000" on a
//                Unix-domain socket
//   client       the client, if a trusted proxy named it; `peer` is then the proxy
//   request      number of the request on its connection, from 1
//   end          replied, aborted or peer_left
//
// A request with a head that the protocol refused has "-" for method and target. Server errors and
// broken replies are warnings; all other records are information.
//
// Borrows    the Log behind the logger, which must outlive the server.
// Thread     any: reactors share it, and each writes into its own ring.
// Allocates  never, except for the first record of a thread.
// Fails      never: records that a full ring drops are counted, and the log states their number.
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
