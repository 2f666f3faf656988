#include "lab/chat_load/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/load/json_report.hpp"

namespace katana::chat_load {
namespace {

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

double per_second(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

// "1.41 MB/s": powers of ten, as rates on a network have.
std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 2, units[unit]);
}

void add(Statistics& total, const Statistics& part) {
  constexpr std::uint64_t Statistics::* counts[] = {&Statistics::connected,
                                                    &Statistics::connect_failures,
                                                    &Statistics::broken,
                                                    &Statistics::sent,
                                                    &Statistics::sent_bytes,
                                                    &Statistics::unsent,
                                                    &Statistics::expected,
                                                    &Statistics::received_bytes,
                                                    &Statistics::told_dropped,
                                                    &Statistics::told_lost,
                                                    &Statistics::stayed,
                                                    &Statistics::promised,
                                                    &Statistics::kept,
                                                    &Statistics::told,
                                                    &Statistics::lost_with_server,
                                                    &Statistics::refused,
                                                    &Statistics::unknown_lines,
                                                    &Statistics::delivered,
                                                    &Statistics::duplicated,
                                                    &Statistics::out_of_order};
  for (const auto count : counts) total.*count += part.*count;
  total.wall_ns = std::max(total.wall_ns, part.wall_ns);
  total.delivering_ns = std::max(total.delivering_ns, part.delivering_ns);
  total.cpu_ns += part.cpu_ns;
  total.latency.add(part.latency);
  total.send_lag.add(part.send_lag);
}

void note_what_matters(const ChatPlan& plan, Summary& summary) {
  const Statistics& total = summary.total;
  const double lag_us = us(total.send_lag.percentile_ns(99));
  if (summary.cpu_share > Summary::cpu_share_max) {
    summary.notes.push_back(
        fmt::format("a thread of the generator used {:.0f} % of its CPU: rates are what the "
                    "generator could do, and latencies contain its own",
                    100 * summary.cpu_share));
  }
  if (lag_us > Summary::send_lag_max_us) {
    summary.notes.push_back(fmt::format(
        "1 % of the messages were sent {:.0f} ms or more after they were due", lag_us / 1e3));
  }
  if (total.unsent > 0) {
    summary.notes.push_back(
        fmt::format("{} messages were due and could not be sent: the server takes less, or the "
                    "generator has no time",
                    total.unsent));
  }
  summary.interrupted = summary.duration_s < 0.98 * plan.duration_s;
  if (summary.interrupted) {
    summary.notes.push_back(
        fmt::format("interrupted after {:.1f} of {:g} s: rates are of that time",
                    summary.duration_s, plan.duration_s));
  }
  summary.behind = summary.behind_s > Summary::behind_share_max * summary.duration_s;
  if (summary.behind) {
    summary.notes.push_back(fmt::format(
        "the last delivery came {:.2f} s after the sending had ended: this load is more "
        "than is sustained",
        summary.behind_s));
  }
  if (total.connect_failures > 0) {
    summary.notes.push_back(
        fmt::format("{} of {} connections failed", total.connect_failures, plan.connections));
  }
  if (!plan.receive) summary.notes.push_back("nothing was received: deliveries were not looked at");
  summary.saturated =
      summary.cpu_share > Summary::cpu_share_max || lag_us > Summary::send_lag_max_us;
}

}  // namespace

Summary summarise(const ChatPlan& plan, const std::vector<const Statistics*>& threads) {
  Summary summary;
  for (const Statistics* const each : threads) {
    add(summary.total, *each);
    if (each->wall_ns > 0) {
      summary.cpu_share = std::max(summary.cpu_share, static_cast<double>(each->cpu_ns) /
                                                          static_cast<double>(each->wall_ns));
    }
  }
  const Statistics& total = summary.total;
  summary.duration_s = static_cast<double>(total.wall_ns) / 1e9;
  summary.behind_s =
      static_cast<double>(std::max<std::int64_t>(0, total.delivering_ns - total.wall_ns)) / 1e9;
  summary.unaccounted = static_cast<std::int64_t>(total.promised) -
                        static_cast<std::int64_t>(total.kept + total.told);
  summary.missing = total.expected - std::min(total.expected, total.delivered);
  note_what_matters(plan, summary);
  return summary;
}

