#include "katana/testing/postgres/fake/fake_postgres.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/stores/database/postgres/postgres.hpp"
#include "katana/testing/postgres/fake/fake_session.hpp"
#include "katana/testing/test_loop.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {

using database::postgres::Options;

struct FakePostgres::Core final : engine::SimHost {
  // `of_host`: the host of the servers on the network; 0: each has another port of host 0.
  Core(TestLoop& of, const std::string& url, std::uint32_t of_host = 0)
      : loop(of), script(of.network()), address_(of_host) {
    auto read = Options::from_url(url);
    if (!read) {
      problem = read.error().describe();
      loop.add_upstream_problem(problem);
      return;
    }
    options = *std::move(read);
    for (const database::postgres::Host& host : options.hosts) {
      const std::string origin = origin_text("postgresql", host.name, host.port);
      servers.push_back(std::make_unique<FakeServer>());
      servers.back()->name = fmt::format("{}:{}", host.name, host.port);
      servers.back()->port = of_host != 0 ? default_port : loop.network().free_port();
      if (of_host == 0) loop.upstreams()[origin] = servers.back()->port;
      if (of_host == 0) origins.push_back(origin);
    }
    servers.front()->is_primary = true;
    loop.network().attach(*this);
  }
  ~Core() {
    if (servers.empty()) return;
    for (const auto& session : sessions) session->reset();
    loop.network().detach(*this);
    for (const std::string& origin : origins) loop.upstreams().erase(origin);
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  FakeServer* find(std::uint16_t port) const {
    const auto found =
        std::ranges::find(servers, port, [](const auto& each) { return each->port; });
    return found == servers.end() ? nullptr : found->get();
  }
  bool listens_on(std::uint16_t port) const override {
    const FakeServer* const server = find(port);
    return server != nullptr && !server->is_down;
  }
  void on_handshake(const std::shared_ptr<engine::SimConnection>& connection,
                    std::uint16_t port) override {
    std::erase_if(sessions, [](const auto& each) { return each->is_over(); });
    sessions.push_back(std::make_shared<FakeSession>(script, *find(port), connection));
    sessions.back()->begin();
  }
  // No host hands a listener over to it.
  void take_over(const std::shared_ptr<engine::SimConnection>& connection, std::uint16_t) override {
    connection->reset(engine::SimSide::server);
  }
  bool has_work() const override { return false; }
  engine::SimAddress address() const override { return address_; }

  void set_down(FakeServer& server, bool is_down) {
    server.is_down = is_down;
    if (!is_down) return;
    for (const auto& session : sessions) {
      if (&session->server() == &server) session->reset();
    }
  }

  static constexpr std::uint16_t default_port = 5432;
  TestLoop& loop;
  FakeScript script;
  const engine::SimAddress address_;
  Options options;
  std::string problem;
  std::vector<std::unique_ptr<FakeServer>> servers;
  std::vector<std::string> origins;
  std::vector<std::shared_ptr<FakeSession>> sessions;
};

FakePostgres::FakePostgres(TestServer& server, const std::string& url)
    : core_(std::make_unique<Core>(server.loop(), url)) {}
FakePostgres::FakePostgres(TestHost host)
    : core_(std::make_unique<Core>(host.loop, fmt::format("postgresql://app@{}/app", host.name),
                                   host.address)) {}
FakePostgres::~FakePostgres() = default;

std::uint16_t FakePostgres::port() const noexcept {
  return core_->servers.empty() ? Core::default_port : core_->servers.front()->port;
}

const std::string& FakePostgres::problem() const noexcept { return core_->problem; }

Result<database::Database> FakePostgres::open(Options options) const {
  if (!core_->problem.empty()) return fail(Code::invalid_argument, core_->problem);
  options.is_on_reactors_only = true;
  options.migrations.clear();
  options.bundled.clear();
  options.password.clear();
  options.password_file.clear();
  options.replica_lag_max = {};
  constexpr std::string_view kept[] = {"target_session_attrs", "load_balance_hosts"};
  std::erase_if(options.parameters, [&](const auto& each) {
    return std::ranges::find(kept, each.first) == std::end(kept);
  });
  options.parameters.emplace_back("sslmode", "disable");
  return database::postgres::open(std::move(options));
}

Result<database::Database> FakePostgres::open() const { return open(core_->options); }

// ---- the script

void FakePostgres::answer(const std::string& text, FakeAnswer answer) {
  core_->script.answers.insert_or_assign(in_one_line(text),
                                         std::make_shared<const FakeAnswer>(std::move(answer)));
}

void FakePostgres::answer_rows(const std::string& text, std::vector<FakeColumn> columns,
                               std::vector<FakeRow> rows) {
  answer(text, {.columns = std::move(columns), .reply = [rows = std::move(rows)](const auto&) {
                  return FakeReply{.rows = rows};
                }});
}

// ---- what the servers have seen

const std::vector<FakeStatement>& FakePostgres::statements() const noexcept {
  return core_->script.statements;
}
void FakePostgres::forget_statements() noexcept { core_->script.statements.clear(); }
std::size_t FakePostgres::commits() const noexcept { return core_->script.commits; }
std::size_t FakePostgres::logins() const noexcept { return core_->script.logins; }
std::size_t FakePostgres::connections() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      core_->sessions, [](const auto& each) { return each->is_connected(); }));
}

