#include "katana/http/server/standard_durations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "katana/http/session/client.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/observe/metrics/standard_names.hpp"
#include "katana/wire/http/method.hpp"

namespace katana::server {
namespace {

// The values of a series but for its route, in one number.
enum Version : std::uint32_t { unknown, http_1_0, http_1_1, http_2 };
constexpr std::uint32_t status_bits = 10, version_bits = 2, method_bits = 4;
constexpr std::uint32_t version_at = status_bits;
constexpr std::uint32_t method_at = version_at + version_bits;
constexpr std::uint32_t secure_at = method_at + method_bits;
constexpr std::uint32_t aborted_at = secure_at + 1;

constexpr std::uint32_t part(std::uint32_t key, std::uint32_t at, std::uint32_t bits) noexcept {
  return key >> at & ((1u << bits) - 1);
}

bool is_secure(session::Exchange& exchange, const http::Head& head) noexcept {
  const session::Arrival arrival = exchange.arrival();
  return arrival.trust == nullptr ? arrival.is_secure
                                  : session::client_of(arrival, head).is_secure();
}

std::uint32_t key_of(session::Exchange& exchange, const session::ExchangeRecord& record) noexcept {
  std::uint32_t key = std::min(record.status, (1u << status_bits) - 1);
  key |= static_cast<std::uint32_t>(http::method_from(record.method)) << method_at;
  if (record.end == session::ExchangeEnd::aborted) key |= 1u << aborted_at;
  if (record.head == nullptr) return key;
  const Version version = record.is_http2                     ? http_2
                          : record.head->minor_version() == 0 ? http_1_0
                                                              : http_1_1;
  key |= std::uint32_t{version} << version_at;
  if (is_secure(exchange, *record.head)) key |= 1u << secure_at;
  return key;
}

Bytes method_of(std::uint32_t key) noexcept {
  const std::uint32_t method = part(key, method_at, method_bits);
  return method < http::method_names.size() ? http::method_names[method] : Bytes("_OTHER");
}

Bytes version_of(std::uint32_t key) noexcept {
  switch (part(key, version_at, version_bits)) {
    case http_1_0: return "1.0";
    case http_1_1: return "1.1";
    case http_2: return "2";
    default: return "";
  }
}

}  // namespace

StandardDurations::~StandardDurations() {
  for (const auto& route : routes_) {
    const Node* node = route.load(std::memory_order_relaxed);
    while (node != nullptr) delete std::exchange(node, node->next);
  }
}

Result<void> StandardDurations::prepare(metrics::Registry& registry, std::size_t routes,
                                        bool is_exposed) {
  auto family = registry.log_histograms(
      metrics::description_of(metrics::http_server_request_duration(), is_exposed),
      metrics::standard_shape());
  if (!family) return std::unexpected(family.error());
  routes_ = std::vector<std::atomic<const Node*>>(routes + 1);
  family_ = *family;
  return {};
}

void StandardDurations::observe(session::Exchange& exchange,
                                const session::ExchangeRecord& record) noexcept {
  const Node* const node = find_or_add(key_of(exchange, record), record);
  if (node != nullptr) node->series.observe(record.duration);
}

const StandardDurations::Node* StandardDurations::find_or_add(
    std::uint32_t key, const session::ExchangeRecord& record) noexcept {
  const std::size_t last = routes_.size() - 1;
  std::atomic<const Node*>& route =
      routes_[record.route != nullptr ? std::min<std::size_t>(record.route->number, last) : last];
  // acquire: the nodes are complete
  const Node* first = route.load(std::memory_order_acquire);
  for (const Node* each = first; each != nullptr; each = each->next) {
    if (each->key == key) [[likely]]
      return each;
  }
  try {
    const std::uint32_t code = part(key, 0, status_bits);
    const std::string status = code == 0 ? std::string() : std::to_string(code);
    const bool is_aborted = part(key, aborted_at, 1) != 0;
    const Bytes error = code >= 500 ? Bytes(status) : is_aborted ? Bytes("aborted") : Bytes();
    const Bytes pattern = record.route != nullptr ? Bytes(record.route->pattern) : Bytes();
    auto made = std::make_unique<Node>(
        Node{key,
             family_->with(method_of(key), part(key, secure_at, 1) != 0 ? "https" : "http", pattern,
                           status, version_of(key), error),
             first});
    // release: with the load above. Two nodes of one key have one series: this does no harm.
    while (!route.compare_exchange_weak(made->next, made.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
    return made.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
