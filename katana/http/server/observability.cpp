#include "katana/http/server/observability.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/http/server/reactor_probe.hpp"
#include "katana/net/reactor/shared_wait.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/observe/metrics/exposition.hpp"
#include "katana/observe/metrics/health.hpp"
#include "katana/observe/metrics/process.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/wire/http2/failure.hpp"

namespace katana::server {
namespace {

using metrics::Family;
using metrics::Gauge;
using metrics::ObservedCounter;

struct CounterRow {
  const char* name;
  const char* unit;
  const char* help;
  std::uint64_t (*value)(const ReactorStatistics&);
};

template <net::ClientRefusal refusal>
constexpr auto refused_by = [](const ReactorStatistics& of) {
  return of.counters.client_refusals_by[static_cast<std::size_t>(refusal)];
};

constexpr auto proxy_headers_refused = [](const ReactorStatistics& of) {
  return of.proxied.refused_in_all() + of.proxied.late + of.proxied.cut;
};

// The counters of each reactor, one series for each.
constexpr std::array counter_rows{
    CounterRow{"katana_connections_accepted", "", "Connections that were accepted.",
               [](const ReactorStatistics& of) { return of.counters.accepted; }},
    CounterRow{"katana_connections_closed", "", "Connections that ended.",
               [](const ReactorStatistics& of) { return of.counters.closed; }},
    CounterRow{"katana_connections_cut_off", "",
               "Connections that were still open when the time to drain was over.",
               [](const ReactorStatistics& of) { return of.counters.cut_off; }},
    CounterRow{"katana_tasks_spawned", "", "Tasks that were spawned, runs of jobs among them.",
               [](const ReactorStatistics& of) { return of.tasks.spawned; }},
    CounterRow{"katana_tasks_failed", "", "Spawned tasks that threw or returned an error.",
               [](const ReactorStatistics& of) { return of.tasks.failed; }},
    CounterRow{"katana_tasks_cancelled", "",
               "Spawned tasks that had not ended when the time to drain was over.",
               [](const ReactorStatistics& of) { return of.tasks.cancelled; }},
    CounterRow{"katana_tasks_refused", "",
               "Tasks that were not spawned: http.tasks_max were running, or the server had ended.",
               [](const ReactorStatistics& of) { return of.tasks.refused; }},
    CounterRow{"katana_accept_failures", "",
               "Times that there was no descriptor or memory for a new connection.",
               [](const ReactorStatistics& of) { return of.counters.accept_failures; }},
    CounterRow{"katana_connections_passed_on", "",
               "Connections that a reactor has accepted and given to one that had fewer "
               "(http.balance).",
               [](const ReactorStatistics& of) { return of.counters.passed_on; }},
    CounterRow{"katana_peers_unknown", "",
               "Connections closed when they were accepted, because their client had left and its "
               "address was not known.",
               [](const ReactorStatistics& of) { return of.counters.peers_unknown; }},
    CounterRow{"katana_peers_untrusted", "",
               "Connections closed when they were accepted, because their listener is for trusted "
               "proxies alone.",
               [](const ReactorStatistics& of) { return of.counters.peers_untrusted; }},
    CounterRow{"katana_clients_denied", "",
               "Connections closed when they were accepted, by http.clients.allow or deny.",
               refused_by<net::ClientRefusal::denied>},
    CounterRow{"katana_client_connections_refused", "",
               "Connections closed when they were accepted, because their client had "
               "http.clients.connections_max.",
               refused_by<net::ClientRefusal::connections>},
    CounterRow{"katana_client_rate_refused", "",
               "Connections closed when they were accepted, beyond http.clients.connections_per_s.",
               refused_by<net::ClientRefusal::rate>},
    CounterRow{"katana_client_handshakes_refused", "",
               "Connections closed when they were accepted, because their client had "
               "http.clients.handshakes_max.",
               refused_by<net::ClientRefusal::handshakes>},
    CounterRow{"katana_client_requests_refused", "",
               "Requests refused, because http.clients.requests_max of their client were in "
               "progress (429).",
               [](const ReactorStatistics& of) { return of.counters.client_requests_refused; }},
    CounterRow{"katana_client_receive_pauses", "",
               "Times that a connection was not read for a while, because its client sent more "
               "than http.clients.received_bytes_per_s.",
               [](const ReactorStatistics& of) { return of.counters.client_receive_pauses; }},
    CounterRow{"katana_connections_aged", "",
               "Connections that were told to end because of http.connection_age_max.",
               [](const ReactorStatistics& of) { return of.counters.connections_aged; }},
    CounterRow{"katana_proxy_headers", "", "Headers of the PROXY protocol that were complete.",
               [](const ReactorStatistics& of) { return of.proxied.named + of.proxied.unnamed; }},
    CounterRow{"katana_proxy_headers_refused", "",
               "Connections of trusted proxies that ended because their header was malformed, "
               "late or cut.",
               proxy_headers_refused},
    CounterRow{"katana_file_failures", "",
               "Connections that ended, or files that were cut short, while a file was sent.",
               [](const ReactorStatistics& of) { return of.counters.file_failures; }},
    CounterRow{"katana_send_timeouts", "", "Connections reset because the client took no bytes.",
               [](const ReactorStatistics& of) { return of.counters.send_timeouts; }},
    CounterRow{"katana_pool_pauses", "", "Times that a connection waited for output blocks.",
               [](const ReactorStatistics& of) { return of.counters.pool_pauses; }},
    CounterRow{"katana_pool_exhaustions", "", "Connections reset because a pool was empty.",
               [](const ReactorStatistics& of) { return of.counters.pool_exhausted; }},
    CounterRow{"katana_output_sheds", "",
               "Connections reset because they held output that others needed and took least.",
               [](const ReactorStatistics& of) { return of.counters.output_shed; }},
    CounterRow{"katana_memory_pauses", "",
               "Connections that were not read because they held much and memory was scarce.",
               [](const ReactorStatistics& of) { return of.counters.memory_pauses; }},
    CounterRow{"katana_output_deferrals", "",
               "Output that waited for a later turn because one had sent enough.",
               [](const ReactorStatistics& of) { return of.counters.output_deferrals; }},
    CounterRow{"katana_memory_sheds", "",
               "Times that one of the largest holders of memory was told to give it up.",
               [](const ReactorStatistics& of) { return of.counters.memory_shed; }},
    CounterRow{"katana_http_memory_refusals", "",
               "Requests given up because memory was scarce (503).",
               [](const ReactorStatistics& of) { return of.http.memory_refusals; }},
    CounterRow{"katana_websocket_memory_refusals", "",
               "WebSocket connections closed because memory was scarce (1013).",
               [](const ReactorStatistics& of) { return of.http.websocket.memory_refusals; }},
    CounterRow{"katana_received_bytes", "bytes", "Bytes received from clients and servers.",
               [](const ReactorStatistics& of) { return of.counters.bytes_received; }},
    CounterRow{"katana_sent_bytes", "bytes", "Bytes that the kernel took for clients and servers.",
               [](const ReactorStatistics& of) { return of.counters.bytes_sent; }},
    CounterRow{"katana_reactor_turns", "", "Turns of the reactor.",
               [](const ReactorStatistics& of) { return of.counters.turns; }},
    CounterRow{"katana_http_requests", "", "Requests whose head was complete and well-formed.",
               [](const ReactorStatistics& of) { return of.http.requests; }},
    CounterRow{"katana_http_refusals", "", "Requests that the protocol refused.",
               [](const ReactorStatistics& of) { return of.http.refused; }},
    CounterRow{"katana_http_forwarded_malformed", "",
               "Times that what a trusted proxy says of the client was read and found malformed.",
               [](const ReactorStatistics& of) { return of.http.forwarded_malformed; }},
    CounterRow{"katana_http_handler_failures", "", "Handlers that threw or failed (500).",
               [](const ReactorStatistics& of) { return of.http.handler_failures; }},
    CounterRow{"katana_http_handler_timeouts", "", "Handlers that did not answer in time (503).",
               [](const ReactorStatistics& of) { return of.http.handler_timeouts; }},
    CounterRow{"katana_http_handlers_cancelled", "", "Handlers cancelled because the client left.",
               [](const ReactorStatistics& of) { return of.http.handlers_cancelled; }},
    CounterRow{"katana_websocket_connections_opened", "", "Connections that became WebSocket ones.",
               [](const ReactorStatistics& of) { return of.http.websocket.opened; }},
    CounterRow{"katana_websocket_connections_closed", "", "WebSocket connections that are over.",
               [](const ReactorStatistics& of) { return of.http.websocket.closed; }},
    CounterRow{"katana_websocket_handshakes_refused", "",
               "Requests to WebSocket routes that were no handshake.",
               [](const ReactorStatistics& of) { return of.http.websocket.handshakes_refused; }},
    CounterRow{"katana_websocket_messages_received", "", "Messages passed to handlers.",
               [](const ReactorStatistics& of) { return of.http.websocket.messages_received; }},
    CounterRow{"katana_websocket_messages_sent", "", "Messages queued for clients.",
               [](const ReactorStatistics& of) { return of.http.websocket.messages_sent; }},
    CounterRow{"katana_websocket_refusals", "",
               "Connections that were failed because the client broke a rule.",
               [](const ReactorStatistics& of) { return of.http.websocket.refused; }},
    CounterRow{"katana_websocket_handler_failures", "", "WebSocket handlers that threw (1011).",
               [](const ReactorStatistics& of) { return of.http.websocket.handler_failures; }},
    CounterRow{"katana_websocket_pings", "", "Pings sent to silent clients.",
               [](const ReactorStatistics& of) { return of.http.websocket.pings; }},
    CounterRow{"katana_websocket_timeouts", "",
               "Clients that answered neither a ping nor a close frame in time.",
               [](const ReactorStatistics& of) { return of.http.websocket.timeouts; }},
    CounterRow{"katana_websocket_messages_dropped", "",
               "Messages for connections whose queue was full.",
               [](const ReactorStatistics& of) { return of.http.websocket.dropped; }},
    CounterRow{"katana_websocket_disconnects", "",
               "Connections closed because they read too slowly (1008).",
               [](const ReactorStatistics& of) { return of.http.websocket.disconnects; }},
    CounterRow{"katana_http_replies_aborted", "",
               "Replies that were begun and not completed; the connection was reset.",
               [](const ReactorStatistics& of) { return of.http.replies_aborted; }},
    CounterRow{"katana_tls_resumptions", "", "TLS handshakes that resumed a session.",
               [](const ReactorStatistics& of) { return of.tls.resumed; }},
    CounterRow{"katana_tls_truncations", "",
               "TLS connections that the other side ended without close_notify.",
               [](const ReactorStatistics& of) { return of.tls.truncated; }},
    CounterRow{"katana_tls_handshakes_delayed", "",
               "TLS handshakes that waited for a later turn of the reactor.",
               [](const ReactorStatistics& of) { return of.counters.openings_delayed; }},
    CounterRow{"katana_http2_connections", "", "Connections that spoke HTTP/2.",
               [](const ReactorStatistics& of) { return of.http.http2.connections; }},
    CounterRow{"katana_http2_streams_reset", "",
               "Streams of HTTP/2 given up, or reset because of the client, before their reply.",
               [](const ReactorStatistics& of) { return of.http.http2.streams_reset; }},
    CounterRow{"katana_http2_streams_stalled", "",
               "Streams of HTTP/2 reset because their windows stayed closed.",
               [](const ReactorStatistics& of) { return of.http.http2.streams_stalled; }},
    CounterRow{"katana_http2_requests_held", "",
               "Requests of HTTP/2 that waited for the replies of others to be taken.",
               [](const ReactorStatistics& of) { return of.http.http2.requests_held; }},
    CounterRow{"katana_http2_windows_held", "",
               "Streams of HTTP/2 whose windows waited for the content of others to be done with.",
               [](const ReactorStatistics& of) { return of.http.http2.windows_held; }}};

struct PartRow {
  const char* part;
  std::uint64_t (*value)(const ReactorStatistics&);
};

constexpr std::array paused_rows{
    PartRow{"outbox_full",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.paused.outbox_full; }},
    PartRow{"handler_pending",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.paused.handler_pending; }},
    PartRow{
        "content_unwanted",
        [](const ReactorStatistics& of) -> std::uint64_t { return of.paused.content_unwanted; }},
    PartRow{"pool_low",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.paused.pool_low; }},
    PartRow{"throttled",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.paused.throttled; }},
    PartRow{"relay_full",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.paused.relay_full; }},
    PartRow{"opening",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.paused.opening; }},
    PartRow{"memory_low",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.paused.memory_low; }}};
