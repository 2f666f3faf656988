// Several listeners of one server: IP and Unix sockets, with TLS and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/http_server.hpp"

namespace katana::server {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ListenersTest : public testing::Test {
 protected:
  ListenersTest() : folder_("/tmp/katana_listeners_test." + std::to_string(::getpid())) {
    std::filesystem::create_directory(folder_);
    options.port = 0;
    options.reactors = 1;
    options.reactor.engine.links_max = 64;
    for (const char* const path : {"/hello", "/health", "/ready"}) {
      router.get(path, [] { return Reply::text("hello there"); });
    }
    router.get("/client", [](const RequestView& request) {
      const session::Client client = request.client();
      return Reply::text(format_text("{} {}", client.text().bytes(), client.origin()));
    });
    Middleware peer;
    peer.admit = [](const RequestView&, session::Exchange& exchange) -> std::optional<Reply> {
      return Reply::text(format_text("{}", exchange.peer().bytes()));
    };
    Group named = router.group("/peer");
    named.use(peer);
    named.get("/", [] { return Reply(); });
  }
  ~ListenersTest() override { std::filesystem::remove_all(folder_); }

  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  // A listener on the Unix socket.
  ListenerOptions local(const std::string& name) const {
    ListenerOptions listener;
    listener.address = "unix:" + path_of(name);
    return listener;
  }
  std::unique_ptr<HttpServer> started() {
    if (!service_) {
      auto built = std::move(router).build();
      EXPECT_TRUE(built);
      service_.emplace(std::move(*built));
    }
    auto server = std::make_unique<HttpServer>(options, *service_);
    const auto listening = server->start();
    EXPECT_TRUE(listening) << (listening ? "" : listening.error().describe());
    return server;
  }
  // Returns the error of start(), which must fail.
  std::string refusal() {
    if (!service_) {
      auto built = std::move(router).build();
      EXPECT_TRUE(built);
      service_.emplace(std::move(*built));
    }
    HttpServer server(options, *service_);
    const auto listening = server.start();
    return listening ? "it has started" : listening.error().describe();
  }
  static bool is_socket(const std::string& path) {
    struct stat file;
    return ::lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode);
  }
  // Leaves a socket file as a killed server does.
  static void leave_socket(const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(fd);
    EXPECT_TRUE(is_socket(path));
  }

  HttpServerOptions options;
  Router router;

 private:
  const std::string folder_;
  std::optional<Service> service_;
};

TEST_F(ListenersTest, serve_the_same_routes_on_every_engine_and_with_several_reactors) {
  for (const EngineKind kind : engines()) {
    if (!choose_engine(engine_name(kind))) continue;  // forbidden here
    for (const unsigned reactors : {1u, 3u}) {
      options.engine = kind;
      options.reactors = reactors;
      options.listeners = {{}, local("a.sock"), {.address = "::1"}, local("b.sock")};
      const auto server = started();
      const std::vector<std::string> urls = server->other_urls();
      EXPECT_EQ(urls[0], "http://127.0.0.1:" + std::to_string(server->port_of_listener(0)));
      EXPECT_EQ(urls[1], "unix:" + path_of("a.sock"));
      EXPECT_THAT(urls[2], StartsWith("http://[::1]:"));
      const ServerReport report = serve_clients(*server, [&](std::uint16_t port) {
        const std::uint16_t other = server->port_of_listener(0);
        EXPECT_NE(other, port);
        for (int count = 0; count < 8; ++count) {
          for (const std::uint16_t each : {port, other}) {
            EXPECT_THAT(Client(each).ask("/hello"), EndsWith("hello there"));
          }
          for (const char* const name : {"a.sock", "b.sock"}) {
            EXPECT_THAT(Client(path_of(name)).ask("/hello"), EndsWith("hello there"));
          }
        }
        EXPECT_THAT(Client(path_of("a.sock")).ask("/peer/"),
                    EndsWith("unix:uid=" + std::to_string(::getuid())));
      });
      EXPECT_EQ(report.connections, 33u);
      EXPECT_EQ(report.cut_off, 0u);
      EXPECT_FALSE(std::filesystem::exists(path_of("a.sock")));
    }
  }
}

