// Payments among faults that a seed draws.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "katana/testing/postgres/fake/fake_fixture_test.hpp"

namespace katana::testing {
namespace {

constexpr int rounds = 8;

}  // namespace

// Requests of the test itself have to arrive: connections to the database are reset by the server.
engine::SimFaults FakeBankRun::faults_of(std::uint64_t seed) {
  return seed % 3 == 0 ? engine::SimFaults::calm() : engine::SimFaults::random(seed).lossless();
}

void FakeBankRun::make_fault() {
  FakePostgres& postgres = bank_.postgres;
  switch (random_.below(13)) {
    case 0: return postgres.reset_after_sent(random_.below(300));
    case 1: return postgres.reset_after_received(1 + random_.below(600));
    case 2: return postgres.conflict_next(static_cast<unsigned>(1 + random_.below(4)));
    case 3: return postgres.fail_next(static_cast<unsigned>(1 + random_.below(4)), "40001");
    case 4: return postgres.fail_next(1, "23505", "duplicate key");
    case 5:
      return postgres.delay(
          milliseconds(static_cast<std::int64_t>(random_.below(2) * random_.below(40'000))));
    case 6: return postgres.refuse_logins(static_cast<unsigned>(1 + random_.below(5)));
    case 7: return postgres.go_down(random_.below(2));
    case 8: return postgres.come_back();
    case 9: return postgres.fail_over(random_.below(2));
    case 10: return postgres.hang();
    // Beyond the timeout: the outcome is told before the transaction takes effect.
    case 11:
      bank_.commit_delay = milliseconds(static_cast<std::int64_t>(11'000 + random_.below(29'000)));
      return;
    default: return postgres.go_on();
  }
}

void FakeBankRun::run() {
  std::int64_t last_id = 0;
  std::vector<std::pair<std::int64_t, TestReply>> replies;
  for (int round = 0; round < rounds; ++round) {
    if (random_.below(2) == 0) {
      bank_.postgres.heal();
      bank_.server.advance(seconds(10));
    }
    make_fault();
    std::vector<std::pair<std::int64_t, PendingReply>> pending;
    for (std::uint64_t count = 1 + random_.below(4); count > 0; --count) {
      const std::int64_t id = ++last_id;
      pending.emplace_back(id, bank_.server.begin("POST", "/pay/" + std::to_string(id), {}));
    }
    bank_.server.advance(milliseconds(static_cast<std::int64_t>(random_.below(3'000))));
    if (random_.below(2) == 0) make_fault();
    for (auto& [id, each] : pending) replies.emplace_back(id, each.reply());
  }
  bank_.postgres.heal();
  bank_.server.advance(seconds(60));
  const TestReply last = bank_.server.get("/account/7");
  // A payment that was refused may not take effect later either.
  for (const auto& [id, reply] : replies) judge(id, reply);
  std::int64_t paid = 0;
  for (const auto& [id, count] : bank_.payments) paid += count;
  if (last.status() != 200) mistake_ += "the database did not come back: " + last.describe();
  if (bank_.balance != 100 - 10 * paid) mistake_ += "half of a payment took effect; ";
  summary_ += fmt::format("{} paid, {} us", paid, bank_.server.now().ns / 1000);
}

void FakeBankRun::judge(std::int64_t id, const TestReply& reply) {
  const auto found = bank_.payments.find(id);
  const int count = found == bank_.payments.end() ? 0 : found->second;
  // 503: the handler was cancelled after its own time, wherever it was.
  const bool is_unknown =
      reply.status() == 503 ||
      reply.content().starts_with(database::kind_name(database::Kind::unknown_outcome));
  summary_ += fmt::format("{}: {} {}; ", id, reply.status(), reply.content().substr(0, 40));
  if (reply.status() != 204 && reply.status() != 500 && reply.status() != 503) {
    mistake_ += fmt::format("payment {} hangs: {}; ", id, reply.describe());
  } else if (count > 1) {
    mistake_ += fmt::format("payment {} took effect {} times; ", id, count);
  } else if (reply.status() == 204 && count != 1) {
    mistake_ += fmt::format("payment {} was acknowledged and is lost; ", id);
  } else if (reply.status() == 500 && !is_unknown && count != 0) {
    mistake_ += fmt::format("payment {} was refused and took effect: {}; ", id, reply.content());
  }
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
