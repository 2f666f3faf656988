#include "katana/http/session/client_places.hpp"

namespace katana::session {

std::optional<net::ClientPlace> begin_request(net::Connection& connection,
                                              const std::shared_ptr<const ProxyTrust>& trust,
                                              const http::Head* head) noexcept {
  if (!connection.may_name_clients()) return connection.begin_request();
  const Arrival arrival{connection.peer(), connection.transform() != nullptr, trust};
  if (head == nullptr || !arrival.from_proxy()) return net::ClientPlace();
  // A proxy that names no client counts as the client, and is exempt.
  const auto address = client_of(arrival, *head).address();
  return address ? connection.begin_request_of(*address) : net::ClientPlace();
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