TEST_F(ListenersTest, a_socket_file_has_its_mode_whatever_the_umask_and_is_removed_at_the_end) {
  const mode_t mask = ::umask(077);
  options.listeners = {local("open.sock"), local("own.sock")};
  options.listeners[0].mode = "0666";
  options.listeners[1].owner = std::to_string(::getuid()) + ":" + std::to_string(::getgid());
  {
    const auto server = started();
    ::umask(mask);
    struct stat file;
    ASSERT_EQ(::lstat(path_of("open.sock").c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777, 0666u);
    ASSERT_EQ(::lstat(path_of("own.sock").c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777, 0660u);
  }
  EXPECT_FALSE(std::filesystem::exists(path_of("open.sock")));  // it has not run, and still
}

TEST_F(ListenersTest, a_socket_file_that_nobody_listens_on_is_replaced) {
  leave_socket(path_of("a.sock"));
  options.listeners = {local("a.sock")};
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t) {
    EXPECT_THAT(Client(path_of("a.sock")).ask("/hello"), EndsWith("hello there"));
  });
}

TEST_F(ListenersTest, a_socket_in_use_another_file_and_no_folder_are_errors_that_say_so) {
  options.listeners = {local("a.sock")};
  const auto first = started();
  EXPECT_THAT(refusal(), HasSubstr("listen on unix:" + path_of("a.sock") +
                                   ": another program listens there: stop it or choose another"));
  EXPECT_TRUE(is_socket(path_of("a.sock")));  // still the first server's

  std::ofstream(path_of("file")) << "precious";
  options.listeners = {local("file")};
  EXPECT_THAT(refusal(), HasSubstr("the file that is there is no socket, and is left alone"));
  EXPECT_EQ(std::filesystem::file_size(path_of("file")), 8u);

  options.listeners = {local("missing/a.sock")};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("missing/a.sock"), HasSubstr("make its folder first")));
}

TEST_F(ListenersTest, a_server_removes_no_file_but_the_one_that_it_made) {
  options.listeners = {local("a.sock")};
  {
    const auto server = started();
    std::filesystem::remove(path_of("a.sock"));
    leave_socket(path_of("a.sock"));
  }
  EXPECT_TRUE(is_socket(path_of("a.sock")));
}

TEST_F(ListenersTest, who_waits_in_the_queue_of_a_unix_socket_is_served_when_it_ends) {
  for (const EngineKind kind : engines()) {
    if (!choose_engine(engine_name(kind))) continue;  // forbidden here
    options.engine = kind;
    options.listeners = {local("a.sock")};
    const auto server = started();
    server->shutdown();  // before it accepts any
    std::vector<std::unique_ptr<Client>> clients;
    for (int count = 0; count < 8; ++count) {
      clients.push_back(std::make_unique<Client>(path_of("a.sock")));
      clients.back()->send_get("/hello");
    }
    const ServerReport report = server->run();
    EXPECT_EQ(report.requests, 8u) << engine_name(kind);
    for (const auto& client : clients)
      EXPECT_THAT(client->receive_reply(), StartsWith("HTTP/1.1 200"));
  }
}

TEST_F(ListenersTest, a_unix_socket_takes_connections_until_the_notice_of_the_end_is_over) {
  std::atomic<bool> told = false;
  options.drain_notice = seconds(3600);
  options.on_drain = [&] { told = true; };
  options.listeners = {local("a.sock")};
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t) {
    terminate();
    while (!told) std::this_thread::yield();
    EXPECT_THAT(Client(path_of("a.sock")).ask("/hello"), EndsWith("hello there"));
  });
}

