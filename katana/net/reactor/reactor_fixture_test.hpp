// FakeEngine, TestSession and ReactorTest: a reactor on an engine of a few lines, in virtual time.
//
// Owns       the fixture owns everything; a test reaches in and turns the reactor by hand.
// Thread     one.
// Fails      by failing the test: the engine checks that the reactor keeps the contract of
//            engine.hpp, and that bytes in flight do not change.
// Invariant  all events come from the test: no clock, no kernel, no chance.
#pragma once

#include <gtest/gtest.h>
#include <atomic>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "katana/net/reactor/reactor_on.hpp"

namespace katana::net {

// How the kernel of a FakeEngine takes output.
enum class Kernel : std::uint8_t {
  takes,    // as much as it has room for, at once; the rest is pending
  borrows,  // nothing at once: it reads the memory until complete()
  breaks    // the connection is gone
};

// The state of an engine as a test sees it, and the means to cause events.
struct World {
  struct LinkState {
    std::uint32_t generation = 1;
    bool open = false;
    bool paused = false;
    std::size_t receive_max = SIZE_MAX;
    bool sending = false;
    bool send_ended = false;
    bool was_reset = false;
    Kernel kernel = Kernel::takes;
    std::size_t writable = SIZE_MAX;
    std::string sent;
    int sends = 0;
    int failure = 0;
    std::string connected_to;  // address and port
    std::vector<iovec> borrowed;
    std::string borrowed_text;
  };

  Instant now{seconds(1000).ns};
  std::int64_t wall_ahead_s = 0;    // how far the clock of the system is ahead of `now`
  Duration waited{-1};              // the wait of the last turn
  std::atomic<bool> woken = false;  // wake() was called, by any thread, and no turn has come since
  bool passes = false;              // a waiting turn moves the time on by its wait
  std::function<void()> at_turn;
  bool accept_paused = false;
  bool accepting = true;
  bool adopt_fails = false;
  int listeners_closed = 0;
  std::size_t file_bytes_per_send = SIZE_MAX;
  std::deque<LinkState> links;
  std::vector<std::string> calls;             // of the reactor, except send()
  std::vector<std::function<void()>> events;  // of the next turn
};

template <class S>
class FakeEngine {
 public:
  FakeEngine(const engine::Options&, S& sink, World& world) : sink_(sink), world_(world) {}

  Result<void> start() { return {}; }
  Result<engine::Listener> listen(const engine::ListenOptions&) { return listeners_++; }
  std::uint16_t port(engine::Listener listener) const {
    return static_cast<std::uint16_t>(8000 + listener);
  }
  int socket(engine::Listener) const { return -1; }
  // Opens a link; the test lets its server answer by giving it room.
  Result<engine::Link> connect(const engine::ConnectOptions& options) {
    if (options.port == 0 && !engine::is_path(options.address)) {
      return fail(Code::unavailable, "nobody is there");
    }
    const auto index = static_cast<std::uint32_t>(world_.links.size());
    World::LinkState& state = world_.links.emplace_back();
    state.open = true;
    state.writable = 0;
    state.connected_to = std::string(options.address) + " " + std::to_string(options.port);
    return engine::Link{index, state.generation};
  }
  int detach(engine::Link link) {
    note("detach");
    world_.links[link.index].open = false;
    return static_cast<int>(link.index);
  }
  // A socket of another world becomes the first closed link, or the next.
  Result<engine::Link> adopt(int socket) {
    if (world_.adopt_fails) return fail(Code::resource_exhausted, "no memory to watch it");
    world_.calls.push_back("adopt " + std::to_string(socket));
    auto place = std::ranges::find(world_.links, false, &World::LinkState::open);
    const auto index = static_cast<std::uint32_t>(place - world_.links.begin());
    if (place == world_.links.end()) world_.links.emplace_back();
    world_.links[index] = World::LinkState{};
    world_.links[index].open = true;
    return engine::Link{index, 1};
  }
  void discard(int socket) { world_.calls.push_back("discard " + std::to_string(socket)); }
  int failure(engine::Link link) { return world_.links[link.index].failure; }
  bool accepting() const { return world_.accepting; }
  void pause_accept() { world_.accept_paused = true; }
  void resume_accept() {
    world_.accept_paused = false;
    note("resume_accept");
  }
  void close_listeners() { ++world_.listeners_closed; }
  void hand_over(engine::Listener listener) {
    world_.calls.push_back("hand_over " + std::to_string(listener));
  }

