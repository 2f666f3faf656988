#include "katana/http/server/live_requests.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace katana::server {

bool is_route(const std::string* route, Bytes wanted) noexcept {
  if (wanted.empty()) return true;
  if (route == nullptr) return false;
  if (*route == wanted) return true;
  const std::size_t space = route->find(' ');
  return space != std::string::npos && Bytes(*route).substr(space + 1) == wanted;
}

bool LiveRequests::slice(net::Reactor& reactor) noexcept {
  auto* const requests = ThreadLists<RequestInFlight>::own();
  if (requests == nullptr) {
    is_listed_ = false;
    return true;
  }
  if (now_ == never) {
    now_ = reactor.now();
    walk_.begin(*requests);
  }
  ++slice_count_;
  try {
    return walk_.step(slice_max,
                      [&](const RequestInFlight& each) { return visit(each, reactor, now_); });
  } catch (const std::bad_alloc&) {
    return true;  // what was found so far is shown
  }
}

// The list is ordered by age. False: the rest is too young.
bool LiveRequests::visit(const RequestInFlight& request, const net::Reactor& reactor, Instant now) {
  // In tests several servers share a thread.
  if (request.reactor() != nullptr && request.reactor() != &reactor) return true;
  const Duration age = std::max(now - request.began(), Duration{});
  if (age < filter_.older) return false;
  const Activity& activity = request.activity();
  if (!is_route(activity.site, filter_.route)) return true;
  if (!filter_.client && ++matched_ > filter_.limit) return true;
  const session::RequestProgress progress =
      request.source() != nullptr ? request.source()->progress() : session::RequestProgress{};
  if (filter_.client) {
    if (filter_.client != ClientAddress::of(progress.client)) return true;
    if (++matched_ > filter_.limit) return true;
  }
  keep({.route = activity.site,
        .method = std::string(progress.method),
        .id = std::string(activity.name),
        .trace = std::string(activity.trace),
        .client = progress.client,
        .age = age,
        .step = progress.step,
        .status = progress.status});
  return true;
}

void LiveRequests::keep(LiveRequest request) {
  if (slices_.empty() || slices_.back().size() == slice_max) {
    slices_.emplace_back().reserve(slice_max);
  }
  text_bytes_ += request.method.capacity() + request.id.capacity() + request.trace.capacity();
  slices_.back().push_back(std::move(request));
  ++size_;
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