TEST_F(ListenersTest, plain_http_stands_beside_https_and_says_nothing_of_strict_transport) {
  options.tls.emplace().development = true;
  options.hsts = seconds(3600);
  options.listeners = {{}};
  const auto server = started();
  EXPECT_THAT(server->url(), StartsWith("https://"));
  EXPECT_THAT(server->other_urls().front(), StartsWith("http://"));
  const ServerReport report = serve_clients(*server, [&](std::uint16_t port) {
    EXPECT_THAT(Client(port).ask("/hello"), HasSubstr("This port speaks TLS"));
    const std::string reply = Client(server->port_of_listener(0)).ask("/hello");
    EXPECT_THAT(reply, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("hello there"),
                             Not(HasSubstr("Strict-Transport-Security"))));
  });
  EXPECT_EQ(report.requests, 1u);  // of both, in one count
}

TEST_F(ListenersTest, a_redirecting_one_leads_every_request_but_probes_to_https) {
  options.tls.emplace().development = true;
  options.listeners = {
      {.redirect_to_https = true}, {.redirect_to_https = true, .redirect_port = 443}, {}};
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t port) {
    const std::uint16_t plain = server->port_of_listener(0);
    const std::string https = "https://localhost:" + std::to_string(port);
    const auto location = [](const std::string& to) { return "\r\nLocation: " + to + "\r\n"; };
    EXPECT_THAT(Client(plain).ask("/hello?a=1&b"),
                AllOf(StartsWith("HTTP/1.1 308 Permanent Redirect\r\n"),
                      HasSubstr(location(https + "/hello?a=1&b"))));
    EXPECT_THAT(Client(plain).ask("/nowhere/%2e%2e"),
                HasSubstr(location(https + "/nowhere/%2e%2e")));
    EXPECT_THAT(Client(plain).ask("//evil.example/"),
                HasSubstr(location(https + "//evil.example/")));
    for (const char* const probe : {"/health", "/ready", "/ready?wait=1"}) {
      EXPECT_THAT(Client(plain).ask(probe), StartsWith("HTTP/1.1 200 OK\r\n")) << probe;
    }
    const auto raw = [](std::uint16_t to, const std::string& head) {
      Client client(to);
      client.send(head + "\r\n\r\n");
      return head.ends_with("close") ? client.receive_until("") : client.receive_reply();
    };
    EXPECT_THAT(raw(plain, "POST /hello HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 0"),
                HasSubstr(location("https://[::1]:" + std::to_string(port) + "/hello")));
    EXPECT_THAT(raw(plain, "GET http://shop.example:81/x?y HTTP/1.1\r\nHost: shop.example:81"),
                HasSubstr(location("https://shop.example:" + std::to_string(port) + "/x?y")));
    EXPECT_THAT(raw(plain, "GET /hello HTTP/1.0"), StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(raw(plain, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close"),
                StartsWith("HTTP/1.1 204 "));
    EXPECT_THAT(Client(server->port_of_listener(1)).ask("/hello"),
                HasSubstr(location("https://localhost/hello")));
    EXPECT_THAT(Client(server->port_of_listener(2)).ask("/hello"), EndsWith("hello there"));
  });
}

// RFC 9110 §7.4: otherwise a request without TLS could stand for one with TLS. Proxies send the
// :scheme of their client over plaintext HTTP/2, which is not judged.
TEST_F(ListenersTest, a_target_of_https_without_tls_is_served_for_a_trusted_proxy_alone) {
  const std::string absolute = "GET https://localhost/hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string frames = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                             std::string("\0\0\0\4\0\0\0\0\0", 9) +
                             std::string("\0\0\x15\1\5\0\0\0\1", 9) +  // HEADERS with 21 bytes
                             "\x82\x87\x44\6/hello\x41\x9localhost";   // GET https localhost /hello
  for (const bool trusts : {false, true}) {
    if (trusts) options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
    const auto server = started();
    serve_clients(*server, [&](std::uint16_t port) {
      Client client(port);
      client.send(absolute);
      EXPECT_THAT(client.receive_reply(),
                  HasSubstr(trusts ? "hello there" : "its connection has no TLS"));
      Client http2(port);
      http2.send(frames);
      EXPECT_THAT(http2.receive_until("hello there"), HasSubstr("hello there"));
    });
  }
}