  engine::Sent send(engine::Link link, std::span<const iovec> parts, std::size_t& accepted) {
    accepted = 0;
    World::LinkState* const state = find(link);
    EXPECT_NE(state, nullptr) << "send on a link that is gone";
    if (state == nullptr || state->kernel == Kernel::breaks) return engine::Sent::failed;
    EXPECT_FALSE(state->sending) << "send while one is pending";
    EXPECT_FALSE(state->send_ended) << "send after shutdown_send";
    ++state->sends;
    const std::string text = text_of(parts);
    EXPECT_FALSE(text.empty());
    if (state->kernel == Kernel::borrows) {
      state->borrowed.assign(parts.begin(), parts.end());
      state->borrowed_text = text;
      state->sending = true;
      return engine::Sent::pending;
    }
    accepted = std::min(text.size(), state->writable);
    state->sent += text.substr(0, accepted);
    if (state->writable != SIZE_MAX) state->writable -= accepted;
    if (accepted == text.size()) return engine::Sent::completed;
    state->sending = true;
    return engine::Sent::pending;
  }

  // Takes as much as there is room for, and of the file at most `world.file_bytes_per_send` in one
  // call.
  engine::Sent send_file(engine::Link link, std::span<const iovec> parts, const FilePart& file,
                         std::size_t& accepted) {
    accepted = 0;
    World::LinkState* const state = find(link);
    EXPECT_NE(state, nullptr) << "send on a link that is gone";
    if (state == nullptr || state->kernel == Kernel::breaks) return engine::Sent::failed;
    EXPECT_FALSE(state->sending) << "send while one is pending";
    EXPECT_GT(file.size, 0u);
    ++state->sends;
    std::string text = text_of(parts);
    const std::size_t ahead = text.size();
    const std::size_t of_file = std::min<std::size_t>(file.size, world_.file_bytes_per_send);
    text.resize(ahead + of_file);
    if (!file.read_all({text.data() + ahead, of_file})) return engine::Sent::failed;
    accepted = std::min(text.size(), state->writable);
    state->sent += text.substr(0, accepted);
    if (state->writable != SIZE_MAX) state->writable -= accepted;
    if (accepted == text.size()) return engine::Sent::completed;
    state->sending = true;
    return engine::Sent::pending;
  }

  void pause_receive(engine::Link link) {
    note("pause");
    if (auto* const state = find(link)) state->paused = true;
  }
  void limit_receive(engine::Link link, std::size_t bytes) {
    if (auto* const state = find(link)) state->receive_max = bytes;
  }
  void resume_receive(engine::Link link) {
    note("resume");
    if (auto* const state = find(link)) state->paused = false;
  }
  void shutdown_send(engine::Link link) {
    note("shutdown_send");
    if (auto* const state = find(link)) state->send_ended = true;
  }
  void close(engine::Link link) { end(link, "close"); }
  void reset(engine::Link link) {
    if (auto* const state = find(link)) state->was_reset = true;
    end(link, "reset");
  }

  Result<void> watch(int, engine::Readiness, engine::Watcher&) { return {}; }
  void unwatch(int) {}
  void wake() noexcept { world_.woken = true; }

