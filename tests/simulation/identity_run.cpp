#include "tests/simulation/identity_run.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

#include "katana/base/values/random.hpp"
#include "katana/http/server/kept_log_test.hpp"
#include "katana/http/server/request_telemetry.hpp"
#include "katana/observe/metrics/exposition.hpp"
#include "katana/observe/trace/tracer.hpp"
#include "tests/simulation/identity_clients.hpp"
#include "tests/simulation/workload.hpp"

namespace katana::simulation {
namespace {

using Fault = IdentityClient::Fault;

// The planned requests, by identity.
struct Known {
  Identity identity;
  std::size_t client = 0;
};
using Book = std::map<std::string, Known, std::less<>>;

// Between the sessions and the telemetry: the span of an exchange begins and ends here.
class Spans final : public session::ExchangeObserver {
 public:
  Spans(server::RequestTelemetry& inner, const Book& book, const Fault& fault)
      : inner_(inner), book_(book), fault_(fault) {}

  std::unique_ptr<session::ExchangeContext> on_exchange_begin(
      const http::Head* head, session::ClientSource& from) noexcept override {
    auto context = inner_.on_exchange_begin(head, from);
    if (head != nullptr) {
      begun_[context.get()] = std::string(head->find("x-identity").value_or("none"));
    }
    return context;
  }
  void on_exchange_end(session::Exchange& exchange,
                       const session::ExchangeRecord& record) noexcept override {
    inner_.on_exchange_end(exchange, record);
    const auto span = begun_.extract(exchange.context());
    if (span.empty()) return fault_("an exchange ended that did not begin");
    const auto known = book_.find(span.mapped());
    if (known == book_.end()) return fault_("unknown identity '" + span.mapped() + "'");
    const Identity& identity = known->second.identity;
    const auto expect = [&](Bytes found, const std::string& wanted, const char* what) {
      if (found != wanted) {
        fault_(fmt::format("the record of {} has {} '{}'", identity.target(), what, found));
      }
    };
    expect(record.target, identity.target(), "target");
    expect(record.method, identity.method, "method");
    if (record.route != nullptr) expect(record.route->pattern, identity.pattern(), "route");
    check_peer(known->second.client, exchange.peer());
    if (record.route != nullptr) ++ended_[identity.pattern()];
  }
  // The number of exchanges that have ended, by route.
  const std::map<std::string, std::uint64_t>& ended() const { return ended_; }
  std::size_t open() const { return begun_.size(); }

 private:
  void check_peer(std::size_t client, const engine::PeerAddress& peer) {
    if (peer.size == 0) return;  // it had left before its address was known
    const std::string text(peer.bytes());
    const auto [place, is_new] = clients_.emplace(text, client);
    if (!is_new && place->second != client) {
      fault_(fmt::format("client {} has the peer {} of client {}", client, text, place->second));
    }
  }

  server::RequestTelemetry& inner_;
  const Book& book_;
  const Fault& fault_;
  std::map<const session::ExchangeContext*, std::string> begun_;
  std::map<std::string, std::uint64_t> ended_;
  std::map<std::string, std::size_t> clients_;  // by client
};

class IdentityRun {
 public:
  explicit IdentityRun(const IdentityPlan& plan);
  IdentityVerdict verdict();

 private:
  void add_client(std::size_t number);
  Identity draw_identity(std::size_t client);
  void check_records(IdentityVerdict& verdict);
  void check_spans(IdentityVerdict& verdict);
  void check_metrics();

