// The guard of the pages of operations, and the records of the start about it.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/app/behind_proxy.hpp"
#include "katana/app/profile_page.hpp"
#include "katana/app/program.hpp"
#include "katana/net/engine/sockets.hpp"

namespace katana::app {

// Makes the guard that decides which clients see the pages of operations: see
// http/server/operations.hpp.
Result<void> Program::make_guard() {
  const auto present = settings();
  if (auto checked = check_operations(*present); !checked) return checked;
  std::vector<std::string> sockets;
  for (const int socket : manager_.listeners()) sockets.push_back(engine::address_of(socket));
  server::OperationsRules rules = operations_rules_of(*present, std::move(sockets));
  rules.every_client_is_local = embedding_.has_value();
  if (present->operations.port != 0) {
    rules.listener = server::HttpServer::operations_listener(manager_.listeners(),
                                                             present->http.listeners.size());
  }
  guard_ = std::make_unique<server::OperationsGuard>(std::move(rules));
  return {};
}

// An embedded program shares its process with tests, whose time is virtual.
void Program::add_profile_page(Group& pages) {
  const ProfileSettings& profile = settings()->profile;
  if (!profile.enabled || embedding_) return;
  profile_page_ = std::make_unique<ProfilePage>(options_.name, profile, *observability_,
                                                pools_->work());
  profile_page_->add_to(pages);
}

// The first listener that is not of this machine alone.
std::string Program::exposed_url() const {
  const auto present = settings();
  const std::vector<server::ListenerOptions>& listeners = present->http.listeners;
  const auto exposed = std::ranges::find_if_not(listeners, [](const server::ListenerOptions& each) {
    return server::is_loopback(each.address);
  });
  const bool is_first =
      !manager_.listeners().empty() || !server::is_loopback(present->http.address);
  if (is_first || exposed == listeners.end()) return url();
  return server_->other_urls()[static_cast<std::size_t>(exposed - listeners.begin())];
}

// Logs at the start which clients may see the pages and the causes of failures. An operator
// otherwise learns it too late.
void Program::tell_operations() const {
  const auto present = settings();
  for (const std::string& note : settings_->notes()) logger_.warn("configuration: {}", note);
  if (present->development && guard_->exposed()) {
    logger_.warn(
        "development is true, and {} is not a loopback address: every client is shown the causes "
        "of failures; set development: false",
        exposed_url());
  }
  const char* const with_token = present->operations.token.empty() ? "" : ", with the token";
  constexpr std::string_view pages = "operations pages (/metrics, details of /health and /ready)";
  const server::OperationsOff off = guard_->off();
  if (present->operations.port != 0) {
    const std::string own = server_->operations_url();
    logger_.info("{}: on {}{}", pages, own, with_token);
  } else if (off == server::OperationsOff::exposed) {
    logger_.warn(
        "{} are off: {} is not a loopback address; set operations.port or operations.token", pages,
        exposed_url());
  } else if (off != server::OperationsOff::no) {
    logger_.warn("{} are off: {}; {}", pages, reason_of(off, present->http), operations_remedy);
  } else if (present->operations.token.empty()) {
    logger_.info("{}: on {}, for clients of this machine; before a proxy or a tunnel leads here {}",
                 pages, url(), operations_remedy);
  } else {
    logger_.info("{}: on {}{}", pages, url(), with_token);
  }
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