  void turn(Duration wait_max) {
    world_.waited = wait_max;
    if (world_.passes && wait_max > Duration{}) world_.now = world_.now + wait_max;
    if (world_.at_turn) world_.at_turn();
    world_.woken = false;
    sink_.on_turn(world_.now);
    const auto events = std::exchange(world_.events, {});
    for (const auto& event : events) event();
  }
  Instant now() const { return world_.now; }
  std::int64_t wall_clock_s() const { return world_.now.ns / 1'000'000'000 + world_.wall_ahead_s; }
  std::size_t memory_bytes() const { return 0; }
  std::size_t memory_used() const { return 0; }

 private:
  static std::string text_of(std::span<const iovec> parts) {
    std::string text;
    for (const iovec& part : parts) {
      text.append(static_cast<const char*>(part.iov_base), part.iov_len);
    }
    return text;
  }
  World::LinkState* find(engine::Link link) {
    World::LinkState& state = world_.links[link.index];
    return state.open && state.generation == link.generation ? &state : nullptr;
  }
  void note(const char* call) { world_.calls.emplace_back(call); }
  void end(engine::Link link, const char* call) {
    note(call);
    if (auto* const state = find(link)) {
      state->open = false;
      state->borrowed.clear();  // the kernel lets go of the memory before close() returns
    }
  }

  S& sink_;
  World& world_;
  engine::Listener listeners_ = 0;
};

class TestProtocol;

// A session that follows its test's instructions, and records its calls.
class TestSession final : public Session {
 public:
  TestSession(TestProtocol& protocol, Connection& given);
  ~TestSession() override;

  std::size_t on_bytes(Bytes input) noexcept override {
    EXPECT_FALSE(connection.paused()) << "bytes were offered to a paused session";
    enter();
    offers.emplace_back(input);
    const std::size_t used = take(input);
    consumed += input.substr(0, used);
    in_call_ = false;
    return used;
  }
  void on_input_end() noexcept override { call(input_ends, at_input_end); }
  void on_writable() noexcept override { call(writables, at_writable); }
  void on_deadline() noexcept override { call(deadlines, at_deadline); }
  void on_drain() noexcept override { call(drains, at_drain); }
  std::size_t held_bytes() const noexcept override { return held; }
  std::size_t on_memory_scarce() noexcept override {
    ++sheds;
    return at_memory_scarce ? at_memory_scarce() : 0;
  }

  Connection& connection;
  std::function<std::size_t(Bytes)> take = [](Bytes input) { return input.size(); };
  std::function<void()> at_input_end, at_writable, at_deadline, at_drain, at_destruction;
  std::vector<std::string> offers;
  std::string consumed;
  int input_ends = 0, writables = 0, deadlines = 0, drains = 0, sheds = 0;
  std::size_t held = 0;                           // charged to the reactor's memory
  std::function<std::size_t()> at_memory_scarce;  // returns the bytes that go later; none: 0

 private:
  void enter() {
    EXPECT_FALSE(in_call_) << "calls of a session nest";
    in_call_ = true;
  }
  void call(int& count, const std::function<void()>& action) {
    enter();
    ++count;
    if (action) action();
    in_call_ = false;
  }
  TestProtocol& protocol_;
  std::size_t index_;
  bool in_call_ = false;
};

class TestProtocol final : public Protocol {
 public:
  std::size_t session_bytes() const noexcept override { return sizeof(TestSession); }
  Session* open(void* memory, Connection& connection) noexcept override {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignof(std::max_align_t), 0u);
    auto* const session = new (memory) TestSession(*this, connection);
    if (at_open) at_open(*session);
    return session;
  }
  std::vector<TestSession*> sessions;  // in the order of opening; null once destroyed
  std::function<void(TestSession&)> at_open;
};

inline TestSession::TestSession(TestProtocol& protocol, Connection& given)
    : connection(given), protocol_(protocol), index_(protocol.sessions.size()) {
  protocol.sessions.push_back(this);
}
inline TestSession::~TestSession() {
  if (at_destruction) at_destruction();
  protocol_.sessions[index_] = nullptr;
}

class ReactorTest : public testing::Test {
 protected:
  using TestReactor = ReactorOn<FakeEngine>;