// ---- faults

void FakePostgres::delay(Duration time) noexcept { core_->script.delay = time; }

void FakePostgres::fail_next(unsigned count, std::string sqlstate, std::string message) {
  core_->script.failures_left = count;
  core_->script.failure_state = std::move(sqlstate);
  core_->script.failure_message = std::move(message);
}

void FakePostgres::conflict_next(unsigned count) noexcept { core_->script.conflicts_left = count; }

void FakePostgres::reset_after_sent(std::size_t bytes) noexcept { core_->script.sent_left = bytes; }

void FakePostgres::reset_after_received(std::size_t bytes) noexcept {
  core_->script.received_left = bytes;
}

void FakePostgres::refuse_logins(unsigned count, std::string sqlstate) {
  core_->script.refusals_left = count;
  core_->script.refusal_state = std::move(sqlstate);
}

void FakePostgres::hang() noexcept { core_->script.hangs = true; }

void FakePostgres::go_on() {
  core_->script.hangs = false;
  const auto sessions = core_->sessions;
  for (const auto& session : sessions) session->go_on();
}

void FakePostgres::go_down(std::size_t server) {
  core_->set_down(*core_->servers.at(server), true);
}
void FakePostgres::go_down() {
  for (const auto& server : core_->servers) core_->set_down(*server, true);
}
void FakePostgres::come_back(std::size_t server) {
  core_->set_down(*core_->servers.at(server), false);
}
void FakePostgres::come_back() {
  for (const auto& server : core_->servers) core_->set_down(*server, false);
}

void FakePostgres::heal() {
  FakeScript& script = core_->script;
  script.delay = {};
  script.failures_left = script.conflicts_left = script.refusals_left = 0;
  script.sent_left.reset();
  script.received_left.reset();
  come_back();
  go_on();
}

std::string FakePostgres::fail_over() {
  const auto primary =
      std::ranges::find_if(core_->servers, [](const auto& each) { return each->is_primary; });
  const auto place = static_cast<std::size_t>(primary - core_->servers.begin());
  if (core_->servers.size() > 1) {
    fail_over((place + 1) % core_->servers.size());
  } else {
    for (const auto& session : core_->sessions) session->reset();
  }
  return "no commit";
}

void FakePostgres::fail_over(std::size_t to) {
  for (const auto& server : core_->servers) {
    server->is_primary = server == core_->servers.at(to);
  }
  const auto sessions = core_->sessions;
  for (const auto& session : sessions) session->tell_role();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
