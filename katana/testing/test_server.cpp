#include "katana/testing/test_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "katana/base/system/check.hpp"
#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/http/session/http2_protocol.hpp"
#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/testing/client_exchange.hpp"
#include "katana/testing/contract_check.hpp"
#include "katana/testing/test_loop.hpp"

namespace katana::testing {
namespace {

using detail::ClientConnection;
using detail::ClientExchange;

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
struct Front final : TestTarget {
  Front(Service built, const session::HttpOptions& options, TestLoop& turned_by)
      : TestTarget(own),
        loop(turned_by),
        service(std::move(built)),
        dispatcher(service),
        http1(options, dispatcher),
        http2(options, dispatcher, http1.counters(), &http1.websockets()),
        own(test_reactor_options(), std::max(http1.session_bytes(), http2.session_bytes()),
            loop.network()) {
    if (options.http2.enabled) http1.set_http2(&http2);
    KATANA_CHECK(own.start());
    KATANA_CHECK(own.listen({}, http1));
    port = own.port(0);
    documents = service.documents();
    loop.add(own);
  }
  ~Front() override { loop.remove(own); }
  TestLoop& loop;
  Service service;
  Dispatcher dispatcher;
  session::Http1Protocol http1;
  session::Http2Protocol http2;
  net::ReactorOn<engine::SimEngine> own;
};

namespace {

// A service that was built has a reactor at once; otherwise the result is an Error.
TestTargetMaker maker_of(Result<Service> service) {
  return [service = std::move(service)](
             TestLoop& loop,
             const TestOptions& options) mutable -> Result<std::unique_ptr<TestTarget>> {
    if (!service) return std::unexpected(service.error().within("the service was not built"));
    return std::make_unique<Front>(*std::move(service), options.http, loop);
  };
}

}  // namespace

}  // namespace detail

struct TestServer::Core final : detail::ClientLoop {
  Core(TestTargetMaker make_front, TestOptions given)
      : options(std::move(given)),
        network(options.seed, options.faults),
        loop(network, options.thread_wait, options.waits_for_time),
        make(std::move(make_front)) {}
  ~Core() { leave("the test server ended"); }

  void start() {
    if (!make) return;
    Result<std::unique_ptr<TestTarget>> made = nullptr;
    loop.within([&] { made = std::exchange(make, nullptr)(loop, options); });
    if (!made) {
      mistake = made.error();
      return;
    }
    front = *std::move(made);
    if (const auto read = read_contracts(); !read) {
      mistake = read.error().within("the service has a document that is no OpenAPI description");
      front.reset();
    }
  }
  Result<void> read_contracts() {
    if (!options.check_contract) return {};
    if (options.contract != nullptr) {
      contracts.push_back(options.contract);
      return {};
    }
    for (const ServiceDocument& each : front->documents) {
      auto check = ContractCheck::of_document(each.text);
      if (!check) return std::unexpected(check.error());
      contracts.push_back(*std::move(check));
    }
    return {};
  }
  // The checks of a whole reply; a null function: none.
  std::function<std::string(const TestReply&)> judge_of(const Begin& how, TestFields fields,
                                                        const ClientExchange& exchange) const {
    if (contracts.empty()) return nullptr;
    return [checks = contracts, method = std::string(how.method), target = std::string(how.target),
            content = std::string(how.content), in_pieces = how.in_pieces,
            fields = std::move(fields), &exchange](const TestReply& reply) {
      if (exchange.content_was_taken) return std::string();
      for (const auto& check : checks) {
        std::string why = check->judge({.method = method,
                                        .target = target,
                                        .fields = fields,
                                        .content = content,
                                        .has_whole_content = !in_pieces,
                                        .reply = reply});
        if (!why.empty()) return why;
      }
      return std::string();
    };
  }
  void leave(std::string_view why) {
    for (const Open& each : connections) each.connection->give_up(why);
    connections.clear();
    // The server notices that its clients are gone, and cancels handlers as on a network.
    if (front)
      run_while([&] { return front->reactor.links_open() > front->reactor.links_lasting(); },
                seconds(600));
  }

