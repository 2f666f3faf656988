#include "katana/testing/test_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "katana/base/check.hpp"
#include "katana/core/reactor_on.hpp"
#include "katana/engine/sim/sim_engine.hpp"
#include "katana/service/dispatcher.hpp"
#include "katana/session/http1_protocol.hpp"
#include "katana/session/http2_protocol.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http1/response_machine.hpp"

namespace katana::testing {
namespace {

using Event = http1::ResponseMachine::Event;

bool is_same_name(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, http::to_lower, http::to_lower);
}

bool has_field(const TestFields& fields, std::string_view name) {
  return std::ranges::any_of(fields, [&](const auto& f) { return is_same_name(f.first, name); });
}

// The fields of a head that a ResponseMachine has accepted.
TestReply::Fields fields_of(std::string_view head) {
  TestReply::Fields fields;
  head.remove_prefix(std::min(head.size(), head.find('\n') + 1));  // the status line
  for (std::size_t end; (end = head.find('\n')) != std::string_view::npos;) {
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    fields.emplace_back(line.substr(0, colon), value);
  }
  return fields;
}

}  // namespace

struct PendingReply::State {
  TestServer::Core* core = nullptr;  // of a server that lives
  std::string request;               // its method and target
  std::optional<TestReply> reply;
};

namespace detail {

// One connection of a client, which has at most one request under way.
template <class State>
class TestConnection {
 public:
  TestConnection(engine::SimNetwork& network, std::uint16_t port, std::size_t content_bytes_max)
      : network_(network), peer_(network), port_(port), content_bytes_max_(content_bytes_max) {
    peer_.on_received = [this] { take(); };
    peer_.on_over = [this] { end(); };
    peer_.connect(port);
  }

  std::uint16_t port() const noexcept { return port_; }
  bool is_idle() const { return !state_ && !is_over(); }
  bool is_over() const { return !state_ && (failed_ || peer_.over() || !machine_.keeps_open()); }
  State* state() const noexcept { return state_.get(); }

  void begin(std::shared_ptr<State> state, bool to_head, std::string_view bytes) {
    state_ = std::move(state);
    to_head_ = to_head;
    head_.clear();
    content_.clear();
    received_ = 0;
    peer_.send(bytes);
  }
  void give_up(std::string_view why) {
    peer_.reset();
    fail(why);
  }

 private:
  void take() {
    input_ += peer_.take_received();
    std::string_view left = input_;
    while (state_ && !left.empty()) {
      const bool in_head = !machine_.is_within_content();
      const auto step = machine_.next(left, to_head_, memo_);
      received_ += step.consumed;
      if (in_head) head_ += left.substr(0, step.consumed - step.content.size());
      content_ += step.content;
      left.remove_prefix(step.consumed);
      if (content_.size() > content_bytes_max_) {
        return give_up(fmt::format("the content exceeds {} bytes; raise content_bytes_max",
                                   content_bytes_max_));
      }
      if (step.event == Event::interim) head_.clear();
      if (step.event == Event::malformed) {
        peer_.reset();
        fail(fmt::format("the reply is not valid HTTP/1.1: {}", machine_.problem()));
      }
      if (step.event == Event::complete) complete();
      if (step.event == Event::needs_more) break;
    }
    input_.erase(0, input_.size() - left.size());
  }
  void end() {
    if (!state_) return;
    if (peer_.refused()) return fail("the server refused the connection");
    if (peer_.saw_reset()) return fail("the server reset the connection");
    if (machine_.end_of_input() == Event::complete) return complete();
    fail("the server closed the connection");
  }
  void complete() {
    state_->reply.emplace(machine_.status(), fields_of(head_), std::move(content_));
    content_.clear();
    state_.reset();
    if (!machine_.keeps_open()) peer_.finish();
  }
  void fail(std::string_view why) {
    failed_ = true;
    if (!state_) return;
    const std::string came = received_ == 0
                                 ? std::string("nothing came")
                                 : fmt::format("{} bytes of a reply came, {} of them content",
                                               received_, content_.size());
    state_->reply.emplace(
        fmt::format("{}: {}; {} (seed {})", state_->request, why, came, network_.seed()));
    state_.reset();
  }

  engine::SimNetwork& network_;
  engine::SimPeer peer_;
  const std::uint16_t port_;
  const std::size_t content_bytes_max_;
  http1::ResponseMachine machine_;
  http1::HeadMemo memo_;
  std::shared_ptr<State> state_;  // null: nothing is under way
  bool to_head_ = false;
  bool failed_ = false;  // what comes now belongs to no request
  std::string input_, head_, content_;
  std::size_t received_ = 0;  // bytes of the reply
};

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
    loop.add(own);
  }
  ~Front() override { loop.remove(own); }
  TestLoop& loop;
  Service service;
  Dispatcher dispatcher;
  session::Http1Protocol http1;
  session::Http2Protocol http2;
  core::ReactorOn<engine::SimEngine> own;
};

// Of a service there is a reactor at once; what was not built is an Error.
TestTargetMaker maker_of(Result<Service> service) {
  return [service = std::move(service)](
             TestLoop& loop,
             const TestOptions& options) mutable -> Result<std::unique_ptr<TestTarget>> {
    if (!service) return std::unexpected(service.error().within("the service was not built"));
    return std::make_unique<Front>(*std::move(service), options.http, loop);
  };
}

}  // namespace detail

