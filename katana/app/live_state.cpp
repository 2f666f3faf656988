#include "katana/app/live_state.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "katana/base/memory/walked_list.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/observe/metrics/process.hpp"
#include "katana/stores/database/statement_observer.hpp"

namespace katana::app {
namespace {

constexpr std::size_t statement_text_bytes_max = 2000;
// The time for which a document waits for the depths of queues, which a database knows.
constexpr Duration queues_patience = milliseconds(500);

std::int64_t signed_of(std::uint64_t count) noexcept { return static_cast<std::int64_t>(count); }

// The statements that a reactor's coroutines have begun.
class LiveStatements final : public server::ReactorWalk {
 public:
  static constexpr std::size_t slice_max = 64;

  explicit LiveStatements(std::size_t limit) : limit_(limit) {}
  std::vector<StatementEntry>& rows() noexcept { return rows_; }
  std::size_t count() const noexcept { return count_; }
  bool is_listed() const noexcept { return is_listed_; }

 private:
  using Running = database::detail::Observation;

  bool slice(net::Reactor&) noexcept override {
    auto* const running = ThreadLists<Running>::own();
    if (running == nullptr) {
      is_listed_ = false;
      return true;
    }
    try {
      if (!std::exchange(begun_, true)) {
        rows_.reserve(std::min<std::size_t>(limit_, 1000));
        walk_.begin(*running);
      }
      return walk_.step(slice_max, [this](const Running& each) {
        if (++count_ <= limit_) keep(each);
        return true;
      });
    } catch (const std::bad_alloc&) {
      return true;
    }
  }
  void end() noexcept override { walk_.end(); }
  void keep(const Running& each) {
    const Activity* const activity = each.activity();
    const Duration age = std::max(each.observer().now() - each.began(), Duration{});
    rows_.push_back(
        {.statement = each.name().text,
         .text = std::string(each.text().substr(0, statement_text_bytes_max)),
         .age_ms = age.count_ms(),
         .state = each.is_paused() ? "paused" : "running",
         .request_id = activity != nullptr ? std::string(activity->name) : std::string(),
         .trace_id = activity != nullptr ? std::string(activity->trace) : std::string()});
  }

