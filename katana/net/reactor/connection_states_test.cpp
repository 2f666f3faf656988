// The table of a connection's life: the diagram drawn from it, and each of its transitions.
#include "katana/net/reactor/connection_states.hpp"

#include <memory>
#include <string>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::net {
namespace {

using State = ConnectionState;
using Cause = ConnectionCause;

TEST(ConnectionStates, the_diagram_in_the_documentation_is_that_of_the_table) {
  expect_drawn("docs/diagrams/connection.md",
               draw_states("States of a connection", "katana/net/reactor/connection_states.hpp",
                           connection_transitions, connection_state_names, connection_cause_names));
}

TEST(ConnectionStates, every_state_can_be_cut_off_and_lost_and_nothing_follows_the_end) {
  for (std::size_t index = 0; index < connection_state_names.size(); ++index) {
    const auto state = static_cast<State>(index);
    EXPECT_EQ(state_after(state, Cause::cut_off), State::closed);
    EXPECT_EQ(state_after(state, Cause::link_lost), State::closed);
    for (std::size_t cause = 0; cause < connection_cause_names.size(); ++cause) {
      EXPECT_EQ(state_after(State::closed, static_cast<Cause>(cause)), State::closed);
    }
  }
}

// Opens at the first byte, and fails when that is '!'.
class OneByteTransform final : public Transform {
 public:
  using Transform::Transform;
  TransformStep receive(Bytes input, std::span<char>, Instant) noexcept override {
    if (input.empty()) return {TransformEvent::need_bytes, 0, 0};
    if (input.front() != '!') return {TransformEvent::opened, input.size(), 0};
    output_.write("alert");
    return {TransformEvent::failed, input.size(), 0};
  }
  void admit() noexcept override {}
  std::size_t seal(Bytes) noexcept override { return 0; }
  bool can_seal() const noexcept override { return false; }
  void seal_end() noexcept override {}
  void cut(TransformCut) noexcept override {}
  Bytes application_protocol() const noexcept override { return {}; }
};

class OneByteTransforms final : public TransformFactory {
 public:
  std::unique_ptr<Transform> make(BlockPool& blocks) noexcept override {
    return std::make_unique<OneByteTransform>(blocks);
  }
};

// One connection, brought to the state that a transition starts from.
class ConnectionLifeTest : public ReactorTest,
                           public testing::WithParamInterface<ConnectionTransition> {
 protected:
  static constexpr std::size_t dropped_max = 100;
  static ReactorOptions options() {
    ReactorOptions options = small_options();
    options.linger_bytes_max = dropped_max;
    return options;
  }
  ConnectionLifeTest() : ReactorTest(options()) {}
  ~ConnectionLifeTest() override { reactor_.reset(); }  // before the transforms

  Connection& connection_in(State state) {
    if (state == State::opening) return begin_opening();
    Connection& connection = connect().connection;
    if (state == State::finishing) finish_with_output_pending(connection);
    if (state == State::lingering) {
      connection.finish(Finish::linger);
      connection.wake();
      turn();
    }
    if (state == State::resetting) connection.reset();
    return connection;
  }

  Connection& begin_opening() {
    Connection& connection = **reactor().connect({.port = 443}, protocol_, &transforms_);
    turn();  // in which the transform says its first word
    return connection;
  }
  void finish_with_output_pending(Connection& connection) {
    link_state(0).writable = 0;
    EXPECT_TRUE(connection.outbox().write("bye"));
    connection.finish(Finish::close);
    connection.wake();
    turn();
  }
  void take_output() {
    link_state(0).writable = SIZE_MAX;
    complete(0);
    turn();
  }
  void receive(std::string text) {
    bytes(0, std::move(text));
    turn();
  }

  void take(Connection& connection, Cause cause) {
    const bool opening = connection.state() == State::opening;
    switch (cause) {
      case Cause::opened: return receive("?");
      case Cause::finish: return opening ? receive("!") : finish_with_output_pending(connection);
      case Cause::reset: return connection.reset();
      case Cause::sent: return take_output();
      case Cause::sent_unread: receive("more"); return take_output();
      case Cause::linger_ends: return receive(std::string(dropped_max + 1, 'x'));
      case Cause::link_lost: broken(0); return turn();
      case Cause::cut_off: reactor().request_stop(); return turn();
    }
  }

  OneByteTransforms transforms_;
};

TEST_P(ConnectionLifeTest, a_transition_of_the_table_is_taken) {
  const ConnectionTransition& transition = GetParam();
  Connection& connection = connection_in(transition.from);
  ASSERT_EQ(connection.state(), transition.from);
  ASSERT_TRUE(link_state(0).open);
  take(connection, transition.cause);
  EXPECT_EQ(link_state(0).open, transition.to != State::closed);
  if (transition.to == State::closed) {
    EXPECT_EQ(calls().back(), transition.cause == Cause::cut_off ? "reset" : "close");
  } else {
    EXPECT_EQ(connection.state(), transition.to);
    EXPECT_EQ(connection.finishing(), transition.to != State::open);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, ConnectionLifeTest, testing::ValuesIn(connection_transitions),
                         [](const auto& each) {
                           const auto from = static_cast<std::size_t>(each.param.from);
                           return std::string(connection_state_names[from]) + "_" +
                                  std::to_string(each.index);
                         });

}  // namespace
}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