struct TestServer::Core {
  using State = PendingReply::State;
  using Connection = detail::TestConnection<State>;

  Core(TestTargetMaker make_front, TestOptions given)
      : options(std::move(given)),
        network(options.seed, options.faults),
        loop(network, options.thread_wait),
        make(std::move(make_front)) {}
  ~Core() { leave("the test server ended"); }

  void start() {
    if (!make) return;
    Result<std::unique_ptr<TestTarget>> made = nullptr;
    loop.within([&] { made = std::exchange(make, nullptr)(loop, options); });
    if (made) {
      front = *std::move(made);
    } else {
      mistake = made.error();
    }
  }
  void leave(std::string_view why) {
    for (const auto& connection : connections) {
      if (connection->state()) connection->give_up(why);
    }
    connections.clear();
    // The server notices that its clients are gone, and handlers are cancelled as on a network.
    if (front) run_while([&] { return front->reactor.links_open() > 0; }, seconds(600));
  }

  template <class Condition>
  void run_while(Condition&& holds, Duration limit) {
    loop.run_while(holds, limit);
  }
  // What is under way on the network and on threads arrives; time does not run on to timers.
  template <class Done>
  void run_network(Done&& done) {
    loop.run_ready(done, options.reply_timeout);
  }
  void wait(State& state) {
    const auto done = [&] { return state.reply.has_value(); };
    if (front) {
      run_network(done);
      run_while([&] { return !done(); }, options.reply_timeout);
    }
    for (const auto& connection : connections) {
      if (!done() && connection->state() == &state) {
        connection->give_up(fmt::format(
            "no whole reply within {} s of virtual time; a thread that brings what the handler "
            "waits for has to promise it (Executor::expect)",
            options.reply_timeout.ns / 1'000'000'000));
      }
    }
  }
  Connection& idle_connection() {
    std::erase_if(connections, [](const auto& connection) { return connection->is_over(); });
    for (const auto& connection : connections) {
      if (connection->is_idle() && connection->port() == front->port) return *connection;
    }
    return *connections.emplace_back(
        std::make_unique<Connection>(network, front->port, options.content_bytes_max));
  }
  std::string request_bytes(std::string_view method, std::string_view target,
                            std::string_view content, const TestFields& fields) const {
    std::string bytes = fmt::format("{} {} HTTP/1.1\r\n", method, target);
    const auto add = [&](std::string_view name, std::string_view value) {
      fmt::format_to(std::back_inserter(bytes), "{}: {}\r\n", name, value);
    };
    TestFields all = fields;
    for (const auto& field : options.headers) {
      if (!has_field(fields, field.first)) all.push_back(field);
    }
    if (!has_field(all, "host")) add("Host", "test.example");
    for (const auto& [name, value] : all) add(name, value);
    const bool has_content = !content.empty() || method == "POST" || method == "PUT";
    if (has_content && !has_field(all, "content-length")) {
      add("Content-Length", std::to_string(content.size()));
    }
    if (!content.empty() && !has_field(all, "content-type")) {
      add("Content-Type", "application/json");
    }
    return bytes.append("\r\n").append(content);
  }

  TestOptions options;
  engine::SimNetwork network;
  TestLoop loop;
  TestTargetMaker make;               // null: it was called
  std::optional<Error> mistake;       // why there is no `front`
  std::unique_ptr<TestTarget> front;  // behind the network, on which it is
  std::vector<std::unique_ptr<Connection>> connections;
};

bool PendingReply::is_done() const noexcept { return state_->reply.has_value(); }

TestReply PendingReply::reply() {
  if (!state_->reply) state_->core->wait(*state_);
  KATANA_CHECK(state_->reply);
  return *state_->reply;
}

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

core::Reactor& TestServer::reactor() noexcept {
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

PendingReply TestServer::begin(std::string_view method, std::string_view target,
                               std::string_view content, const TestFields& fields) {
  auto state = std::make_shared<PendingReply::State>();
  state->core = core_.get();
  state->request = fmt::format("{} {}", method, target);
  core_->start();
  if (!core_->front) {
    state->reply.emplace(fmt::format("{}: {}", state->request, core_->mistake->describe()));
    return PendingReply(std::move(state));
  }
  core_->idle_connection().begin(state, method == "HEAD",
                                 core_->request_bytes(method, target, content, fields));
  core_->run_network([&] { return state->reply.has_value(); });
  return PendingReply(std::move(state));
}

void TestServer::advance(Duration time) {
  core_->start();
  if (!core_->front) return;
  // To the end of the millisecond: what is due within it fires there.
  constexpr std::int64_t tick_ns = 1'000'000;
  const std::int64_t end_ns = now().ns + time.ns;
  const Instant end{end_ns + tick_ns - end_ns % tick_ns};
  core_->run_while([] { return true; }, end - now());
  core_->loop.turn({});
  // What began at the end goes as far as it can: a job that asks an upstream gets its answer.
  core_->loop.run_ready([] { return false; }, milliseconds(10));
}

Instant TestServer::now() const noexcept { return core_->network.now(); }

std::uint32_t TestServer::connections() const noexcept {
  return core_->front ? core_->front->reactor.links_open() : 0;
}

}  // namespace katana::testing
