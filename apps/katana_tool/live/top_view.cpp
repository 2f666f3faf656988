#include "katana_tool/live/top_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "katana/data/container/json_read.hpp"
#include "katana_tool/live/metrics_text.hpp"

namespace katana::tool {
namespace {

constexpr Bytes order_names[] = {"rate", "mean", "failures", "name"};

bool is_failure(const std::string& status) { return status == "5xx" || status == "none"; }

void add_routes(std::map<std::string, Work>& routes, std::string_view metrics) {
  for (const Sample& each : read_samples(metrics, "katana_http_route_")) {
    Work& work = routes[each.label("method") + " " + each.label("route")];
    if (each.name == "katana_http_route_requests_total") {
      work.count += each.value;
      if (is_failure(each.label("status"))) work.failures += each.value;
    } else if (each.name == "katana_http_route_duration_seconds_sum") {
      work.seconds += each.value;
    } else if (each.name == "katana_http_route_duration_seconds_count") {
      work.finished += each.value;
    }
  }
}

void add_statements(std::map<std::string, Work>& statements, std::string_view metrics) {
  for (const Sample& each : read_samples(metrics, "katana_database_statement")) {
    const std::string name = each.label("statement");
    if (each.name == "katana_database_statements_total") {
      Work& work = statements[name];
      work.count += each.value;
      if (each.label("outcome") != "ok") work.failures += each.value;
    } else if (each.name == "katana_database_statement_duration_seconds_sum") {
      statements[name].seconds += each.value;
    } else if (each.name == "katana_database_statement_duration_seconds_count") {
      statements[name].finished += each.value;
    }
  }
}

std::string short_time(double ms) {
  if (ms < 10) return fmt::format("{:.2f}ms", ms);
  if (ms < 1'000) return fmt::format("{:.0f}ms", ms);
  if (ms < 120'000) return fmt::format("{:.1f}s", ms / 1'000);
  if (ms < 7'200'000) return fmt::format("{:.0f}min", ms / 60'000);
  return fmt::format("{:.0f}h", ms / 3'600'000);
}

std::string short_bytes(std::int64_t bytes) {
  const double count = static_cast<double>(bytes);
  if (count < 10'240) return fmt::format("{}B", bytes);
  if (count < 10'485'760) return fmt::format("{:.0f}KiB", count / 1'024);
  return fmt::format("{:.0f}MiB", count / 1'048'576);
}

std::string short_count(double count) {
  if (count < 100) return fmt::format("{:.1f}", count);
  if (count < 100'000) return fmt::format("{:.0f}", count);
  return fmt::format("{:.0f}k", count / 1'000);
}

// Lines of one width, until the screen is full.
class Screen {
 public:
  explicit Screen(const TopView& view) : view_(view) {}

  bool is_full() const noexcept { return lines_.size() >= view_.height; }
  std::size_t width() const noexcept { return view_.width; }
  bool wants(std::string_view text) const { return text.contains(view_.filter); }
  void add(std::string_view line) {
    if (!is_full()) lines_.push_back(shown(line, view_.width));
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  const TopView& view_;
  std::vector<std::string> lines_;
};

// A text of a part of the line, filled up with spaces.
std::string cell(std::string_view text, std::size_t width) {
  std::string cut = shown(text, width);
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(cut, [](char c) { return (c & 0xc0) != 0x80; }));
  cut.append(width - std::min(count, width), ' ');
  return cut;
}

void add_work(Screen& screen, std::string_view what, const std::vector<WorkRate>& rates,
              std::size_t lines) {
  if (rates.empty()) return;
  const std::size_t name_width = screen.width() - std::min<std::size_t>(screen.width(), 34);
  screen.add("");
  screen.add(fmt::format("{} {:>9} {:>9} {:>12}", cell(what, name_width), "PER S", "MEAN",
                         "FAILED PER S"));
  for (const WorkRate& each : rates) {
    if (!screen.wants(each.name)) continue;
    if (lines-- == 0) break;
    screen.add(fmt::format("{} {:>9} {:>9} {:>12}", cell(each.name, name_width),
                           short_count(each.per_s), short_time(each.mean_ms),
                           short_count(each.failures_per_s)));
  }
}

void add_head(Screen& screen, const app::StateDocument& state, const TopView& view) {
  screen.add(fmt::format("{} {}  pid {}  up {}{}{}", state.program, state.version, state.pid,
                         short_time(static_cast<double>(state.uptime_ms)),
                         state.draining ? "  DRAINING" : "", view.is_paused ? "  (paused)" : ""));
  std::string facts = fmt::format("requests in flight {}  connections {}", state.requests_in_flight,
                                  state.connections_open);
  if (state.database) {
    facts += fmt::format("  database {}{}/{} busy, {} wait",
                         state.database->usable ? "" : "NOT USABLE, ",
                         state.database->connections_busy, state.database->connections,
                         state.database->reads_waiting + state.database->writes_waiting);
  }
  screen.add(facts);
  if (view.is_typing) {
    screen.add(fmt::format("filter: {}_", view.filter));
  } else {
    screen.add(fmt::format("order {}{}   q quit  s order  / filter  p pause",
                           order_names[static_cast<std::size_t>(view.order)],
                           view.filter.empty() ? "" : "  filter " + view.filter));
  }
}

void add_reactors(Screen& screen, const Snapshot& before, const Snapshot& now) {
  screen.add("");
  screen.add(fmt::format("{:<8} {:>5} {:>9} {:>9} {:>6}  {}", "REACTOR", "CPU", "IN FLIGHT",
                         "CONNS", "TASKS", "BUSY WITH"));
  const double between_ms = static_cast<double>((now.at - before.at).ns) / 1e6;
  for (const app::ReactorEntry& each : now.state.reactors) {
    const auto found =
        std::ranges::find(before.state.reactors, each.number, &app::ReactorEntry::number);
    const bool is_known = found != before.state.reactors.end() && between_ms > 0;
    const std::string cpu =
        is_known ? fmt::format("{:.0f}%", 100.0 * static_cast<double>(each.cpu_ms - found->cpu_ms) /
                                              between_ms)
                 : "-";
    std::string busy = each.busy_with;
    if (each.busy_ms >= 100) {
      busy += fmt::format(" for {}", short_time(static_cast<double>(each.busy_ms)));
    }
    if (!each.answered) busy = "DOES NOT ANSWER: " + busy;
    screen.add(fmt::format("{:<8} {:>5} {:>9} {:>9} {:>6}  {}", each.number, cpu,
                           each.requests_in_flight, each.connections, each.tasks, busy));
  }
}

void add_requests(Screen& screen, const app::StateDocument& state, std::size_t lines) {
  if (state.requests.empty()) return;
  screen.add("");
  screen.add(fmt::format("{:>7}  {:<9}  {:<21}  {}", "AGE", "STATE", "CLIENT", "OLDEST REQUESTS"));
  for (const app::RequestEntry& each : state.requests) {
    const std::string route = each.method + " " + (each.route.empty() ? "-" : each.route);
    if (!screen.wants(route)) continue;
    if (lines-- == 0) break;
    screen.add(fmt::format("{:>7}  {:<9}  {}  {}", short_time(static_cast<double>(each.age_ms)),
                           each.state, cell(each.client, 21), route));
  }
}

void add_memory(Screen& screen, const app::StateDocument& state) {
  screen.add("");
  screen.add(fmt::format("{:>9} {:>9}  {}", "USED", "LIMIT", "MEMORY"));
  for (const app::MemoryEntry& each : state.memory) {
    if (!screen.wants(each.holder)) continue;
    screen.add(fmt::format("{:>9} {:>9}  {}", short_bytes(each.used_bytes),
                           each.limit_bytes == 0 ? "-" : short_bytes(each.limit_bytes),
                           each.holder));
  }
}

}  // namespace

std::string shown(std::string_view text, std::size_t width) {
  std::string line;
  std::size_t count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xc0) == 0x80;
    if (!continues && ++count > width) break;
    // C1 controls begin with 0xc2, as do printable characters that no route has.
    line += byte < 0x20 || byte == 0x7f || byte == 0xc2 ? '?' : c;
  }
  return line;
}

Result<Snapshot> read_snapshot(std::string_view state, std::string_view metrics, Instant at) {
  Snapshot snapshot{.at = at};
  container::Findings findings;
  if (!container::read_json(Bytes(state), snapshot.state, findings)) {
    return fail(Code::invalid_argument,
                "/operations/state is not as expected: is the program of the version of this "
                "tool?");
  }
  add_routes(snapshot.routes, metrics);
  add_statements(snapshot.statements, metrics);
  return snapshot;
}

TopOrder next_order(TopOrder order) noexcept {
  return static_cast<TopOrder>((static_cast<unsigned>(order) + 1) % std::size(order_names));
}

std::vector<WorkRate> rates(const std::map<std::string, Work>& before,
                            const std::map<std::string, Work>& now, Duration between,
                            TopOrder order) {
  std::vector<WorkRate> all;
  const double seconds = std::max(static_cast<double>(between.ns) / 1e9, 1e-3);
  for (const auto& [name, work] : now) {
    const auto found = before.find(name);
    const Work old = found != before.end() ? found->second : Work{};
    const double finished = work.finished - old.finished;
    WorkRate rate{.name = name,
                  .per_s = (work.count - old.count) / seconds,
                  .failures_per_s = (work.failures - old.failures) / seconds,
                  .total = static_cast<std::int64_t>(work.count)};
    if (finished > 0) rate.mean_ms = 1e3 * (work.seconds - old.seconds) / finished;
    if (rate.total > 0) all.push_back(std::move(rate));
  }
  switch (order) {
    case TopOrder::rate: std::ranges::sort(all, std::greater(), &WorkRate::per_s); break;
    case TopOrder::mean: std::ranges::sort(all, std::greater(), &WorkRate::mean_ms); break;
    case TopOrder::failures:
      std::ranges::sort(all, std::greater(), &WorkRate::failures_per_s);
      break;
    case TopOrder::name: break;  // as the map
  }
  return all;
}

std::vector<std::string> top_lines(const Snapshot& before, const Snapshot& now,
                                   const TopView& view) {
  Screen screen(view);
  const Duration between = now.at - before.at;
  add_head(screen, now.state, view);
  add_reactors(screen, before, now);
  const std::size_t used = 6 + now.state.reactors.size();
  const std::size_t lines = std::max<std::size_t>((std::max(view.height, used) - used) / 4, 3) - 2;
  add_work(screen, "ROUTE", rates(before.routes, now.routes, between, view.order), lines);
  // Statements are looked at for their durations, unless the person wants another order.
  const TopOrder order = view.order == TopOrder::rate ? TopOrder::mean : view.order;
  add_work(screen, "STATEMENT", rates(before.statements, now.statements, between, order), lines);
  add_requests(screen, now.state, lines);
  add_memory(screen, now.state);
  return screen.take();
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