constexpr std::array version_rows{
    PartRow{"1.2",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.tls.handshakes_1_2; }},
    PartRow{"1.3",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.tls.handshakes_1_3; }}};
constexpr std::array budget_rows{
    PartRow{
        "connections",
        [](const ReactorStatistics& of) -> std::uint64_t { return of.memory_budget.connections; }},
    PartRow{"input",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.memory_budget.carry; }},
    PartRow{"output",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.memory_budget.output; }},
    PartRow{"held",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.memory_budget.held; }}};
constexpr std::array used_rows{
    PartRow{
        "connections",
        [](const ReactorStatistics& of) -> std::uint64_t { return of.memory_used.connections; }},
    PartRow{"input",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.memory_used.carry; }},
    PartRow{"output",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.memory_used.output; }},
    PartRow{"held",
            [](const ReactorStatistics& of) -> std::uint64_t { return of.memory_used.held; }}};

// Produces the text of a registry: one piece at a time, as the client takes it.
class MetricsSource final : public ContentSource {
 public:
  MetricsSource(metrics::Registry& registry, metrics::Format format)
      : exposition_(registry, format) {}

  bool produce(ContentSink& sink) override {
    for (;;) {
      if (left_.empty()) {
        if (exposition_.done()) return true;
        left_ = {piece_.data(), exposition_.fill(piece_)};
        continue;
      }
      if (!sink.write(left_)) return false;
      left_ = {};
    }
  }