  template <class Condition>
  void run_while(Condition&& holds, Duration limit) {
    loop.run_while(holds, limit);
  }
  // Delivers everything in transit on the network and on threads; does not move time on to timers.
  void run_network(const std::function<bool()>& done) override {
    loop.run_ready(done, options.reply_timeout);
  }
  void wait(const std::function<bool()>& done, Duration limit) override {
    if (!front) return;
    run_network(done);
    run_while([&] { return !done(); }, limit.ns > 0 ? limit : options.reply_timeout);
  }
  std::string no_reply() const override {
    return fmt::format(
        "no whole reply within {} s of virtual time; a thread that brings what the handler waits "
        "for has to promise it (Executor::expect)",
        options.reply_timeout.ns / 1'000'000'000);
  }
  ClientConnection& connection() {
    std::erase_if(connections, [](const Open& each) { return each.connection->is_over(); });
    for (const Open& each : connections) {
      if (each.port == front->port && each.connection->may_begin()) return *each.connection;
    }
    const detail::ClientOptions client{.port = front->port,
                                       .content_bytes_max = options.content_bytes_max,
                                       .reset_after_bytes = options.reset_after_bytes};
    connections.push_back({front->port, options.protocol == TestProtocol::http2
                                            ? detail::make_http2_connection(network, client)
                                            : detail::make_http1_connection(network, client)});
    return *connections.back().connection;
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

  struct Open {
    std::uint16_t port;
    std::unique_ptr<ClientConnection> connection;
  };

  TestOptions options;
  engine::SimNetwork network;
  TestLoop loop;
  TestTargetMaker make;               // null: it was called
  std::optional<Error> mistake;       // the reason why there is no `front`
  std::unique_ptr<TestTarget> front;  // attached to the network: destroyed before it
  std::vector<std::shared_ptr<ContractCheck>> contracts;
  std::vector<Open> connections;
};

TestServer::TestServer(Result<Service> service, TestOptions options)
    : TestServer(detail::maker_of(std::move(service)), std::move(options)) {
  core_->start();
}
TestServer::TestServer(TestTargetMaker make, TestOptions options)
    : core_(std::make_unique<Core>(std::move(make), std::move(options))) {}
TestServer::~TestServer() = default;

Result<void> TestServer::start() {
  core_->start();
  return core_->mistake ? Result<void>(std::unexpected(*core_->mistake)) : Result<void>();
}

TestLoop& TestServer::loop() noexcept { return core_->loop; }

net::Reactor& TestServer::reactor() noexcept {
  KATANA_REQUIRE(core_->front != nullptr);
  return core_->front->reactor;
}

void TestServer::use_port(std::uint16_t port) {
  if (core_->front) core_->front->port = port;
}

void TestServer::leave(std::string_view why) { core_->leave(why); }

void TestServer::end(std::string why) {
  core_->leave(why);
  core_->make = nullptr;
  core_->front.reset();
  core_->mistake.emplace(Code::unavailable, std::move(why));
}

PendingReply TestServer::begin_as(const Begin& how) {
  auto state = std::make_shared<detail::PendingState>();
  state->loop = core_.get();
  state->seed = core_->options.seed;
  state->request = fmt::format("{} {}", how.method, how.target);
  state->to_head = how.method == "HEAD";
  state->in_pieces = how.in_pieces;
  state->upgrades = how.upgrades;
  core_->start();
  if (!core_->front) {
    state->reply.emplace(fmt::format("{}: {}", state->request, core_->mistake->describe()));
    return PendingReply(std::move(state));
  }
  const TestFields fields = core_->all_fields(how);
  state->judge = core_->judge_of(how, fields, *state);
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
  core_->start();
  if (!core_->front) return;
  // To the end of the millisecond: timers within it fire there.
  constexpr std::int64_t tick_ns = 1'000'000;
  const std::int64_t end_ns = now().ns + time.ns;
  const Instant end{end_ns + tick_ns - end_ns % tick_ns};
  core_->run_while([] { return true; }, end - now());
  core_->loop.turn({});
  // Work that began at the end goes as far as it can: a job that asks an upstream gets its answer.
  core_->loop.run_ready([] { return false; }, milliseconds(10));
}

Instant TestServer::now() const noexcept { return core_->network.now(); }

std::uint32_t TestServer::connections() const noexcept {
  return core_->front ? core_->front->reactor.links_open() : 0;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
