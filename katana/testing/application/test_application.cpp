#include "katana/testing/application/test_application.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/app/command_line.hpp"
#include "katana/app/embedding.hpp"
#include "katana/app/sqlite/sqlite.hpp"
#include "katana/base/system/check.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/reactor_probe.hpp"
#include "katana/testing/application/simulated_reactor.hpp"
#include "katana/testing/application/span_capture.hpp"
#include "katana/testing/database/temporary_database.hpp"
#include "katana/testing/disk/simulated_disk.hpp"
#include "katana/testing/test_loop.hpp"

namespace katana::testing {
namespace {

// Adds the Host of this machine. Every listener accepts it, including the guard of the operations
// pages.
TestOptions with_headers(const TestApplicationOptions& given) {
  TestOptions options = given.server;
  options.headers.insert(options.headers.end(), given.headers.begin(), given.headers.end());
  const bool has_host = std::ranges::any_of(options.headers, [](const auto& each) {
    return each.first == "Host" || each.first == "host";
  });
  if (!has_host) options.headers.emplace_back("Host", "localhost");
  return options;
}

}  // namespace

// The reactor belongs to the program's server.
class TestApplication::Target final : public TestTarget {
 public:
  Target(net::Reactor& reactor_of, std::uint16_t first_port, TestLoop& loop)
      : TestTarget(reactor_of), loop_(loop) {
    port = first_port;
    loop.add(reactor);
  }
  ~Target() override { loop_.remove(reactor); }