 private:
  metrics::Exposition exposition_;
  std::array<char, metrics::Exposition::piece_bytes_min> piece_;
  Bytes left_;
};

// This must not block: the reactor to wait for may be the one that this runs on.
Task<void> await_answers(std::vector<std::shared_ptr<ReactorStatus>> asked) {
  for (const auto& each : asked) {
    const std::shared_ptr<net::SharedEvent> answer = each->answer();
    if (answer == nullptr) continue;
    const bool in_time = co_await answer->wait();
    if (!in_time) co_return;
  }
}

Task<void> await_checks(metrics::HealthChecks& checks, metrics::CheckKind kind) {
  while (!checks.all_finished(kind)) {
    const auto ended = std::make_shared<net::SharedEvent>();
    checks.call_at_ends(kind, [ended] { ended->set(); });
    if (checks.all_finished(kind)) co_return;  // the last one ended meanwhile
    const bool in_time = co_await ended->wait();
    if (!in_time) co_return;
  }
}

// The time for which a page of health is reused. It is far shorter than the interval of probes, and
// long enough to make a flood of requests cheap.
constexpr Duration health_valid_for = milliseconds(10);

Reply health_reply(Bytes json, unsigned status) {
  Text content;
  content.append(json);
  Reply reply = Reply::json(std::move(content));
  reply.set_status(status);
  reply.add_field("Cache-Control", "no-store");
  return reply;
}

}  // namespace

