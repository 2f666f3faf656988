#include "katana/app/embedding.hpp"

namespace katana::app {

// Ports are those of a network that only the embedding has, so Unix sockets are some of them.
void embed(server::HttpServerOptions& options, const Embedding& embedding) {
  options.make_reactor = embedding.make_reactor;
  options.turned_by_caller = true;
  options.reactors = 1;
  options.pin = false;
  options.stall_threshold = {};
  options.tls.reset();
  for (server::ListenerOptions& each : options.listeners) {
    each.tls = each.redirect_to_https = false;
    if (server::is_unix(each.address)) each.address = "127.0.0.1";
  }
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