TEST_F(ListenersTest, what_came_to_a_trusted_proxy_by_https_is_not_redirected) {
  options.tls.emplace().development = true;
  options.hosts = {"shop.example"};
  options.listeners = {{.redirect_to_https = true, .redirect_port = 443}};
  options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
  options.http.forwarded = http::ForwardedFields::x_forwarded;
  options.http.forwarded_parts.push_back(http::ForwardedPart::host);
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t) {
    const auto ask = [&](const std::string& fields) {
      return Client(server->port_of_listener(0)).ask("/hello", fields);
    };
    EXPECT_THAT(ask("X-Forwarded-Proto: https\r\n"), EndsWith("hello there"));
    EXPECT_THAT(ask("X-Forwarded-Proto: http\r\nX-Forwarded-Host: shop.example\r\n"),
                HasSubstr("\r\nLocation: https://shop.example/hello\r\n"));
    EXPECT_THAT(ask("X-Forwarded-Host: evil.example\r\n"), StartsWith("HTTP/1.1 421 "));
    // A valid name in one place does not make up for a wrong one in the other.
    Client client(server->port_of_listener(0));
    client.send(
        "GET /hello HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: shop.example\r\n\r\n");
    EXPECT_THAT(client.receive_reply(), StartsWith("HTTP/1.1 421 "));
  });
}

TEST_F(ListenersTest, a_host_that_no_proxy_is_known_to_write_leads_nowhere) {
  options.listeners = {{.redirect_to_https = true}};
  options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
  options.http.forwarded = http::ForwardedFields::x_forwarded;
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t) {
    EXPECT_THAT(
        Client(server->port_of_listener(0)).ask("/hello", "X-Forwarded-Host: evil.example\r\n"),
        HasSubstr("\r\nLocation: https://localhost/hello\r\n"));
  });
}

TEST_F(ListenersTest, a_server_without_tls_leads_to_the_proxy_that_has_it) {
  options.listeners = {{.redirect_to_https = true}};
  options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
  options.http.forwarded = http::ForwardedFields::x_forwarded;
  options.http.forwarded_parts.push_back(http::ForwardedPart::host);
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t port) {
    const auto ask = [&](const std::string& fields) {
      return Client(server->port_of_listener(0)).ask("/hello", fields);
    };
    const std::string host = "X-Forwarded-Host: shop.example\r\n";
    EXPECT_THAT(ask(host), HasSubstr("\r\nLocation: https://shop.example/hello\r\n"));
    EXPECT_THAT(ask(host + "X-Forwarded-Proto: https\r\n"), EndsWith("hello there"));
    EXPECT_THAT(Client(port).ask("/hello"), EndsWith("hello there")) << "another listener";
  });
}

TEST_F(ListenersTest, with_hosts_a_redirect_leads_to_names_of_the_server_alone) {
  options.tls.emplace().development = true;
  options.hosts = {"shop.example"};
  options.listeners = {{.redirect_to_https = true}};
  const auto server = started();
  serve_clients(*server, [&](std::uint16_t) {
    const auto ask = [&](const std::string& host, const std::string& path) {
      Client client(server->port_of_listener(0));
      client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
      return client.receive_reply();
    };
    EXPECT_THAT(ask("Shop.example:80", "/"), HasSubstr("Location: https://Shop.example:"));
    EXPECT_THAT(ask("127.0.0.1", "/"), HasSubstr("Location: https://127.0.0.1:"));
    for (const char* const strange : {"evil.example", "shop.example.evil.example", "10.0.0.1"}) {
      EXPECT_THAT(ask(strange, "/"), AllOf(StartsWith("HTTP/1.1 421 "), Not(HasSubstr("Location"))))
          << strange;
    }
    EXPECT_THAT(ask("evil.example", "/health"), StartsWith("HTTP/1.1 200 "));
  });
}