  static ReactorOptions small_options() {
    ReactorOptions options;
    options.engine.links_max = 1024;  // a test never uses a link twice
    options.engine.receive_bytes_max = 1024;
    options.outbox_high_bytes = 4096;
    options.outbox_low_bytes = 1024;
    options.output_block_bytes = 512;
    options.output_blocks_max = 256;
    options.output_blocks_reserve = 16;
    options.carry_small_bytes = 256;
    options.carry_extra_bytes = 1024;
    options.carry_large_max = 8;
    return options;
  }

  explicit ReactorTest(const ReactorOptions& options = small_options())
      : reactor_(std::make_unique<TestReactor>(options, sizeof(TestSession), world_)) {
    EXPECT_TRUE(reactor_->start());
    EXPECT_TRUE(reactor_->listen({}, protocol_));
  }

  TestReactor& reactor() { return *reactor_; }
  const Counters& counters() { return reactor_->counters(); }
  World::LinkState& link_state(std::size_t index) { return world_.links[index]; }
  const std::string& sent(std::size_t index = 0) { return world_.links[index].sent; }

  // A new link, in its own turn. The n-th is link n; links are not used again.
  void accept(engine::Listener listener = 0) {
    const auto index = static_cast<std::uint32_t>(world_.links.size());
    world_.links.emplace_back().open = true;
    world_.events.push_back(
        [this, index, listener] { reactor_->on_accepted({index, 1}, listener, peer_of(index)); });
    turn();
  }
  static engine::PeerEndpoint peer_of(std::uint32_t index) {
    return {.address = {192, 0, 2, static_cast<std::uint8_t>(index)},
            .port = 1000,
            .family = engine::PeerEndpoint::Family::v4};
  }
  // Opens a link and returns the session on it.
  TestSession& connect() {
    accept();
    world_.calls.clear();
    return *protocol_.sessions.back();
  }

  // One turn, `later` after the last.
  void turn(Duration later = {}) {
    world_.now = world_.now + later;
    reactor_->turn(milliseconds(50));
  }

  // An event of the next turn: bytes. The buffer is overwritten right after, as in an engine.
  void bytes(std::uint32_t index, std::string text) {
    world_.events.push_back([this, index, text = std::move(text)]() mutable {
      if (!world_.links[index].open) return;
      EXPECT_FALSE(world_.links[index].paused) << "the test delivers to a paused link";
      reactor_->on_bytes({index, 1}, text);
      std::ranges::fill(text, '\xee');
    });
  }
  // The kernel has taken all that is pending, or its first `count` bytes when it borrows.
  void complete(std::uint32_t index, std::size_t count = SIZE_MAX) {
    world_.events.push_back([this, index, count] {
      World::LinkState& state = world_.links[index];
      if (!state.open) return;
      EXPECT_TRUE(state.sending);
      std::string text;
      for (const iovec& part : state.borrowed) {
        text.append(static_cast<const char*>(part.iov_base), part.iov_len);
      }
      EXPECT_TRUE(text == state.borrowed_text) << "bytes in flight have changed";
      text.resize(std::min(count, text.size()));
      state.sent += text;
      state.sending = false;
      state.borrowed.clear();
      state.borrowed_text.clear();
      reactor_->on_sent({index, 1}, text.size());
    });
  }
  void input_end(std::uint32_t index) {
    world_.events.push_back([this, index] {
      EXPECT_FALSE(world_.links[index].paused) << "the test ends the input of a paused link";
      if (world_.links[index].open) reactor_->on_closed({index, 1}, engine::Closed::input);
    });
  }
  void broken(std::uint32_t index) {
    world_.events.push_back([this, index] {
      if (world_.links[index].open) reactor_->on_closed({index, 1}, engine::Closed::link);
    });
  }

  using Calls = std::vector<std::string>;
  Calls calls() { return std::exchange(world_.calls, {}); }

  World world_;
  TestProtocol protocol_;
  std::unique_ptr<TestReactor> reactor_;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
