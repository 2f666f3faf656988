#include "tests/simulation/seed_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tests/simulation/client.hpp"
#include "tests/simulation/workload.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

// Several times the turns of the busiest workload; beyond it the server spins.
constexpr std::uint64_t turns_max = 25'000;

std::string shortened(const std::string& text) {
  return text.size() <= 120 ? text : fmt::format("{}… ({})", text.substr(0, 120), text.size());
}

std::size_t first_difference(const std::string& one, const std::string& other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

// The sums over all clients of a run.
struct Sum {
  std::uint64_t planned = 0;
  std::uint64_t replies = 0;
  std::uint64_t octets = 0;
  std::uint64_t of_500 = 0;
  std::uint64_t of_503 = 0;
  bool broken = false;  // a connection did not end in order

  void add(const Client& client) {
    planned += client.plan().requests.size();
    replies += client.reader().replies().size();
    octets += client.octets_received();
    for (const ReceivedReply& reply : client.reader().replies()) {
      of_500 += reply.status == 500;
      of_503 += reply.status == 503;
    }
    broken = broken || client.peer().saw_reset() || !client.plan().exact();
  }
};

// The world of a workload, and its clients.
class Run {
 public:
  Run(const Workload& workload, const WorldOptions& options, bool is_calm)
      : workload_(workload), options_(options), is_calm_(is_calm), world_(options) {
    for (std::size_t index = 0; index < workload.plans.size(); ++index) {
      clients_.push_back(std::make_unique<Client>(world_, plan_of(index), options.seed + index));
    }
    world_.run_to_rest(turns_max);
  }

  World& world() noexcept { return world_; }
  const Client& client(std::size_t index) const { return *clients_[index]; }

  void check(std::vector<std::string>& faults);
  // Checks that client `index` got the same as in the calm run, or as much of it as it could.
  void compare(std::size_t index, const Run& calm, std::vector<std::string>& faults) const;

 private:
  // Without faults all clients stay until the end.
  Plan plan_of(std::size_t index) const {
    Plan plan = workload_.plans[index];
    if (!is_calm_) return plan;
    if (plan.ending == Ending::leave || plan.ending == Ending::reset) plan.ending = Ending::close;
    if (plan.reading == Reading::stops) plan.reading = Reading::eager;
    return plan;
  }
  bool gets_everything(const Plan& plan) const;
  void check_client(std::size_t index, std::vector<std::string>& faults) const;
  void check_counters(std::vector<std::string>& faults);
  void check_memory(std::vector<std::string>& faults);

  const Workload& workload_;
  WorldOptions options_;
  bool is_calm_;
  World world_;
  std::vector<std::unique_ptr<Client>> clients_;
};

// True: whatever the faults of this run, all replies arrive.
bool Run::gets_everything(const Plan& plan) const {
  if (!plan.exact() || plan.breaks()) return false;
  if (is_calm_ || workload_.losses == Losses::lossless) return true;
  if (workload_.losses == Losses::lossy) return false;
  // Bytes that a client sends behind a request that ends the connection reset it, unless the server
  // lingers.
  const std::size_t count = plan.replies();
  return count == plan.requests.size() || plan.requests[count - 1].lingers;
}

void Run::check_client(std::size_t index, std::vector<std::string>& faults) const {
  const Client& client = *clients_[index];
  const Plan& plan = client.plan();
  const auto& replies = client.reader().replies();
  const auto fail = [&](const std::string& what) {
    faults.push_back(fmt::format("client {}: {}", index + 1, what));
  };
  if (!client.error().empty()) fail(client.error());
  const std::size_t due = plan.replies();
  if (replies.size() > due) fail(fmt::format("{} replies to {} requests", replies.size(), due));
  if (gets_everything(plan)) {
    if (replies.size() < due) {
      fail(fmt::format("{} of {} replies; missing: {}", replies.size(), due,
                       plan.requests[replies.size()].name));
    }
    if (client.peer().saw_reset()) fail("its connection was reset");
    if (!client.over()) fail("its connection is not over");
  }
  if (plan.breaks() && plan.exact() && client.peer().saw_end())
    fail("its connection ended in order, though its reply broke off");
  for (std::size_t number = 0; number < std::min(replies.size(), due); ++number) {
    const Planned& request = plan.requests[number];
    const ReceivedReply& reply = replies[number];
    if (reply.status != request.status) {
      fail(fmt::format("{}: {} instead of {}", request.name, reply.status, request.status));
    } else if (request.reply && reply.content != *request.reply) {
      fail(fmt::format("{}: content differs from octet {} on: {} instead of {}", request.name,
                       first_difference(reply.content, *request.reply), shortened(reply.content),
                       shortened(*request.reply)));
    }
  }
  if (client.peer().connected() && client.peer().link_state() != engine::SimLink::closed)
    fail("the server has not closed its end");
}

void Run::check_counters(std::vector<std::string>& faults) {
  const session::HttpCounters counters = world_.http_counters();
  const net::Counters& core = world_.reactor().counters();
  Sum sum;
  for (const auto& client : clients_) sum.add(*client);
  const auto require = [&](bool holds, const char* what, std::uint64_t one, std::uint64_t other) {
    if (!holds) faults.push_back(fmt::format("counters: {}: {}, {}", what, one, other));
  };
  require(counters.requests <= sum.planned, "more requests than sent", counters.requests,
          sum.planned);
  require(counters.requests + counters.refused >= sum.replies, "more replies than requests",
          counters.requests + counters.refused, sum.replies);
  require(counters.handler_failures >= sum.of_500, "failures that nobody counted",
          counters.handler_failures, sum.of_500);
  require(counters.handler_timeouts >= sum.of_503, "timeouts that nobody counted",
          counters.handler_timeouts, sum.of_503);
  require(core.pool_exhausted == 0, "a pool was exhausted", core.pool_exhausted, 0);
  require(core.accepted <= clients_.size(), "accepted nobody", core.accepted, clients_.size());
  // If a connection breaks, both sides know less.
  if (sum.broken) return;
  require(core.bytes_sent == sum.octets, "sent and received differ", core.bytes_sent, sum.octets);
  require(counters.requests <= sum.replies, "requests without reply", counters.requests,
          sum.replies);
  require(counters.handler_failures == sum.of_500, "failures differ from replies of 500",
          counters.handler_failures, sum.of_500);
  require(counters.handler_timeouts == sum.of_503, "timeouts differ from replies of 503",
          counters.handler_timeouts, sum.of_503);
  require(counters.handlers_cancelled + counters.replies_aborted == 0, "cancelled or aborted",
          counters.handlers_cancelled, counters.replies_aborted);
  require(core.send_timeouts == 0, "send timeouts", core.send_timeouts, 0);
}

void Run::check_memory(std::vector<std::string>& faults) {
  const net::ReactorOptions& options = options_.reactor;
  const net::MemoryBudget& peak = world_.memory_peak();
  // Above outbox_high comes what one handler's call adds, the largest of which is /text/200000;
  // blocks are not full.
  const std::size_t output = (options.outbox_high_bytes + 220'000) * 2;
  const std::size_t carry = options.engine.receive_bytes_max + options.carry_extra_bytes;
  const std::size_t links = clients_.size();
  if (peak.output > output * links)
    faults.push_back(fmt::format("{} octets of output for {} links", peak.output, links));
  if (peak.carry > carry * links)
    faults.push_back(fmt::format("{} octets of carry for {} links", peak.carry, links));
}

void Run::check(std::vector<std::string>& faults) {
  std::vector<std::string> found = world_.faults_at_rest();
  for (std::size_t index = 0; index < clients_.size(); ++index) check_client(index, found);
  check_counters(found);
  check_memory(found);
  for (const std::string& each : found) {
    faults.push_back((is_calm_ ? "without faults: " : "") + each);
  }
}

void Run::compare(std::size_t index, const Run& calm, std::vector<std::string>& faults) const {
  const Plan& plan = client(index).plan();
  const ReplyReader& mine = client(index).reader();
  const auto& theirs = calm.client(index).reader().replies();
  const std::size_t count = std::min(mine.replies().size(), theirs.size());
  const auto fail = [&](std::size_t number, const std::string& what) {
    faults.push_back(fmt::format("client {}: {}: {} differs from the run without faults", index + 1,
                                 plan.requests[number].name, what));
  };
  for (std::size_t number = 0; number < count; ++number) {
    const ReceivedReply& one = mine.replies()[number];
    const ReceivedReply& other = theirs[number];
    const bool varies = plan.requests[number].framing_varies;
    const bool same_head = varies ? one.head_without_framing() == other.head_without_framing()
                                  : one.head == other.head;
    if (!same_head) fail(number, fmt::format("head [{}] [{}]", one.head, other.head));
    if (one.content != other.content) fail(number, "content");
  }
  // Content that broke off must be a prefix of the right one.
  if (count < theirs.size() && !mine.partial().head.empty() &&
      !theirs[count].content.starts_with(mine.partial().content)) {
    fail(count, "what arrived of the content");
  }
}

// Counts; that it is there makes every suspended exchange keep its head.
struct Tally final : session::ExchangeObserver {
  void on_exchange_end(session::Exchange&, const session::ExchangeRecord&) noexcept override {
    ++exchanges;
  }
  std::uint64_t exchanges = 0;
};

}  // namespace

SeedVerdict run_seed(std::uint64_t seed, std::size_t trace_lines_max, bool always_explain) {
  const Workload workload = draw_workload(seed);
  SeedVerdict verdict;
  Run calm(workload, patient_options(seed, SimFaults::calm()), true);
  calm.check(verdict.faults);
  if (!verdict.faults.empty()) {
    verdict.explanation = calm.world().network().explain();
    return verdict;  // the other run would only repeat it
  }
  WorldOptions options = patient_options(seed, workload.faults);
  options.trace_lines_max = trace_lines_max;
  Tally observer;
  if (seed % 2 == 1) options.http.observer = &observer;
  if (seed % 4 == 3) {  // memory is a separate fault: clients wait for each other's blocks
    options.reactor.output_blocks_max = 192;
    options.reactor.output_blocks_reserve = 64;
  }
  Run run(workload, options, false);
  run.check(verdict.faults);
  for (std::size_t index = 0; index < workload.plans.size(); ++index) {
    run.compare(index, calm, verdict.faults);
  }
  if (!verdict.faults.empty() || always_explain) {
    verdict.explanation = run.world().network().explain();
  }
  const session::HttpCounters counters = run.world().http_counters();
  if (seed % 2 == 1 && (observer.exchanges < counters.requests ||
                        observer.exchanges > counters.requests + counters.refused)) {
    verdict.faults.push_back(
        fmt::format("{} exchanges were observed of {} requests and {} refusals", observer.exchanges,
                    counters.requests, counters.refused));
  }
  verdict.requests = run.world().http_counters().requests;
  verdict.turns = run.world().turns() + calm.world().turns();
  return verdict;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