std::string to_text(const ChatPlan& plan, const Summary& summary) {
  const Statistics& total = summary.total;
  const double time = summary.duration_s;
  const double delivering = time + summary.behind_s;
  std::string text = fmt::format(
      "connections  {} open, {} failed, {} ended by the server; {} send, {} receive\n"
      "sent         {} messages of {} bytes in {:.2f} s: {:.1f} msg/s, {}/s; {} unsent\n",
      total.connected, total.connect_failures, total.broken, plan.sender_count(),
      plan.receiver_count(), total.sent, plan.message_bytes, time, per_second(total.sent, time),
      bytes_text(per_second(total.sent_bytes, time)), total.unsent);
  if (plan.receive) {
    text += fmt::format(
        "delivered    {} of {}: {:.1f} per second, {}/s, the last one {:.3f} s after the sending\n"
        "missing      {} (the server told of {}), duplicated {}, out of order {}, refused {}, "
        "other lines {}\n"
        "latency      p50 {:.0f} us, p90 {:.0f} us, p99 {:.0f} us, p99.9 {:.0f} us, max {:.0f} us "
        "({} samples, from when a message was due)\n",
        total.delivered, total.expected, per_second(total.delivered, delivering),
        bytes_text(per_second(total.received_bytes, delivering)), summary.behind_s, summary.missing,
        total.told_dropped, total.duplicated, total.out_of_order, total.refused,
        total.unknown_lines, us(total.latency.percentile_ns(50)),
        us(total.latency.percentile_ns(90)), us(total.latency.percentile_ns(99)),
        us(total.latency.percentile_ns(99.9)),
        us(std::max<std::int64_t>(0, total.latency.max_ns())), total.latency.count());
  }
  if (plan.receive && plan.targets.size() > 1) {
    text += fmt::format(
        "accounts     {} receivers stayed: {} promised = {} delivered + {} told as dropped or lost "
        "+ {} unaccounted; {} messages died with their server\n",
        total.stayed, total.promised, total.kept, total.told, summary.unaccounted,
        total.lost_with_server);
  }
  text += fmt::format("generator    busiest thread {:.0f} % of a CPU, send lag p99 {:.0f} us{}\n",
                      100 * summary.cpu_share, us(total.send_lag.percentile_ns(99)),
                      summary.saturated ? ": SATURATED" : "");
  for (const std::string& note : summary.notes) text += fmt::format("note         {}\n", note);
  return text;
}

std::string to_json(const ChatPlan& plan, const Summary& summary) {
  using load::rounded;
  const Statistics& total = summary.total;
  const double delivering_s = summary.duration_s + summary.behind_s;
  return load::text_of({
      {"parameters",
       {{"connections", plan.connections},
        {"duration_s", rounded(plan.duration_s)},
        {"message_bytes", plan.message_bytes},
        {"rate_per_s", rounded(plan.rate_per_s)},
        {"receive", plan.receive},
        {"burst", plan.burst},
        {"senders", plan.sender_count()},
        {"receivers", plan.receiver_count()},
        {"targets", plan.targets.size()},
        {"threads", plan.threads}}},
      {"connected", total.connected},
      {"sent", total.sent},
      {"unsent", total.unsent},
      {"expected", total.expected},
      {"delivered", total.delivered},
      {"missing", summary.missing},
      {"told_dropped", total.told_dropped},
      {"told_lost", total.told_lost},
      {"accounts",
       {{"receivers", total.stayed},
        {"promised", total.promised},
        {"delivered", total.kept},
        {"told", total.told},
        {"unaccounted", summary.unaccounted},
        {"lost_with_server", total.lost_with_server}}},
      {"duplicated", total.duplicated},
      {"out_of_order", total.out_of_order},
      {"refused", total.refused},
      {"unknown_lines", total.unknown_lines},
      {"duration_s", rounded(summary.duration_s)},
      {"rate_per_s", rounded(per_second(total.sent, summary.duration_s))},
      {"behind_s", rounded(summary.behind_s, 4)},
      {"behind", summary.behind},
      {"deliveries_per_s", rounded(per_second(total.delivered, delivering_s))},
      {"bytes", total.sent_bytes},
      {"received_bytes", total.received_bytes},
      {"latency_us", load::times_of(total.latency)},
      {"errors", {{"connect", total.connect_failures}, {"broken", total.broken}}},
      {"generator",
       {{"cpu_share", rounded(summary.cpu_share, 4)},
        {"send_lag_us", load::times_of(total.send_lag)},
        {"saturated", summary.saturated}}},
      {"interrupted", summary.interrupted},
      {"notes", summary.notes},
  });
}

}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
