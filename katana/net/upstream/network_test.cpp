// Connections on the simulated network, in virtual time: with TLS, behind a plaintext prelude, and
// with every fault that a seed draws.
#include <algorithm>
#include <deque>

#include "katana/net/engine/sim/sim_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/net/tls/credentials.hpp"
#include "katana/net/tls/talk_test.hpp"
#include "katana/net/tls/transform.hpp"
#include "katana/net/upstream/upstream_fixture_test.hpp"

namespace katana::upstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using SimReactor = net::ReactorOn<engine::SimEngine>;

net::ReactorOptions reactor_options() {
  net::ReactorOptions options;
  options.engine.links_max = 64;
  options.output_blocks_max = 512;
  options.output_blocks_reserve = 16;
  return options;
}

// A server that answers each line with the same line, on its own port.
class EchoServer final : public net::Protocol {
 public:
  EchoServer(engine::SimNetwork& network, net::TransformFactory* transforms)
      : reactor_(reactor_options(), 4096, network) {
    EXPECT_TRUE(reactor_.start());
    const engine::ListenOptions listen{.peer_speaks_first = false};
    EXPECT_TRUE(transforms != nullptr ? reactor_.listen_transformed(listen, *this, *transforms)
                                      : reactor_.listen(listen, *this));
  }
  net::Reactor& reactor() noexcept { return reactor_; }
  std::uint16_t port() const { return reactor_.port(0); }
  void answer_nothing() noexcept { answers_ = false; }

 private:
  class Session final : public net::Session {
   public:
    Session(net::Connection& connection, const bool& answers) noexcept
        : connection_(connection), answers_(answers) {}
    std::size_t on_bytes(Bytes input) noexcept override {
      if (!answers_) return input.size();
      const std::size_t end = input.rfind('\n');
      if (end == Bytes::npos) return 0;
      if (connection_.output_full(end + 1)) return 0;
      EXPECT_TRUE(connection_.outbox().write(input.substr(0, end + 1)));
      return end + 1;
    }
    void on_input_end() noexcept override { connection_.finish(net::Finish::close); }
    void on_deadline() noexcept override {}
    void on_drain() noexcept override {}

   private:
    net::Connection& connection_;
    const bool& answers_;
  };
  std::size_t session_bytes() const noexcept override {
    return std::max(sizeof(Session), std::size_t{256});
  }
  net::Session* open(void* memory, net::Connection& connection) noexcept override {
    return new (memory) Session(connection, answers_);
  }

  bool answers_ = true;
  SimReactor reactor_;
};

class NetworkTest : public testing::Test {
 protected:
  explicit NetworkTest(std::uint64_t seed = 1,
                       const engine::SimFaults& faults = engine::SimFaults::calm())
      : network_(seed, faults), client_(reactor_options(), 4096, network_) {
    EXPECT_TRUE(client_.start());
  }

  EchoServer& add_server(net::TransformFactory* transforms = nullptr) {
    return servers_.emplace_back(network_, transforms);
  }
  Server place_of(const EchoServer& server) const {
    return {.host = "127.0.0.1", .port = server.port(), .certificate_name = "localhost"};
  }
  template <class Condition>
  bool run_until(Condition&& holds, Duration limit = seconds(60)) {
    const Instant end = network_.now() + limit;
    while (!holds()) {
      if (network_.now() >= end) return false;
      pass(end);
      for (EchoServer& each : servers_) each.reactor().turn({});
      client_.turn({});
    }
    return true;
  }

  engine::SimNetwork network_;
  std::deque<EchoServer> servers_;
  SimReactor client_;

 private:
  void pass(Instant until) {
    bool due = network_.has_work() || client_.turn_is_due();
    until = std::min(until, client_.timers().next());
    for (EchoServer& each : servers_) {
      due = due || each.reactor().turn_is_due();
      until = std::min(until, each.reactor().timers().next());
    }
    if (due) return;
    while (!network_.has_work() && network_.run_next(std::max(until, network_.now()))) {
    }
  }
};

Options options_for(std::vector<Server> servers) {
  Options options = test_options();
  options.servers = std::move(servers);
  return options;
}

tls::ClientTlsOptions trusting() {
  tls::ClientTlsOptions options;
  options.system_authorities = false;
  options.authorities_text = tls::shared_certificate().certificate_text();
  options.protocols = {};
  options.session_lifetime = {};
  return options;
}

TEST_F(NetworkTest, a_server_behind_tls_is_talked_to_once_its_certificate_is_verified) {
  const auto credentials = tls::Credentials::load(tls::options_with(tls::shared_certificate()));
  ASSERT_TRUE(credentials);
  tls::TlsTransforms transforms(**credentials);
  Options options = options_for({place_of(add_server(&transforms))});
  options.tls = trusting();
  Recorder owner;
  owner.greeting = "hello\n";
  Connection connection(client_, Shared::make(options).value(), owner);
  owner.connection = &connection;
  owner.at_bytes = [&] { connection.established(); };
  connection.start();
  ASSERT_TRUE(run_until([&] { return connection.is_up(); }));
  EXPECT_EQ(owner.received, "hello\n");
  EXPECT_EQ(transforms.counters().handshakes_1_3, 1u);
}

TEST_F(NetworkTest, a_certificate_for_another_name_is_refused_before_a_byte_is_said) {
  const auto credentials = tls::Credentials::load(tls::options_with(tls::shared_certificate()));
  ASSERT_TRUE(credentials);
  tls::TlsTransforms transforms(**credentials);
  Server server = place_of(add_server(&transforms));
  server.certificate_name = "another.example";
  Options options = options_for({server});
  options.tls = trusting();
  Recorder owner;
  owner.greeting = "secret\n";
  Connection connection(client_, Shared::make(options).value(), owner);
  owner.connection = &connection;
  connection.start();
  ASSERT_TRUE(run_until([&] { return !owner.unreachable.empty(); }));
  EXPECT_THAT(owner.unreachable[0], HasSubstr("the certificate of 'another.example' is refused"));
  EXPECT_EQ(owner.opened, 0);
  EXPECT_THAT(owner.closed, IsEmpty());
  EXPECT_EQ(transforms.counters().handshakes_1_3, 0u);
}

