#include "katana/testing/test_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "katana/base/check.hpp"
#include "katana/core/reactor_on.hpp"
#include "katana/engine/sim/sim_engine.hpp"
#include "katana/service/dispatcher.hpp"
#include "katana/session/http1_protocol.hpp"
#include "katana/session/http2_protocol.hpp"
#include "katana/testing/client_exchange.hpp"

namespace katana::testing {
namespace {

using detail::ClientConnection;
using detail::ClientExchange;

// Small pools: a test makes many servers.
core::ReactorOptions reactor_options() {
  core::ReactorOptions options;
  options.engine.links_max = 256;
  options.output_blocks_max = 8 * 1024;
  options.output_blocks_reserve = 64;
  options.carry_large_max = 64;
  return options;
}

}  // namespace

struct TestServer::Begin {
  std::string_view method;
  std::string_view target;
  std::string_view content = {};
  const TestFields& fields;
  bool in_pieces = false;
  bool upgrades = false;
};

namespace detail {

// One built service behind its protocols.
struct Front {
  Front(Service built, const session::HttpOptions& options, engine::SimNetwork& network)
      : service(std::move(built)),
        dispatcher(service),
        http1(options, dispatcher),
        http2(options, dispatcher, http1.counters(), &http1.websockets()),
        reactor(reactor_options(), std::max(http1.session_bytes(), http2.session_bytes()),
                network) {
    if (options.http2.enabled) http1.set_http2(&http2);
    KATANA_CHECK(reactor.start());
    KATANA_CHECK(reactor.listen({}, http1));
    port = reactor.port(0);
  }
  Service service;
  Dispatcher dispatcher;
  session::Http1Protocol http1;
  session::Http2Protocol http2;
  core::ReactorOn<engine::SimEngine> reactor;
  std::uint16_t port = 0;
};

}  // namespace detail

struct TestServer::Core final : detail::ClientLoop {
  Core(Result<Service> service, TestOptions given)
      : options(std::move(given)), network(options.seed, options.faults) {
    if (service) {
      front.emplace(*std::move(service), options.http, network);
    } else {
      mistake = service.error().describe();
    }
  }
  ~Core() {
    for (const auto& connection : connections) connection->give_up("the test server ended");
    connections.clear();
    // The server notices that its clients are gone, and handlers are cancelled as on a network.
    if (front) run_while([&] { return front->reactor.links_open() > 0; }, seconds(600));
  }