class Observability::State {
 public:
  // The functions are those of Observability.
  explicit State(ObservabilityOptions options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Result<void> register_metrics();
  metrics::Registry& registry() noexcept { return registry_; }
  metrics::HealthChecks& checks() noexcept { return checks_; }
  void mount(const Group& routes, const OperationsGuard& guard);
  void announce_drain() noexcept { draining_.store(true, std::memory_order_relaxed); }
  std::vector<std::shared_ptr<ReactorStatus>> ask_reactors();
  std::unique_ptr<ReactorProbe> probe(net::Reactor& reactor, session::HttpCounters& http);

 private:
  struct Instruments;
  struct KnownHealth;
  struct Watched;

  void refresh() const;
  Task<Reply> tell_metrics(Request request);
  Task<Reply> tell_health(metrics::CheckKind kind);
  // Returns the same at once, if this reactor has made it a moment ago.
  std::optional<Reply> known_health(metrics::CheckKind kind) const;
  bool draining() const noexcept;
  metrics::CheckReport reactors_report(Instant now) const;

  // The page that remember() stored; null: none yet.
  KnownHealth* known(metrics::CheckKind kind) const noexcept;
  void remember(metrics::CheckKind kind, const metrics::HealthReport& report, Bytes json);

  const ObservabilityOptions options_;
  metrics::Registry registry_;
  metrics::HealthChecks checks_;
  std::unique_ptr<Instruments> instruments_;
  std::atomic<bool> draining_ = false;
  mutable std::mutex mutex_;  // guards watched_
  std::vector<std::unique_ptr<Watched>> watched_;
  const std::array<char, 2> known_keys_ = {};  // by kind: their addresses are keys of attachments
};

struct Observability::State::Instruments {
  std::vector<Family<ObservedCounter>> counters;  // as counter_rows
  std::vector<Family<ObservedCounter>> tls;       // handshakes, failures
  std::vector<Family<ObservedCounter>> http2;     // failures
  std::vector<Family<Gauge>> gauges;              // open, paused, budget, used, answered, tasks
  std::vector<Family<metrics::LogHistogram>> lag;
};

// The last /health or /ready page of one reactor, and the end of its validity.
struct Observability::State::KnownHealth final : net::Attachment {
  Instant until = {};
  bool draining = false;
  unsigned status = 200;
  Text json;
};

// One reactor's series, and the sources of their values.
struct Observability::State::Watched {
  std::shared_ptr<ReactorStatus> status = std::make_shared<ReactorStatus>();
  std::vector<ObservedCounter> counters;
  std::vector<ObservedCounter> handshakes, tls_failures;  // as version_rows, and by Failure
  std::vector<ObservedCounter> http2_failures;            // as http2::failure_texts
  Gauge open, answered, tasks;
  std::vector<Gauge> paused, budget, used;
};

Observability::State::State(ObservabilityOptions options)
    : options_(std::move(options)),
      registry_(options_.registry),
      checks_(options_.health),
      instruments_(std::make_unique<Instruments>()) {}

Observability::State::~State() = default;

Result<void> Observability::State::register_metrics() {
  if (auto added = metrics::add_process_metrics(registry_); !added) {
    return std::unexpected(added.error());
  }
  registry_.ask_before_scrape([this] { (void)ask_reactors(); });
  registry_.before_scrape([this] { refresh(); });
  for (const CounterRow& row : counter_rows) {
    auto family = registry_.observed_counters(
        {.name = row.name, .help = row.help, .labels = {"reactor"}, .unit = row.unit});
    if (!family) return std::unexpected(family.error());
    instruments_->counters.push_back(*family);
  }
  const std::array tls{
      metrics::Description{.name = "katana_tls_handshakes",
                           .help = "TLS handshakes that were completed.",
                           .labels = {"reactor", "version"}},
      metrics::Description{.name = "katana_tls_failures",
                           .help = "TLS connections that failed, nearly all in the handshake.",
                           .labels = {"reactor", "reason"}}};
  for (const metrics::Description& description : tls) {
    auto family = registry_.observed_counters(description);
    if (!family) return std::unexpected(family.error());
    instruments_->tls.push_back(*family);
  }
  auto failures = registry_.observed_counters(
      {.name = "katana_http2_connection_failures",
       .help =
           "Connections of HTTP/2 that ended because of their client, and those that were idle.",
       .labels = {"reactor", "reason"}});
  if (!failures) return std::unexpected(failures.error());
  instruments_->http2.push_back(*failures);
  const std::array gauges{
      metrics::Description{
          .name = "katana_connections_open", .help = "Open connections.", .labels = {"reactor"}},
      metrics::Description{.name = "katana_connections_paused",
                           .help = "Connections that are paused at present, by reason.",
                           .labels = {"reactor", "reason"}},
      metrics::Description{.name = "katana_memory_budget_bytes",
                           .help = "Upper bound of the memory of each pool of the reactor.",
                           .labels = {"reactor", "pool"},
                           .unit = "bytes"},
      metrics::Description{.name = "katana_memory_used_bytes",
                           .help = "Memory that is taken from the reactor's pools.",
                           .labels = {"reactor", "pool"},
                           .unit = "bytes"},
      metrics::Description{.name = "katana_reactor_answered",
                           .help = "1 if the reactor gave its figures to this scrape in time, 0 if "
                                   "they are older.",
                           .labels = {"reactor"}},
      metrics::Description{.name = "katana_tasks_running",
                           .help = "Spawned tasks that have not ended.",
                           .labels = {"reactor"}}};
  for (const metrics::Description& description : gauges) {
    auto family = registry_.gauges(description);
    if (!family) return std::unexpected(family.error());
    instruments_->gauges.push_back(*family);
  }
  auto lag = registry_.log_histograms(
      {.name = "katana_reactor_lag_seconds",
       .help = "Lateness of reactor timers, with a resolution of one millisecond.",
       .labels = {"reactor"},
       .unit = "seconds"},
      {metrics::LogBuckets(3, 60'000'000'000), 1e9});
  if (!lag) return std::unexpected(lag.error());
  instruments_->lag.push_back(*lag);
  return {};
}

std::unique_ptr<ReactorProbe> Observability::State::probe(net::Reactor& reactor,
                                                          session::HttpCounters& http) {
  const std::lock_guard lock(mutex_);
  const std::size_t index_of_reactor = watched_.size();
  const std::string number = std::to_string(index_of_reactor);
  Watched& watched = *watched_.emplace_back(std::make_unique<Watched>());
  for (const auto& family : instruments_->counters) watched.counters.push_back(family.with(number));
  for (const PartRow& row : version_rows) {
    watched.handshakes.push_back(instruments_->tls[0].with(number, row.part));
  }
  for (std::size_t index = 1; index < tls::failure_count; ++index) {
    const auto failure = static_cast<tls::Failure>(index);
    watched.tls_failures.push_back(instruments_->tls[1].with(number, tls::name_of(failure)));
  }
  for (const auto& text : http2::failure_texts) {
    watched.http2_failures.push_back(instruments_->http2[0].with(number, text.name));
  }
  const auto& gauges = instruments_->gauges;
  watched.open = gauges[0].with(number);
  for (const PartRow& row : paused_rows) watched.paused.push_back(gauges[1].with(number, row.part));
  for (const PartRow& row : budget_rows) watched.budget.push_back(gauges[2].with(number, row.part));
  for (const PartRow& row : used_rows) watched.used.push_back(gauges[3].with(number, row.part));
  watched.answered = gauges[4].with(number);
  watched.tasks = gauges[5].with(number);
  return std::make_unique<ReactorProbe>(reactor, index_of_reactor, http, watched.status,
                                        instruments_->lag[0].with(number), options_.lag_interval);
}

// Sets every series from the present figures.
void Observability::State::refresh() const {
  const std::lock_guard lock(mutex_);
  for (const auto& watched : watched_) {
    const ReactorStatistics statistics = watched->status->statistics();
    for (std::size_t row = 0; row < counter_rows.size(); ++row) {
      watched->counters[row].observe(static_cast<double>(counter_rows[row].value(statistics)));
    }
    for (std::size_t row = 0; row < version_rows.size(); ++row) {
      watched->handshakes[row].observe(static_cast<double>(version_rows[row].value(statistics)));
    }
    for (std::size_t index = 1; index < tls::failure_count; ++index) {
      watched->tls_failures[index - 1].observe(static_cast<double>(statistics.tls.failures[index]));
    }
    for (std::size_t row = 0; row < watched->http2_failures.size(); ++row) {
      watched->http2_failures[row].observe(
          static_cast<double>(statistics.http.http2.failures[row]));
    }
    const auto set = [&statistics](const auto& gauges, const auto& rows) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        gauges[row].set(static_cast<double>(rows[row].value(statistics)));
      }
    };
    set(watched->paused, paused_rows);
    set(watched->budget, budget_rows);
    set(watched->used, used_rows);
    watched->open.set(statistics.links_open);
    watched->tasks.set(static_cast<double>(statistics.tasks_running));
    watched->answered.set(watched->status->answered() ? 1 : 0);
  }
}

std::vector<std::shared_ptr<ReactorStatus>> Observability::State::ask_reactors() {
  std::vector<std::shared_ptr<ReactorStatus>> asked;
  const std::lock_guard lock(mutex_);
  for (const auto& watched : watched_) {
    watched->status->request();
    asked.push_back(watched->status);
  }
  return asked;
}

Task<Reply> Observability::State::tell_metrics(Request request) {
  (void)co_await net::with_timeout(await_answers(ask_reactors()), options_.scrape_patience);
  const auto format = metrics::choose_format(request.field("accept").value_or(""));
  Reply reply = Reply::stream("text/plain", http::unknown_length,
                              std::make_unique<MetricsSource>(registry_, format));
  reply.set_content_type(metrics::content_type(format));
  reply.add_field("Vary", "Accept");
  co_return reply;
}

// Reads the published turn of each reactor without asking it: a busy reactor would not answer, and
// the reply would wait for the slowest one.
metrics::CheckReport Observability::State::reactors_report(Instant now) const {
  const std::lock_guard lock(mutex_);
  const auto silent = std::ranges::count_if(watched_, [&](const auto& watched) {
    return watched->status->busy_for(now) > options_.reactor_timeout;
  });
  metrics::CheckReport own;
  own.name = "reactors";
  own.kind = metrics::CheckKind::liveness;
  own.status = silent == 0 ? metrics::CheckStatus::passed : metrics::CheckStatus::timed_out;
  if (silent != 0) own.detail = fmt::format("{} of {} do not answer", silent, watched_.size());
  return own;
}

bool Observability::State::draining() const noexcept {
  // A restart does not count: another process serves, and a client of an old connection is to stay.
  const net::Reactor& reactor = *net::Reactor::current();
  return (reactor.draining() && reactor.handover() == nullptr) ||
         draining_.load(std::memory_order_relaxed);
}

Observability::State::KnownHealth* Observability::State::known(
    metrics::CheckKind kind) const noexcept {
  const void* const key = &known_keys_[static_cast<std::size_t>(kind)];
  return static_cast<KnownHealth*>(net::Reactor::current()->attached(key));
}

std::optional<Reply> Observability::State::known_health(metrics::CheckKind kind) const {
  const KnownHealth* const page = known(kind);
  if (page == nullptr || net::Reactor::current()->now() >= page->until ||
      page->draining != draining()) {
    return std::nullopt;
  }
  return health_reply(page->json.bytes(), page->status);
}

void Observability::State::remember(metrics::CheckKind kind, const metrics::HealthReport& report,
                                    Bytes json) {
  net::Reactor& reactor = *net::Reactor::current();
  KnownHealth* page = known(kind);
  if (page == nullptr) {
    auto made = std::make_unique<KnownHealth>();
    page = made.get();
    reactor.attach(&known_keys_[static_cast<std::size_t>(kind)], std::move(made));
  }
  // At most as long as the results of its checks are fresh.
  const Duration fresh = checks_.fresh_min(kind);
  Duration left = fresh;
  for (const metrics::CheckReport& each : report.checks) {
    left = std::min(left, Duration{fresh.ns - each.age.ns});
  }
  page->until = reactor.now() + std::min(left, health_valid_for);
  page->draining = draining();
  page->status = report.healthy() ? 200 : 503;
  page->json = Text();
  page->json.append(json);
}

Task<Reply> Observability::State::tell_health(metrics::CheckKind kind) {
  const Instant began = net::Reactor::current()->now();
  const bool liveness = kind == metrics::CheckKind::liveness;
  checks_.refresh(kind);
  // A check that hangs fails at its timeout, by its own clock. A moment later it is overdue by this
  // clock, too.
  (void)co_await net::with_timeout(await_checks(checks_, kind),
                                   Duration{checks_.timeout_max(kind).ns + milliseconds(20).ns});
  metrics::HealthReport report = checks_.report(kind);
  metrics::CheckReport own;
  own.kind = kind;
  own.took = net::Reactor::current()->now() - began;
  if (liveness) {
    own = reactors_report(net::Reactor::current()->now());
  } else {
    own.name = "accepting";
    own.status = draining() ? metrics::CheckStatus::failed : metrics::CheckStatus::passed;
    if (draining()) own.detail = "the server is draining";
  }
  report.checks.push_back(std::move(own));
  const Text json = report.to_json();
  remember(kind, report, json.bytes());
  co_return health_reply(json.bytes(), report.healthy() ? 200 : 503);
}

void Observability::State::mount(const Group& routes, const OperationsGuard& guard) {
  routes.group("").use(guard.pages()).get("/metrics", [this](Request request) {
    return tell_metrics(std::move(request));
  });
  const auto probe = [&](const char* path, metrics::CheckKind kind) {
    Middleware at_once;
    at_once.admit = [this, kind](const RequestView&, session::Exchange&) {
      return known_health(kind);
    };
    routes.group("").use(guard.details()).use(std::move(at_once)).get(path, [this, kind] {
      return tell_health(kind);
    });
  };
  probe("/health", metrics::CheckKind::liveness);
  probe("/ready", metrics::CheckKind::readiness);
}

Observability::Observability(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Observability::~Observability() = default;

Result<std::unique_ptr<Observability>> Observability::make(ObservabilityOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  if (auto added = state->register_metrics(); !added) return std::unexpected(added.error());
  return std::unique_ptr<Observability>(new Observability(std::move(state)));
}

metrics::Registry& Observability::registry() noexcept { return state_->registry(); }

metrics::HealthChecks& Observability::checks() noexcept { return state_->checks(); }

void Observability::mount(const Group& routes, const OperationsGuard& guard) {
  state_->mount(routes, guard);
}

void Observability::announce_drain() noexcept { state_->announce_drain(); }

std::vector<std::shared_ptr<ReactorStatus>> Observability::ask_reactors() {
  return state_->ask_reactors();
}

std::unique_ptr<ReactorProbe> Observability::probe(net::Reactor& reactor,
                                                   session::HttpCounters& http) {
  return state_->probe(reactor, http);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