TEST_F(ListenersTest, every_mistake_in_them_fails_the_start_by_its_name) {
  options.port = 8443;
  options.operations = ListenerAddress{"127.0.0.1", 9000};
  options.listeners = {{.port = 8443},
                       {.port = 9000, .tls = true},
                       {.port = 9001, .redirect_to_https = true},
                       {.address = "unix:" + std::string(108, 'x')},
                       {.address = "unix:/tmp/b.sock", .port = 1, .mode = "0888"},
                       {.address = "unix:/tmp/b.sock", .owner = "nobody-of-that-name"},
                       {.redirect_port = 443},
                       {.address = "unix:"},
                       {.address = "::1", .port = 9001}};
  const std::string text = refusal();
  for (const char* const each :
       {"http.listeners[0] is 127.0.0.1:8443: http.port listens there already: give another",
        "http.listeners[1] is 127.0.0.1:9000: operations.port listens there already",
        "http.listeners[1].tls is true without a certificate: give http.tls.certificates",
        "http.listeners[2].redirect_to_https is true, and no listener has TLS: give "
        "http.tls.certificates, or http.trusted_proxies that have TLS",
        "http.listeners[3].address is a path of 108 bytes: give 1 to 107",
        "http.listeners[4].port is 1: leave it out: a Unix socket has none",
        "http.listeners[4].mode is '0888': give an octal mode up to 0777, such as 0660",
        "http.listeners[5] is unix:/tmp/b.sock: http.listeners[4] listens there already",
        "http.listeners[5].owner is 'nobody-of-that-name': this machine has no user",
        "http.listeners[6].redirect_port is 443: set redirect_to_https, too",
        "http.listeners[7].address is a path of 0 bytes"}) {
    EXPECT_THAT(text, HasSubstr(each));
  }
  EXPECT_THAT(text, Not(HasSubstr("listeners[8]")));
  options.listeners = {{.tls = true, .redirect_to_https = true}};
  options.tls.emplace().development = true;
  EXPECT_THAT(refusal(), HasSubstr("http.listeners[0].redirect_to_https is true, and so is tls"));
  options.listeners.assign(listeners_max + 1, {});
  EXPECT_THAT(refusal(), HasSubstr("http.listeners is a list of 33: give at most 32"));
}

TEST_F(ListenersTest, the_operations_listener_is_the_one_behind_them) {
  options.operations.emplace();
  options.listeners = {{}, local("a.sock")};
  std::atomic<int> asked_on = -1;
  Middleware note;
  note.admit = [&](const RequestView&, session::Exchange& exchange) -> std::optional<Reply> {
    asked_on = static_cast<int>(exchange.listener());
    return std::nullopt;
  };
  Group noted = router.group("/noted");
  noted.use(note);
  noted.get("/", [] { return Reply(); });
  const auto server = started();
  const std::string url = server->operations_url();
  const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  serve_clients(*server, [&](std::uint16_t) {
    Client client(port);
    client.send_get("/noted/", "Connection: close\r\n");
    client.receive_until("");
  });
  EXPECT_EQ(asked_on, static_cast<int>(HttpServer::operations_listener({}, 2)));
}

TEST_F(ListenersTest, the_operations_listener_has_the_certificates_of_the_server) {
  options.tls.emplace().development = true;
  options.operations.emplace();
  const auto server = started();
  EXPECT_THAT(server->operations_url(), StartsWith("https://"));
  serve_clients(*server, [&](std::uint16_t) {
    EXPECT_THAT(Client(server->operations_port()).ask("/hello"), StartsWith("HTTP/1.1 400 "))
        << "nothing is served without TLS";
  });
}

TEST_F(ListenersTest, an_address_in_use_is_an_error_that_names_the_listener) {
  const auto first = started();
  options.listeners = {{.port = first->port()}};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("http.listeners[0]: listen on 127.0.0.1:"),
                               HasSubstr("another program listens there: stop it or choose")));
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