  void turn(Duration wait_max) {
    const Instant due = front->reactor.timers().next();
    const Duration until = due == never ? wait_max : due - network.now();
    front->reactor.turn(std::clamp(until, Duration{}, wait_max));
  }
  template <class Condition>
  void run_while(Condition&& holds, Duration limit) {
    const Instant last = network.now() + limit;
    while (network.now() < last && holds()) turn(std::min(seconds(1), last - network.now()));
  }
  // What is under way on the network arrives; time does not run on to timers.
  void run_network(const std::function<bool()>& done) override {
    const Instant last = network.now() + options.reply_timeout;
    while (!done() && !network.quiescent() && network.now() < last) {
      front->reactor.turn(microseconds(100));
    }
  }
  // Other threads may bring what the reply waits for.
  void wait_for_threads(const std::function<bool()>& done) {
    const auto last =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(options.thread_wait.ns);
    for (run_network(done); !done() && std::chrono::steady_clock::now() < last; run_network(done)) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  void wait(const std::function<bool()>& done, Duration limit) override {
    if (!front) return;
    wait_for_threads(done);
    run_while([&] { return !done(); }, limit.ns > 0 ? limit : options.reply_timeout);
  }
  std::string no_reply() const override {
    return fmt::format(
        "no whole reply within {} s of virtual and {} ms of real time; if its handler waits for a "
        "thread, raise thread_wait",
        options.reply_timeout.ns / 1'000'000'000, options.thread_wait.ns / 1'000'000);
  }
  ClientConnection& connection() {
    std::erase_if(connections, [](const auto& each) { return each->is_over(); });
    for (const auto& each : connections) {
      if (each->may_begin()) return *each;
    }
    const detail::ClientOptions client{.port = front->port,
                                       .content_bytes_max = options.content_bytes_max,
                                       .reset_after_bytes = options.reset_after_bytes};
    return *connections.emplace_back(options.protocol == TestProtocol::http2
                                         ? detail::make_http2_connection(network, client)
                                         : detail::make_http1_connection(network, client));
  }
  TestFields all_fields(const Begin& how) const {
    TestFields all;
    for (const TestFields* const list : {&how.fields, &options.headers}) {
      for (const auto& field : *list) {
        const bool is_given =
            list != &how.fields && detail::find_field(how.fields, field.first) != nullptr;
        if (!is_given) all.push_back(field);
      }
    }
    if (detail::find_field(all, "host") == nullptr) {
      all.insert(all.begin(), {"Host", "test.example"});
    }
    const bool has_type = detail::find_field(all, "content-type") != nullptr;
    if (!how.content.empty() && !has_type) all.emplace_back("Content-Type", "application/json");
    return all;
  }

  TestOptions options;
  engine::SimNetwork network;
  std::string mistake;                 // why there is no `front`
  std::optional<detail::Front> front;  // behind the network, on which it is
  std::vector<std::unique_ptr<ClientConnection>> connections;
};

TestServer::TestServer(Result<Service> service, TestOptions options)
    : core_(std::make_unique<Core>(std::move(service), std::move(options))) {}
TestServer::~TestServer() = default;

PendingReply TestServer::begin_as(const Begin& how) {
  auto state = std::make_shared<detail::PendingState>();
  state->loop = core_.get();
  state->seed = core_->options.seed;
  state->request = fmt::format("{} {}", how.method, how.target);
  state->to_head = how.method == "HEAD";
  state->in_pieces = how.in_pieces;
  state->upgrades = how.upgrades;
  if (!core_->front) {
    state->reply.emplace(
        fmt::format("{}: the service was not built: {}", state->request, core_->mistake));
    return PendingReply(std::move(state));
  }
  const TestFields fields = core_->all_fields(how);
  const bool has_content = !how.content.empty() || how.method == "POST" || how.method == "PUT";
  core_->connection().begin(state, {.method = how.method,
                                    .target = how.target,
                                    .fields = fields,
                                    .content = how.content,
                                    .has_content = has_content,
                                    .in_pieces = how.in_pieces});
  PendingReply pending(std::move(state));
  pending.run();
  return pending;
}

PendingReply TestServer::begin(std::string_view method, std::string_view target,
                               std::string_view content, const TestFields& fields) {
  return begin_as({.method = method, .target = target, .content = content, .fields = fields});
}

PendingReply TestServer::begin_pieces(std::string_view method, std::string_view target,
                                      const TestFields& fields) {
  return begin_as({.method = method, .target = target, .fields = fields, .in_pieces = true});
}

TestWebSocket TestServer::websocket(std::string_view target, const TestSocketOptions& options) {
  const TestFields fields = TestWebSocket::handshake_fields(options);
  PendingReply pending =
      begin_as({.method = "GET", .target = target, .fields = fields, .upgrades = true});
  return TestWebSocket(std::move(pending), options);
}

TestEvents TestServer::events(std::string_view target, const TestFields& fields) {
  TestFields all = fields;
  if (detail::find_field(all, "accept") == nullptr) all.emplace_back("Accept", "text/event-stream");
  return TestEvents(begin_as({.method = "GET", .target = target, .fields = all}));
}

void TestServer::advance(Duration time) {
  if (core_->front) core_->run_while([] { return true; }, time);
}

Instant TestServer::now() const noexcept { return core_->network.now(); }

std::uint32_t TestServer::connections() const noexcept {
  return core_->front ? core_->front->reactor.links_open() : 0;
}

}  // namespace katana::testing