TEST_F(NetworkTest, a_server_that_never_answers_tls_is_given_up_in_time) {
  // One that echoes lines would answer a ClientHello whose random bytes end in a line feed.
  EchoServer& server = add_server();
  server.answer_nothing();
  Options options = options_for({place_of(server)});
  options.tls = trusting();
  Recorder owner;
  Connection connection(client_, Shared::make(options).value(), owner);
  connection.start();
  const Instant since = network_.now();
  ASSERT_TRUE(run_until([&] { return !owner.unreachable.empty(); }));
  EXPECT_THAT(owner.unreachable[0], HasSubstr("the TLS handshake took too long"));
  EXPECT_LE(network_.now() - since, milliseconds(options.connect_timeout.count_ms() + 2));
}

TEST_F(NetworkTest, when_the_server_of_the_turn_is_gone_the_next_one_is_there_soon) {
  EchoServer& first = add_server();
  EchoServer& second = add_server();
  Recorder owner;
  owner.greeting = "hello\n";
  Connection connection(
      client_, Shared::make(options_for({place_of(first), place_of(second)})).value(), owner);
  owner.connection = &connection;
  owner.at_bytes = [&] { connection.established(); };
  connection.start();
  ASSERT_TRUE(run_until([&] { return connection.is_up(); }));
  EXPECT_EQ(connection.server().port, first.port());
  first.reactor().request_stop();
  const Instant since = network_.now();
  ASSERT_TRUE(run_until([&] { return !connection.is_up(); }));
  ASSERT_TRUE(run_until([&] { return connection.is_up(); }));
  EXPECT_EQ(connection.server().port, second.port());
  EXPECT_LE(network_.now() - since, milliseconds(200)) << "backoff_min and a round trip";
}

// The plaintext that a server sends before TLS: a line.
struct LinePrelude final : tls::Prelude {
  Bytes request() const noexcept override { return {}; }
  Step next(Bytes input) noexcept override {
    const std::size_t end = input.find('\n');
    if (end == Bytes::npos) return {State::going, input.size()};
    return {State::done, end + 1};
  }
};

class PreludeTest : public UpstreamTest {};

TEST_F(PreludeTest, tls_begins_when_the_server_has_said_its_line_in_plaintext) {
  Options options = test_options();
  options.servers[0].certificate_name = "localhost";
  options.tls = trusting();
  LinePrelude prelude;
  Recorder owner;
  owner.first = &prelude;
  Connection connection(reactor(), shared_of(options), owner);
  connection.start();
  turn(milliseconds(1));
  answer(0);
  EXPECT_EQ(sent(0), "");
  say(0, "INFO {");
  EXPECT_EQ(sent(0), "");
  say(0, "}\n");
  ASSERT_FALSE(sent(0).empty());
  EXPECT_EQ(sent(0)[0], '\x16') << "a handshake of TLS";
  EXPECT_EQ(owner.opened, 0);
}

// An owner that writes numbered lines and checks the echo: in order, without a gap, and each on the
// connection on which it was written.
struct Ledger final : Owner {
  void on_open() noexcept override {
    EXPECT_EQ(opened, ended);
    ++opened;
    expected = written;
    partial.clear();
    say();
  }
  std::size_t on_bytes(Bytes input) noexcept override {
    connection->established();
    partial += input;
    for (std::size_t end = partial.find('\n'); end != std::string::npos; end = partial.find('\n')) {
      EXPECT_EQ(partial.substr(0, end), std::to_string(expected++));
      partial.erase(0, end + 1);
      ++echoed;
      say();
      say();
    }
    return input.size();
  }
  void on_closed(const Error&) noexcept override {
    ++ended;
    EXPECT_FALSE(connection->write("x"));
  }
  void say() {
    if (expected + 64 < written) return;
    if (connection->write(std::to_string(written) + "\n")) ++written;
  }

  Connection* connection = nullptr;
  std::string partial;
  std::uint64_t written = 0, expected = 0, echoed = 0;
  int opened = 0, ended = 0;
};

TEST(NetworkFaults, whatever_a_seed_draws_lines_come_back_in_order_or_the_connection_ends) {
  std::uint64_t ends = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    struct Run : NetworkTest {
      explicit Run(std::uint64_t with) : NetworkTest(with, breaking(with)) {}
      static engine::SimFaults breaking(std::uint64_t with) {
        engine::SimFaults faults = engine::SimFaults::random(with);
        faults.link_reset = 512;
        return faults;
      }
      void TestBody() override {}
      void play(std::uint64_t with, std::uint64_t& ended) {
        EchoServer& first = add_server();
        EchoServer& second = add_server();
        Options options = options_for({place_of(first), place_of(second)});
        options.order = Order::spread;
        options.seed = with;
        Ledger owner;
        Connection connection(client_, Shared::make(options).value(), owner);
        owner.connection = &connection;
        connection.start();
        ASSERT_TRUE(run_until([&] { return owner.echoed >= 500; }, seconds(600)))
            << network_.explain();
        EXPECT_EQ(owner.opened - owner.ended, connection.is_up() ? 1 : 0);
        ended += static_cast<std::uint64_t>(owner.ended);
      }
    };
    Run run(seed);
    run.play(seed, ends);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(ends, 20u) << "the faults are to break some";
}

}  // namespace
}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