  const std::size_t limit_;
  ListWalk<Running> walk_;
  bool begun_ = false;
  bool is_listed_ = true;
  std::size_t count_ = 0;
  std::vector<StatementEntry> rows_;
};

std::string shown_of(const engine::PeerEndpoint& endpoint) {
  return std::string(endpoint.text().bytes());
}

Bytes name_of(session::RequestStep step) noexcept {
  switch (step) {
    case session::RequestStep::receiving: return "receiving";
    case session::RequestStep::handling: return "handling";
    case session::RequestStep::replying: return "replying";
  }
  return "";
}

std::vector<PausedEntry> entries_of(const net::PauseCounts& paused) {
  std::vector<PausedEntry> rows;
  const auto add = [&rows](const char* reason, std::uint32_t count) {
    if (count != 0) rows.push_back({reason, count});
  };
  add("outbox_full", paused.outbox_full);
  add("handler_pending", paused.handler_pending);
  add("content_unwanted", paused.content_unwanted);
  add("pool_low", paused.pool_low);
  add("throttled", paused.throttled);
  add("relay_full", paused.relay_full);
  add("opening", paused.opening);
  add("memory_low", paused.memory_low);
  return rows;
}

void add_memory(std::vector<MemoryEntry>& rows, std::size_t reactor,
                const server::ReactorStatistics& of) {
  const auto add = [&](const char* pool, std::size_t used, std::size_t limit) {
    rows.push_back(
        {"reactor " + std::to_string(reactor) + ": " + pool, signed_of(used), signed_of(limit)});
  };
  add("connections", of.memory_used.connections, of.memory_budget.connections);
  add("input", of.memory_used.carry, of.memory_budget.carry);
  add("output", of.memory_used.output, of.memory_budget.output);
  add("held for requests and messages", of.memory_used.held, of.memory_budget.held);
}

DatabaseEntry entry_of(database::Database& database) {
  const database::Statistics of = database.statistics();
  DatabaseEntry row{
      .system = std::string(database.backend().system()),
      .usable = of.usable,
      .connections = of.readers,
      .connections_busy = of.readers_busy,
      .reads_waiting = of.reads_waiting,
      .writes_waiting = of.writes_waiting,
      .streams_open = of.streams_open,
      .transactions = signed_of(of.transactions),
      .timeouts = signed_of(of.timeouts),
      .refused = signed_of(of.refused_full + of.refused_waited + of.refused_unusable)};
  if (auto healthy = database.health(); !healthy) row.problem = healthy.error().describe();
  return row;
}

PoolEntry entry_of(const thread::Snapshot& of) {
  std::uint64_t queued = 0;
  for (const std::uint64_t each : of.queued) queued += each;
  return {.name = of.name,
          .threads = of.threads,
          .threads_parked = of.threads_parked,
          .queued = signed_of(queued),
          .timed_waiting = signed_of(of.timed_waiting),
          .ran = signed_of(of.ran),
          .failed = signed_of(of.failed),
          .refused = signed_of(of.refused),
          .wait_p99_ms = of.wait.quantile(0.99).count_ms()};
}

JobEntry entry_of(const std::string& name, const jobs::JobStatistics& of, Instant now) {
  std::uint64_t skipped = 0;
  for (const std::uint64_t each : of.skipped) skipped += each;
  JobEntry row{.name = name,
               .running = of.running,
               .overdue = !of.health(now).has_value(),
               .runs = signed_of(of.runs),
               .failures = signed_of(of.failures),
               .failures_in_a_row = signed_of(of.failures_in_a_row),
               .skipped = signed_of(skipped),
               .last_duration_ms = of.last_duration.count_ms(),
               .last_failure = of.last_failure};
  if (of.last_success) {
    const auto at = std::chrono::time_point_cast<std::chrono::seconds>(*of.last_success);
    row.last_success = std::string(Bytes(TextForm<std::chrono::sys_seconds>::write(at)));
  }
  return row;
}

CacheEntry entry_of(const NamedCacheStatistics& of) {
  return {.name = of.name,
          .entries = signed_of(of.statistics.entries),
          .bytes = signed_of(of.statistics.bytes),
          .hits = signed_of(of.statistics.hits),
          .misses = signed_of(of.statistics.misses),
          .evictions = signed_of(of.statistics.evictions),
          .loads_running = signed_of(of.statistics.loads_running),
          .load_failures = signed_of(of.statistics.load_failures)};
}

BusEntry entry_of(bus::Bus& bus) {
  const bus::Health health = bus.health();
  const bus::BusStatistics of = bus.statistics();
  return {.state = std::string(bus::name_of(health.state)),
          .detail = health.detail,
          .subscriptions = signed_of(of.subscriptions),
          .waiting = signed_of(of.waiting),
          .waiting_bytes = signed_of(of.waiting_bytes),
          .kept = signed_of(of.kept),
          .published = signed_of(of.published),
          .delivered = signed_of(of.delivered),
          .dropped = signed_of(of.dropped)};
}

}  // namespace

RequestEntry entry_of(const server::LiveRequest& request, std::size_t reactor) {
  RequestEntry row{.method = request.method,
                   .age_ms = request.age.count_ms(),
                   .state = std::string(name_of(request.step)),
                   .client = shown_of(request.client),
                   .request_id = request.id,
                   .trace_id = request.trace,
                   .reactor = signed_of(reactor)};
  if (request.status != 0) row.status = request.status;
  if (request.route == nullptr) return row;
  const std::size_t space = request.route->find(' ');
  if (row.method.empty()) row.method = request.route->substr(0, space);
  row.route = space != std::string::npos ? request.route->substr(space + 1) : *request.route;
  return row;
}

ConnectionEntry entry_of(const server::LiveConnection& connection, std::size_t reactor) {
  return {
      .client = shown_of(connection.peer),
      .protocol = std::string(connection.protocol),
      .direction = connection.is_outgoing ? "out" : "in",
      .tls = connection.has_tls,
      .state = std::string(net::connection_state_names[static_cast<std::size_t>(connection.state)]),
      .paused = server::pause_text(connection.pause_reasons),
      .age_ms = connection.age.count_ms(),
      .requests = connection.requests,
      .bytes_received = signed_of(connection.bytes_received),
      .bytes_sent = signed_of(connection.bytes_sent),
      .input_bytes = signed_of(connection.input_bytes),
      .output_bytes = signed_of(connection.output_bytes),
      .reactor = signed_of(reactor)};
}

CoroutineEntry entry_of(const server::LiveCoroutine& coroutine, std::size_t reactor) {
  CoroutineEntry row{.route = coroutine.route != nullptr ? *coroutine.route : std::string(),
                     .request_id = coroutine.id,
                     .trace_id = coroutine.trace,
                     .waiting_ms = coroutine.waiting.count_ms(),
                     .reactor = signed_of(reactor)};
  for (const server::LiveFrame& frame : coroutine.frames) {
    row.frames.push_back({.depth = frame.depth,
                          .function = server::short_name(frame.where.function_name()),
                          .at = fmt::format("{}:{}", server::short_path(frame.where.file_name()),
                                            frame.where.line()),
                          .awaits = std::string(frame.awaits),
                          .waiting_ms = frame.waiting.count_ms()});
  }
  return row;
}

template <class Walk, class Make>
Task<std::vector<WalkedReactor<Walk>>> LiveState::walk(Make make, Duration time,
                                                       server::WhenLate late) const {
  std::vector<WalkedReactor<Walk>> walked;
  std::vector<std::shared_ptr<server::ReactorWalk>> begun;
  for (const auto& status : sources_.observability->ask_reactors()) {
    auto& each = walked.emplace_back(walked.size(), make());
    if (status->begin(each.walk)) {
      begun.push_back(each.walk);
    } else {
      each.walk = nullptr;
    }
  }
  (void)co_await net::with_timeout(server::walk_ends(begun, late), time);
  if (late == server::WhenLate::go_on) co_return walked;
  for (auto& each : walked) {
    if (each.walk != nullptr && !each.walk->is_over()) each.walk = nullptr;
  }
  co_return walked;
}

Task<std::vector<WalkedReactor<server::LiveRequests>>> LiveState::requests(
    server::LiveRequestFilter filter, Duration time) const {
  return walk<server::LiveRequests>(
      [filter = std::move(filter)] { return std::make_shared<server::LiveRequests>(filter); }, time,
      server::WhenLate::abandon);
}

Task<std::vector<WalkedReactor<server::LiveCoroutines>>> LiveState::coroutines(
    server::LiveCoroutineFilter filter) const {
  return walk<server::LiveCoroutines>(
      [filter = std::move(filter)] { return std::make_shared<server::LiveCoroutines>(filter); },
      list_patience, server::WhenLate::abandon);
}

Task<std::vector<WalkedReactor<server::LiveConnections>>> LiveState::connections(
    server::LiveConnectionFilter filter) const {
  return walk<server::LiveConnections>(
      [filter = std::move(filter)] { return std::make_shared<server::LiveConnections>(filter); },
      list_patience, server::WhenLate::abandon);
}

Task<LiveState::Statements> LiveState::statements(std::size_t limit, Duration time) const {
  Statements found;
  const auto walked = co_await walk<LiveStatements>(
      [limit] { return std::make_shared<LiveStatements>(limit); }, time, server::WhenLate::abandon);
  for (const auto& [number, walk] : walked) {
    if (walk == nullptr) {
      found.silent.push_back(number);
      continue;
    }
    if (!walk->is_listed()) found.unlisted.push_back(number);
    found.count += walk->count();
    for (StatementEntry& row : walk->rows()) {
      row.reactor = signed_of(number);
      found.rows.push_back(std::move(row));
    }
  }
  std::ranges::sort(found.rows, std::greater(), &StatementEntry::age_ms);
  if (found.rows.size() > limit) found.rows.resize(limit);
  co_return found;
}

Task<LiveState::Closed> LiveState::close_client(server::ClientAddress client) const {
  const auto walked = co_await walk<server::ClientCloser>(
      [client] { return std::make_shared<server::ClientCloser>(client); }, patience,
      server::WhenLate::go_on);
  Closed closed;
  for (const auto& [number, walk] : walked) {
    // First: a walk that is over has its last count.
    if (walk == nullptr || !walk->is_over()) closed.silent.push_back(number);
    if (walk != nullptr) closed.count += walk->closed();
  }
  co_return closed;
}

void LiveState::add_reactors(StateDocument& document) const {
  const Instant now = monotonic_now();
  const auto statuses = sources_.observability->ask_reactors();
  for (std::size_t number = 0; number < statuses.size(); ++number) {
    const server::ReactorStatus& status = *statuses[number];
    const server::ReactorStatistics of = status.statistics();
    const Duration busy = status.busy_for(now);
    document.reactors.push_back({.number = signed_of(number),
                                 .busy_ms = busy.count_ms(),
                                 .busy_with = status.busy_with(),
                                 .connections = of.links_open,
                                 .tasks = signed_of(of.tasks_running),
                                 .cpu_ms = of.cpu_time.count_ms(),
                                 .turns = signed_of(of.counters.turns),
                                 .requests = signed_of(of.http.requests),
                                 .bytes_received = signed_of(of.counters.bytes_received),
                                 .bytes_sent = signed_of(of.counters.bytes_sent),
                                 .paused = entries_of(of.paused)});
    document.connections_open += of.links_open;
    add_memory(document.memory, number, of);
  }
}

void LiveState::add_parts(StateDocument& document, Instant now) const {
  if (sources_.database != nullptr) document.database = entry_of(*sources_.database);
  for (const auto& pool : sources_.pools->all())
    document.pools.push_back(entry_of(pool->snapshot()));
  for (const auto& [name, statistics] : sources_.jobs->statistics()) {
    document.jobs.push_back(entry_of(name, statistics, now));
  }
  for (const NamedCacheStatistics& each : sources_.caches->statistics()) {
    document.caches.push_back(entry_of(each));
    document.memory.push_back({"cache " + each.name, signed_of(each.statistics.bytes), 0});
  }
  if (sources_.bus != nullptr) {
    document.bus = entry_of(*sources_.bus);
    document.memory.push_back({"bus: messages for reactors", document.bus->waiting_bytes, 0});
  }
  if (const auto process = metrics::read_process()) {
    document.memory.push_back(
        {"process: resident", static_cast<std::int64_t>(process->resident_bytes), 0});
  }
  std::ranges::sort(document.memory, std::greater(), &MemoryEntry::used_bytes);
}

Task<void> LiveState::add_queues(StateDocument& document) const {
  ApplicationQueues* const queues = sources_.queues;
  if (queues == nullptr || queues->empty()) co_return;
  for (const std::string& name : queues->names()) {
    const Result<queue::QueueDepth> depth =
        co_await net::with_timeout(queues->queue().depth(name), queues_patience);
    if (!depth) {
      document.queues_problem = depth.error().describe();
      co_return;
    }
    document.queues.push_back({.queue = name,
                               .ready = depth->ready,
                               .delayed = depth->delayed,
                               .running = depth->running,
                               .dead = depth->dead,
                               .waited_ms = depth->waited_us / 1000});
  }
}

Task<StateDocument> LiveState::document(std::size_t limit) const {
  const net::Reactor& reactor = *net::Reactor::current();
  StateDocument document{.program = sources_.program,
                         .version = sources_.version,
                         .pid = ::getpid(),
                         .uptime_ms = (reactor.now() - sources_.started).count_ms(),
                         .draining = reactor.draining(),
                         .requests_listed = sources_.requests_listed,
                         .insecure = sources_.insecure};
  server::LiveRequestFilter filter;
  filter.limit = limit;
  const auto walked = co_await requests(std::move(filter), patience);
  Statements statements = co_await this->statements(limit, patience);
  document.statements_running = signed_of(statements.count);
  document.statements = std::move(statements.rows);
  add_reactors(document);
  for (const auto& [number, walk] : walked) {
    if (walk == nullptr || number >= document.reactors.size()) continue;
    ReactorEntry& row = document.reactors[number];
    row.answered = true;
    row.unlisted = !walk->is_listed() ||
                   std::ranges::find(statements.unlisted, number) != statements.unlisted.end();
    row.requests_in_flight = signed_of(walk->matched());
    document.requests_in_flight += row.requests_in_flight;
    for (std::size_t index = 0; index < walk->size(); ++index) {
      document.requests.push_back(entry_of(walk->at(index), number));
    }
  }
  std::ranges::sort(document.requests, std::greater(), &RequestEntry::age_ms);
  if (document.requests.size() > limit) document.requests.resize(limit);
  add_parts(document, reactor.now());
  co_await add_queues(document);
  co_return document;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
