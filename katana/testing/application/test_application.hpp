// TestApplication: a program of app::Application in the process of its test, set up like in its
// main(). It has no socket, port or signal, and runs in virtual time.
//
//   void configure(app::Application<Settings>& app);            // used by main() and by tests
//
//   testing::TestApplication app(shop::options(), shop::configure, {.settings = {"page_max=3"}});
//   app.override_service<Clock>(fake_clock);
//   EXPECT_EQ(app.get("/users").status(), 200u);
//   app.advance(seconds(600));                                   // jobs, heartbeats, timeouts
//   EXPECT_TRUE(app.log().contains("purged 3 sessions"));
//
// Services, routes, parts, hooks, jobs, configured middleware, access log, metrics, health and
// operations pages are the program's own. See app/embedding.hpp for the omitted parts. Requests,
// advance() and faults of the network are those of a TestServer.
//
//   start    at the first request, or start()
//   database one in memory with the program's migrations, unless `settings` have a database.url;
//            or that of use_database() or use_disk()
//   network  requests of its HttpClient go to a FakeUpstream, or fail
//   end      stop() or the destructor: drains, runs on_stop, and stops the parts, in virtual time
//
// Owns       the program, if the test passed ownership or made it; the captures.
// Borrows    the program otherwise. An Application is started once, so it has one TestApplication.
// Thread     one. A program's own pools have their threads; the test waits for them.
// Allocates  freely: a test's tool.
// Fails      start() with the Error of the part that did not start; every request then reports it.
// Invariant  the environment and default files are not read. One process may have many
//            TestApplications.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/app/application_core.hpp"
#include "katana/testing/application/event_capture.hpp"
#include "katana/testing/application/log_capture.hpp"
#include "katana/testing/application/metrics_view.hpp"
#include "katana/testing/database/database_faults.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {

class SimulatedDisk;  // katana/testing_disk.hpp
class SpanCapture;

// Options for the start of the program.
struct TestApplicationOptions {
  // "key=value", as with --set.
  std::vector<std::string> settings = {};
  // A file of settings, which must be there; empty: none.
  std::string config_file = {};
  // Sent with every request that has no field of the same name.
  TestFields headers = {};
  TestOptions server = {};
};

// A failure of a handler, a job or a task, as reported to OnError.
struct CapturedFailure {
  std::string what;        // "the handler threw"
  std::string cause;       // message of the exception or the Error
  std::string place;       // "GET /users/{id}"
  std::string request_id;  // empty: the failure was not in a request
};

namespace detail {

template <class T>
struct TaskValue;  // run() takes a coroutine: a function that returns a Task
template <class T>
struct TaskValue<Task<T>> {
  using Type = T;
};

template <class T>
struct RunResult {
  using Type = Result<T>;
};
template <class T, class E>
struct RunResult<std::expected<T, E>> {
  using Type = Result<T>;
};

}  // namespace detail

class TestApplication : public TestServer {
 public:
  explicit TestApplication(app::ApplicationCore& program, TestApplicationOptions options = {});
  explicit TestApplication(std::unique_ptr<app::ApplicationCore> program,
                           TestApplicationOptions options = {});
  template <class Settings>
  TestApplication(app::ApplicationOptions program, void (*configure)(app::Application<Settings>&),
                  TestApplicationOptions options = {})
      : TestApplication(made(std::move(program), configure), std::move(options)) {}
  ~TestApplication();

  // ---- before the start

  // Replaces the service T that the program registers. The replacement is an object that outlives
  // this one, or a factory as for Registry. start() fails when the program registers no T.
  template <class T, class Given>
  void override_service(Given&& given,
                        std::source_location where = std::source_location::current()) {
    if constexpr (std::is_convertible_v<std::remove_reference_t<Given>*, T*>) {
      static_assert(std::is_lvalue_reference_v<Given>, "the object has to outlive the program");
      add_override(
          [&given, where](registry::Registry& to) { to.override_instance<T>(given, where); });
    } else {
      add_override([factory = std::forward<Given>(given), where](registry::Registry& to) mutable {
        to.override_service<T>(std::move(factory), where);
      });
    }
  }
  // Opens the program's database in place of its drivers, as FakePostgres needs it. The database is
  // connected when the program has started.
  using DatabaseOpener = std::function<Result<database::Database>(const app::DatabaseSettings&)>;
  // Before start().
  void use_database(DatabaseOpener opener) { opener_ = std::move(opener); }
  // Has the program's SQLite file on a simulated disk, which outlives this object: under the name
  // in database.url, or as "program.db". Before start().
  void use_disk(const SimulatedDisk& disk);
  // May be called after the start, too. It lives as long as this object.
  FakeUpstream& upstream(std::string url, const std::function<void(Router&)>& routes);

