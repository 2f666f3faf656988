// The exporter thread, with sockets: its behaviour at the end.
#include "katana/app/telemetry/exporter_thread.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "katana/app/telemetry/span_exporter.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/observe/trace/root.hpp"

namespace katana::app {
namespace {

using ::testing::HasSubstr;

// Takes connections as far as the kernel does without help.
class ExporterThreadTest : public ::testing::Test {
 protected:
  ExporterThreadTest() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    options_.sender.url =
        "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/v1/traces";
    options_.sender.gzip = false;
  }
  ~ExporterThreadTest() override { ::close(socket_); }

  std::unique_ptr<ExporterThread> start() {
    client::HttpClientOptions of_client;
    of_client.tls.system_authorities = false;
    of_client.retries_max = 0;
    ExporterThread::Exporters exporters;
    exporters.push_back(std::make_unique<SpanExporter>(
        tracer_, *client::HttpClient::make(std::move(of_client)), options_, log::Logger()));
    auto started = ExporterThread::start(std::move(exporters));
    EXPECT_TRUE(started);
    return *std::move(started);
  }
  void record(int count) {
    for (; count > 0; --count) {
      trace::Root::begin(tracer_)->end({}, [](trace::SpanRecord& span) { span.set_name("a"); });
    }
  }

  const int socket_;
  trace::Tracer tracer_;
  SpanExporterOptions options_;
};

TEST_F(ExporterThreadTest, a_collector_that_never_replies_does_not_keep_the_program_from_ending) {
  const auto thread = start();
  record(3);
  thread->stop(milliseconds(50));
  EXPECT_EQ(thread->exporters()[0]->sender().counted(OtlpFate::shutdown), 3u);
  thread->wake();  // a thread that comes too late
}

TEST_F(ExporterThreadTest, the_end_sends_what_was_recorded_before_it) {
  const auto thread = start();
  record(3);
  std::thread collector([this] {
    const int connection = ::accept(socket_, nullptr, nullptr);
    std::string request(64 * 1024, '\0');
    std::size_t size = 0;
    // As far as the last of the three names.
    while (request.find("\x2a\x01"
                        "a",
                        request.find("\x2a\x01"
                                     "a",
                                     request.find("\x2a\x01"
                                                  "a") +
                                         1) +
                            1) == std::string::npos) {
      const ssize_t got = ::recv(connection, request.data() + size, request.size() - size, 0);
      if (got <= 0) break;
      size += static_cast<std::size_t>(got);
    }
    const std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    EXPECT_EQ(::send(connection, reply.data(), reply.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(reply.size()));
    EXPECT_THAT(request, HasSubstr("POST /v1/traces HTTP/1.1\r\n"));
    ::close(connection);
  });
  thread->stop(seconds(30));
  collector.join();
  EXPECT_EQ(thread->exporters()[0]->sender().counted(OtlpFate::sent), 3u);
}

TEST_F(ExporterThreadTest, it_may_be_stopped_at_once_and_twice) {
  const auto thread = start();
  thread->wake();
  thread->stop(Duration{});
  thread->stop(Duration{});
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