  const IdentityPlan plan_;
  Random random_;
  const bool lossless_;
  std::vector<std::string> faults_;
  const Fault fault_ = [this](std::string what) {
    if (faults_.size() < 20) faults_.push_back(std::move(what));
  };
  Book book_;
  IdentityService service_;
  server::KeptLog kept_;
  metrics::Registry registry_;
  trace::Tracer tracer_{{.spans_max = 1u << 15,
                         .baggage = {"who"},
                         .clock = [this] { return world_->network().now(); },
                         .seed = 1}};
  std::unique_ptr<server::RequestTelemetry> telemetry_;
  std::unique_ptr<Spans> spans_;
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<IdentityClient>> clients_;
  std::vector<bool> stays_;
};

IdentityRun::IdentityRun(const IdentityPlan& plan)
    : plan_(plan), random_(plan.seed ^ 0x6964656e74), lossless_(random_.below(4) != 0) {
  SimFaults faults = SimFaults::random(plan.seed);
  if (lossless_) faults = faults.lossless();
  WorldOptions options = patient_options(plan.seed, faults);
  options.http.http2.stall_timeout = seconds(600);
  options.http.http2.limits.head_timeout = seconds(120);
  options.http.http2.limits.settings_timeout = seconds(120);
  options.more_routes = [this](Router& router) {
    service_.add_routes(router, plan_.seed % 2 == 1);
  };
  if (plan.observed) {
    telemetry_ = std::make_unique<server::RequestTelemetry>(
        server::RequestTelemetryOptions{.access = kept_.logger("access"),
                                        .slow = kept_.logger("slow"),
                                        .slow_after = milliseconds(10),
                                        .metrics = &registry_,
                                        .tracer = &tracer_});
    spans_ = std::make_unique<Spans>(*telemetry_, book_, fault_);
    options.http.observer = spans_.get();
  }
  world_ = std::make_unique<World>(options);
  if (telemetry_ != nullptr && !telemetry_->prepare(world_->service(Site::trial))) {
    fault_("the metrics cannot be registered");
  }
  for (std::size_t number = 0; number < plan.connections; ++number) add_client(number);
  world_->run_to_rest();
}

Identity IdentityRun::draw_identity(std::size_t client) {
  static constexpr std::array<const char*, 9> routes = {"/plain",  "/later",  "/stream",
                                                        "/write",  "/throw",  "/guarded",
                                                        "/gather", "/digest", "/reflect"};
  Identity identity;
  identity.text = fmt::format("{:016x}", random_.next());
  identity.route = routes[random_.below(routes.size())];
  const bool posts =
      identity.route == "/gather" || identity.route == "/digest" || identity.route == "/reflect";
  identity.method = posts ? "POST" : random_.chance(256) ? "HEAD" : "GET";
  identity.pause_ms = static_cast<std::int64_t>(random_.below(30));
  identity.repeats = random_.chance(128) ? random_.below(600) : random_.below(20);
  book_[identity.text] = {identity, client};
  return identity;
}

void IdentityRun::add_client(std::size_t number) {
  IdentityClientPlan plan;
  for (std::size_t left = random_.between(1, 6); left > 0; --left) {
    plan.requests.push_back(draw_identity(number));
  }
  if (random_.chance(128)) {
    Identity socket{fmt::format("{:016x}", random_.next()), "GET", "/socket", 0, 1};
    book_[socket.text] = {socket, number};
    plan.socket_path = socket.target();
  }
  plan.depth = random_.between(1, 4);
  plan.content_bytes = 1 + random_.below(random_.chance(256) ? 6'000 : 200);
  plan.window = static_cast<std::uint32_t>(random_.between(100, 2'000));
  plan.named = plan_.observed;
  const bool is_http2 = random_.chance(512);
  clients_.push_back(is_http2 ? http2_identity_client(*world_, std::move(plan), fault_)
                              : http1_identity_client(*world_, std::move(plan), fault_));
  stays_.push_back(random_.chance(896));
  IdentityClient& client = *clients_.back();
  const auto start_us = static_cast<std::int64_t>(random_.below(40'000));
  world_->network().after(microseconds(start_us), [&client] { client.begin(); });
  if (stays_.back()) return;
  const auto stay_us = static_cast<std::int64_t>(random_.below(40'000));
  world_->network().after(microseconds(start_us + 1 + stay_us), [&client] { client.reset(); });
}

// Each line names its request by id; all else in it has to be that request's.
void IdentityRun::check_records(IdentityVerdict& verdict) {
  constexpr std::string_view key = R"("request_id":")";
  for (const std::string& line : kept_.lines()) {
    ++verdict.records;
    const std::size_t at = line.find(key);
    const auto known =
        at == std::string::npos ? book_.end() : book_.find(line.substr(at + key.size(), 16));
    if (known == book_.end()) {
      fault_("a record of no known request: " + line);
      continue;
    }
    const Identity& identity = known->second.identity;
    const bool right =
        line.find(fmt::format("{} {}\"", identity.method, identity.target())) !=
            std::string::npos &&
        line.find(fmt::format(R"("trace_id":"{}")", identity.trace())) != std::string::npos &&
        line.find(fmt::format(R"("route":"{}")", identity.pattern())) != std::string::npos;
    if (!right) fault_("a record with parts of another request: " + line);
  }
}

// A span is in the trace of the request that it names: by its baggage, its target, its handler.
void IdentityRun::check_spans(IdentityVerdict& verdict) {
  tracer_.drain([&](const trace::SpanRecord& span) {
    ++verdict.spans;
    std::string who, path;
    for (std::size_t at = 0; at < span.attribute_count(); ++at) {
      const trace::SpanRecord::Attribute& each = span.attribute(at);
      const Bytes key(each.key, each.key_size);
      if (key == "who") who = std::string(span.text(each.text));
      if (key == "url.path") path = std::string(span.text(each.text));
    }
    const auto digits = span.context.trace.hex();
    const Bytes trace(digits.data(), digits.size());
    const bool is_request = span.kind == trace::SpanKind::server;
    if (who.empty() || trace != who + who || (is_request && path.find(who) == std::string::npos)) {
      fault_(fmt::format("the span '{}' of {} in trace {} has path '{}'", span.name(), who, trace,
                         path));
    }
  });
  if (tracer_.counted(trace::Drop::buffer_full) != 0) fault_("spans were dropped");
}

void IdentityRun::check_metrics() {
  std::string told;
  write_exposition(registry_, metrics::Format::prometheus, told);
  for (const auto& [pattern, count] : spans_->ended()) {
    std::uint64_t counted = 0;
    const std::string label = fmt::format("route=\"{}\"", pattern);
    for (std::size_t at = 0, end; (end = told.find('\n', at)) != std::string::npos; at = end + 1) {
      const Bytes line = Bytes(told).substr(at, end - at);
      if (!line.starts_with("katana_http_route_requests_total{")) continue;
      if (line.find(label) == Bytes::npos) continue;
      counted += std::stoull(std::string(line.substr(line.rfind(' ') + 1)));
    }
    if (counted != count) {
      fault_(fmt::format("metrics count {} requests of {}, not {}", counted, pattern, count));
    }
  }
}

IdentityVerdict IdentityRun::verdict() {
  IdentityVerdict verdict;
  for (std::size_t number = 0; number < clients_.size(); ++number) {
    verdict.replies_checked += clients_[number]->check(lossless_ && stays_[number]);
  }
  if (plan_.observed) {
    check_records(verdict);
    check_spans(verdict);
    check_metrics();
    if (spans_->open() != 0) fault_(fmt::format("{} exchanges did not end", spans_->open()));
  }
  verdict.faults = world_->faults_at_rest();
  verdict.faults.insert(verdict.faults.end(), faults_.begin(), faults_.end());
  verdict.faults.insert(verdict.faults.end(), service_.faults().begin(), service_.faults().end());
  verdict.requests = world_->http_counters().requests;
  if (!verdict.faults.empty()) verdict.explanation = world_->network().explain();
  return verdict;
}

}  // namespace

IdentityVerdict run_identities(const IdentityPlan& plan) { return IdentityRun(plan).verdict(); }

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