  // ---- once started; these functions start the program

  // Sends further requests to another listener: that of operations.port, or those of http.listeners
  // in order. An Error: there is no such listener, or the program did not start.
  Result<void> use_operations();
  Result<void> use_listener(std::size_t index);
  Result<void> use_first_listener();

  // The service that the program registered, or its replacement. REQUIRES a started program that
  // has one.
  template <class T>
  T& service() {
    return services().get<T>();
  }
  const registry::Services& services();

  // Runs f(const registry::Services&) or f(), a coroutine, on the program's reactor until it has
  // ended, and returns its Result. It returns an Error after TestOptions::reply_timeout.
  template <class F>
  auto run(F f) {
    if constexpr (std::invocable<F&, const registry::Services&>) {
      return run_with([this, &f] { return f(services()); });
    } else {
      return run_with(f);
    }
  }

  // Ends the program like SIGTERM: requests in flight are finished or cut off. Called once.
  server::ServerReport stop();

  // ---- captures

  // The program's records, metrics and reported failures so far.
  LogCapture& log() noexcept { return log_; }
  MetricsView metrics();
  // The ended spans of a program with app::telemetry(), also after stop(); see
  // katana/testing_telemetry.hpp.
  SpanCapture& spans();
  const std::vector<CapturedFailure>& failures() const noexcept { return failures_; }
  // For a program that has a database.
  DatabaseFaults& database_faults() noexcept { return database_faults_; }

 private:
  class Target;
  using Override = std::move_only_function<void(registry::Registry&)>;
  // Starts a coroutine in a turn.
  class Starter final : public Message {
   public:
    explicit Starter(std::function<void()> start)
        : Message([](Message& message) noexcept { static_cast<Starter&>(message).start_(); }),
          start_(std::move(start)) {}

   private:
    const std::function<void()> start_;
  };

  template <class Settings>
  static std::unique_ptr<app::ApplicationCore> made(
      app::ApplicationOptions program, void (*configure)(app::Application<Settings>&)) {
    auto application = std::make_unique<app::Application<Settings>>(std::move(program));
    configure(*application);
    return application;
  }
  TestApplication(std::unique_ptr<app::ApplicationCore>&& owned, app::ApplicationCore& program,
                  TestApplicationOptions options);

  Result<std::unique_ptr<TestTarget>> start_program(TestLoop& loop);
  void connect_database(TestLoop& loop);
  void take_spans(const registry::Services& services);
  Result<database::Database> open_database(const app::DatabaseDrivers& drivers,
                                           const app::DatabaseSettings& settings,
                                           std::vector<database::Migration> migrations);
  app::Embedding embedding(TestLoop& loop);
  void add_override(Override override);
  void keep_failure(const Failure& failure);
  // False: the time limit is over.
  bool run_until_done(Message& start, const std::function<bool()>& done);

  template <class F>
  auto run_with(F&& f) {
    using Given = typename detail::TaskValue<std::invoke_result_t<F&>>::Type;
    using Returned = typename detail::RunResult<Given>::Type;
    if (auto started = start(); !started) return Returned(std::unexpected(started.error()));
    std::optional<std::invoke_result_t<F&>> task;
    Starter starter([&] {
      task.emplace(f());
      task->start();
    });
    if (!run_until_done(starter, [&] { return task && task->done(); })) {
      return Returned(
          fail(Code::deadline_exceeded, "run(): the coroutine did not end within reply_timeout"));
    }
    if constexpr (std::is_void_v<Given>) {
      task->result();
      return Returned();
    } else {
      return Returned(task->result());
    }
  }

  const std::vector<std::string> settings_;
  const std::string config_file_;
  const Duration run_timeout_;
  const std::uint64_t seed_;
  LogCapture log_;
  std::unique_ptr<SpanCapture> spans_;  // null: not requested
  std::vector<CapturedFailure> failures_;
  DatabaseFaults database_faults_;
  std::vector<Override> overrides_;
  DatabaseOpener opener_;  // null: open_database()
  std::string disk_vfs_;   // empty: the machine's files, or memory
  std::vector<std::unique_ptr<FakeUpstream>> upstreams_;
  std::unique_ptr<app::ApplicationCore> owned_;  // null: borrowed
  app::ApplicationCore& program_;
  bool is_running_ = false;
  bool has_ended_ = false;  // by stop()
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
