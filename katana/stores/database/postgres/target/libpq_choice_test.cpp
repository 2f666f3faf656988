// ServerChoice against libpq: which answers of a first server lead both to the second.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "katana/stores/database/postgres/target/read_target.hpp"
#include "katana/stores/database/postgres/target/server_choice.hpp"
#include "katana/stores/database/postgres/target/sources_fixture_test.hpp"

namespace katana::database::postgres::target {
namespace {

// A server that gives each client one answer to its first message, and then closes.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) : answer_(std::move(answer)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~OneAnswer() {
    ::shutdown(socket_, SHUT_RDWR);  // accept() returns
    thread_.join();
    ::close(socket_);
  }

  std::atomic<int> clients = 0;
  std::uint16_t port = 0;

 private:
  void serve() {
    for (int client = 0; (client = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(client)) {
      ++clients;
      std::array<char, 1024> message;
      if (::recv(client, message.data(), message.size(), 0) <= 0) continue;
      if (::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL) < 0) continue;
      ::shutdown(client, SHUT_WR);
      while (::recv(client, message.data(), message.size(), 0) > 0) {
      }
    }
  }

  const std::string answer_;
  int socket_ = -1;
  std::thread thread_;
};

std::string error_with(const std::string& sqlstate) {
  std::string body = "SFATAL";
  body += '\0';
  body += "C" + sqlstate;
  body += '\0';
  body += "Mno";
  body += std::string(2, '\0');
  std::string message = "E";
  const std::size_t size = body.size() + 4;
  for (int shift = 24; shift >= 0; shift -= 8) message += static_cast<char>(size >> shift);
  return message + body;
}

struct ChoiceCase {
  std::string answer = {};
  std::string sslmode = {};
  Failure failure = Failure::refused;
  bool differs = false;  // the two differences that server_choice.hpp explains
};

bool libpq_goes_on(const ChoiceCase& each, int& tries_of_first) {
  OneAnswer first(each.answer);
  OneAnswer second(error_with("3D000"));
  const std::string text =
      "hostaddr=127.0.0.1,127.0.0.1 user=u gssencmode=disable sslmode=" + each.sslmode +
      " port=" + std::to_string(first.port) + "," + std::to_string(second.port);
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(text.c_str()),
                                                                &PQfinish);
  EXPECT_EQ(PQstatus(connection.get()), CONNECTION_BAD);
  tries_of_first = first.clients;
  return second.clients > 0;
}

bool choice_goes_on(const ChoiceCase& each, int& tries_of_first) {
  const auto target = read_target("hostaddr=127.0.0.1,127.0.0.1 sslmode=" + each.sslmode,
                                  test::FakeSources().sources());
  Random random(1);
  ServerChoice choice(*target, random);
  for (tries_of_first = 0; choice.step().action == Action::connect && choice.step().server == 0;) {
    ++tries_of_first;
    choice.failed(each.failure, "why");
  }
  return choice.step().action != Action::end;
}

TEST(PostgresLibpqChoice, an_answer_of_the_first_server_leads_both_to_the_same) {
  const std::vector<ChoiceCase> cases = {
      {error_with("57P03"), "disable", Failure::starting},
      {error_with("53300"), "disable", Failure::refused},
      {error_with("57P01"), "disable", Failure::refused},
      {error_with("28P01"), "disable", Failure::refused},
      {error_with("3D000"), "disable", Failure::refused},
      {error_with("28000"), "disable", Failure::forbidden},
      {error_with("28000"), "allow", Failure::forbidden},
      {"N", "require", Failure::no_tls},
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "disable", Failure::broken},
      {"", "disable", Failure::lost, true},
      {error_with("28P01"), "allow", Failure::refused, true},
  };
  for (const ChoiceCase& each : cases) {
    int by_libpq = 0;
    int by_choice = 0;
    const bool libpq = libpq_goes_on(each, by_libpq);
    const bool ours = choice_goes_on(each, by_choice);
    const bool is_same = libpq == ours && by_libpq == by_choice;
    EXPECT_EQ(is_same, !each.differs) << each.sslmode << " " << static_cast<int>(each.failure)
                                      << ": " << libpq << ours << " " << by_libpq << by_choice;
  }
}

}  // namespace
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