 private:
  TestLoop& loop_;
};

TestApplication::TestApplication(app::ApplicationCore& program, TestApplicationOptions options)
    : TestApplication(nullptr, program, std::move(options)) {}

TestApplication::TestApplication(std::unique_ptr<app::ApplicationCore> program,
                                 TestApplicationOptions options)
    : TestApplication(std::move(program), *program, std::move(options)) {}

TestApplication::TestApplication(std::unique_ptr<app::ApplicationCore>&& owned,
                                 app::ApplicationCore& program, TestApplicationOptions options)
    : TestServer([this](TestLoop& loop, const TestOptions&) { return start_program(loop); },
                 with_headers(options)),
      settings_(std::move(options.settings)),
      config_file_(std::move(options.config_file)),
      run_timeout_(options.server.reply_timeout),
      seed_(options.server.seed),
      owned_(std::move(owned)),
      program_(program) {}

TestApplication::~TestApplication() {
  (void)stop();
  upstreams_.clear();
}

void TestApplication::add_override(Override override) {
  if (is_running_) {
    (void)stop();
    end("override_service() was called after the program had started: call it before the first "
        "request");
    return;
  }
  overrides_.push_back(std::move(override));
}

FakeUpstream& TestApplication::upstream(std::string url,
                                        const std::function<void(Router&)>& routes) {
  return *upstreams_.emplace_back(std::make_unique<FakeUpstream>(*this, std::move(url), routes));
}

void TestApplication::keep_failure(const Failure& failure) {
  failures_.push_back({.what = std::string(failure.what),
                       .cause = failure.exception != nullptr ? describe(failure.exception)
                                : failure.error != nullptr   ? failure.error->describe()
                                                             : std::string(),
                       .place = std::string(failure.place),
                       .request_id = std::string(failure.request_id)});
}

app::Embedding TestApplication::embedding(TestLoop& loop) {
  app::Embedding embedding;
  embedding.make_reactor = [&loop](const net::ReactorOptions& options, std::size_t session_bytes) {
    return make_simulated_reactor(options, session_bytes, loop.network());
  };
  embedding.clock = [&loop] { return loop.now(); };
  embedding.open_database = [this](const app::DatabaseDrivers& drivers,
                                   const app::DatabaseSettings& settings,
                                   std::vector<database::Migration> migrations) {
    return open_database(drivers, settings, std::move(migrations));
  };
  embedding.add_services = [this](registry::Registry& registry) -> Result<void> {
    for (Override& each : overrides_) each(registry);
    return {};
  };
  embedding.sinks = {log_.sink()};
  embedding.on_failure = [this](const Failure& failure) { keep_failure(failure); };
  embedding.seed = seed_;
  return embedding;
}

// Opens a database in memory, unless a test names another one; SQLite works in the turns of the
// reactor.
Result<database::Database> TestApplication::open_database(
    const app::DatabaseDrivers& drivers, const app::DatabaseSettings& settings,
    std::vector<database::Migration> migrations) {
  if (opener_) return opener_(settings);
  constexpr std::string_view scheme = "sqlite:";
  if (!settings.url.starts_with(scheme)) return drivers.open(settings, std::move(migrations));
  if (!disk_vfs_.empty()) {
    std::string_view file = std::string_view(settings.url).substr(scheme.size());
    if (file == ":memory:") file = "program.db";
    auto options = app::sqlite_options(file, settings, std::move(migrations));
    options.vfs = disk_vfs_;
    return open_for_test(std::move(options), database_faults_);
  }
  // The database of a settings file is the program's own: a test uses it only if it names it.
  const bool is_named = std::ranges::any_of(
      settings_, [](const std::string& each) { return each.starts_with("database.url="); });
  const std::string_view file =
      is_named ? std::string_view(settings.url).substr(scheme.size()) : ":memory:";
  return open_for_test(app::sqlite_options(file, settings, std::move(migrations)),
                       database_faults_);
}

void TestApplication::use_disk(const SimulatedDisk& disk) { disk_vfs_ = disk.vfs(); }

Result<std::unique_ptr<TestTarget>> TestApplication::start_program(TestLoop& loop) {
  app::CommandLine line;
  line.sets = settings_;
  if (!config_file_.empty()) line.config = config_file_;
  if (auto started = program_.start(line, embedding(loop)); !started) {
    return std::unexpected(
        started.error().within(fmt::format("'{}' did not start", program_.options().name)));
  }
  is_running_ = true;
  auto target = std::make_unique<Target>(program_.server().first_reactor(), program_.port(), loop);
  target->documents = program_.documents();
  loop.turn({});  // jobs count their time from here on, not from the first request
  if (opener_) connect_database(loop);
  return target;
}

// A database without a thread connects when a reactor first asks for it.
void TestApplication::connect_database(TestLoop& loop) {
  Starter asking([this] {
    if (auto* const database = program_.services().find<database::Database>()) {
      (void)database->backend().health();
    }
  });
  program_.server().first_reactor().post(asking);
  loop.run_ready([] { return false; }, seconds(1));
}

Result<void> TestApplication::use_operations() {
  if (auto started = start(); !started) return started;
  const std::uint16_t port = program_.server().operations_port();
  if (port == 0) {
    return fail(Code::not_found,
                "the program has no operations listener: set operations.port, or ask the first");
  }
  use_port(port);
  return {};
}

Result<void> TestApplication::use_listener(std::size_t index) {
  if (auto started = start(); !started) return started;
  const std::size_t count = program_.server().other_urls().size();
  if (index >= count) {
    return fail(
        Code::out_of_range,
        fmt::format("the program has {} listeners in http.listeners, and no {}", count, index));
  }
  use_port(program_.server().port_of_listener(index));
  return {};
}

Result<void> TestApplication::use_first_listener() {
  if (auto started = start(); !started) return started;
  use_port(program_.port());
  return {};
}

const registry::Services& TestApplication::services() {
  const Result<void> started = start();
  KATANA_REQUIRE(started);
  return program_.services();
}

MetricsView TestApplication::metrics() {
  auto& observability = services().get<server::Observability>();
  return {observability.registry(), [&observability] { (void)observability.ask_reactors(); }};
}

SpanCapture& TestApplication::spans() {
  if (!has_ended_) take_spans(services());
  return *spans_;
}

void TestApplication::take_spans(const registry::Services& services) {
  if (spans_ == nullptr) spans_ = std::make_unique<SpanCapture>();
  if (auto* const tracer = services.find<trace::Tracer>()) spans_->take_from(*tracer);
}

bool TestApplication::run_until_done(Message& start, const std::function<bool()>& done) {
  reactor().post(start);
  loop().run_ready(done, run_timeout_);
  loop().run_while([&] { return !done(); }, run_timeout_);
  return done();
}

server::ServerReport TestApplication::stop() {
  if (!std::exchange(is_running_, false)) return {};
  net::Reactor& turned = reactor();
  program_.shutdown();
  // It ends without help: drain_notice and drain_timeout are less than that (app/settings.hpp).
  loop().run_while([&] { return !turned.stopped(); }, seconds(3 * 3600));
  KATANA_CHECK(turned.stopped());
  server::ServerReport report = program_.serve();
  end("the program has ended");
  take_spans(program_.services());
  has_ended_ = true;
  loop().within([this] { program_.stop(); });
  return report;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
