// Links to a real server: TLS, authentication, the choice among servers, and bytes in any pieces.
#include "katana/stores/database/postgres/link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/stores/database/postgres/cancel_request.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/link_tls.hpp"
#include "katana/wire/tls/client_test.hpp"

namespace katana::database::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Parameters = std::vector<std::pair<std::string, std::string>>;

constexpr int wait_ms = 60'000;

class PostgresLink : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_ = std::make_unique<Cluster>();
    authority_ = std::make_unique<tls::TestCertificate>(std::vector<std::string>{"authority"});
    stranger_ = std::make_unique<tls::TestCertificate>(std::vector<std::string>{"stranger"});
    write("authority.pem", authority_->certificate_text());
    write("stranger.pem", stranger_->certificate_text());
    const tls::TestCertificate shown({"localhost"}, false, authority_.get());
    write("data/server.key", shown.key_text());
    write("data/server.crt", shown.certificate_text());
    write("data/pg_hba.conf",
          "hostssl all clear 127.0.0.1/32 reject\n"
          "local all all trust\nhost all katana 127.0.0.1/32 trust\n"
          "host all old 127.0.0.1/32 md5\nhost all plain 127.0.0.1/32 password\n"
          "host all all 127.0.0.1/32 scram-sha-256\n");
    (void)cluster_->ask("ALTER SYSTEM SET ssl = on");
    (void)cluster_->ask("ALTER SYSTEM SET ssl_ca_file = '" + file("authority.pem") + "'");
    (void)cluster_->ask("SELECT pg_reload_conf()");
    (void)cluster_->ask("CREATE ROLE app LOGIN PASSWORD 'pw'");
    (void)cluster_->ask("CREATE ROLE clear LOGIN PASSWORD 'pw'");
    (void)cluster_->ask("CREATE ROLE locked NOLOGIN PASSWORD 'pw'");
    (void)cluster_->ask("CREATE ROLE plain LOGIN PASSWORD 'pw'");
    (void)cluster_->ask("CREATE ROLE reader LOGIN PASSWORD 'pw'");
    (void)cluster_->ask("ALTER ROLE reader SET default_transaction_read_only = on");
    (void)cluster_->ask("SET password_encryption = 'md5'; CREATE ROLE old LOGIN PASSWORD 'pw'");
  }
  static void TearDownTestSuite() {
    cluster_.reset();
    authority_.reset();
    stranger_.reset();
  }

  static void write(const std::string& name, const std::string& text) {
    const std::string path = cluster_->folder() + "/" + name;
    struct stat of{};
    ASSERT_EQ(::stat((cluster_->folder() + "/data").c_str(), &of), 0);
    std::ofstream(path) << text;
    ASSERT_EQ(::chmod(path.c_str(), name.ends_with(".pem") ? 0644 : 0600), 0);
    ASSERT_EQ(::chown(path.c_str(), of.st_uid, of.st_gid), 0);
  }
  static std::string file(const std::string& name) { return cluster_->folder() + "/" + name; }
  static Target tcp(const std::string& name = "localhost", std::uint16_t port = 0) {
    return {name, port != 0 ? port : cluster_->port(), "127.0.0.1"};
  }
  static Target local() { return {cluster_->folder(), cluster_->port(), ""}; }

  // Waits for an event of the socket. False: none came.
  bool wait() {
    const int events = (link_->wants_read() ? POLLIN : 0) | (link_->wants_write() ? POLLOUT : 0);
    pollfd socket{link_->socket(), static_cast<short>(events), 0};
    return ::poll(&socket, 1, wait_ms) == 1;
  }
  // Empty when the link is open; else the problem.
  std::string open(std::vector<Target> targets, Parameters parameters = {},
                   const std::string& user = "app", const std::string& password = "pw") {
    Options options;
    options.user = user;
    options.database = "postgres";
    options.parameters = std::move(parameters);
    auto made = link_options(options, std::move(targets), password);
    if (!made) return made.error().describe();
    link_ = std::make_unique<Link>(memory_, *std::move(made));
    for (link_->begin(); link_->is_opening(); link_->advance()) {
      if (!wait()) return "no event came";
    }
    return link_->is_open() ? "" : link_->problem().text;
  }
  // The next event, whose body stays until the call after it.
  protocol::Step next() {
    for (;;) {
      const protocol::Step step = link_->next();
      if (step.event != protocol::Event::need_bytes) return step;
      link_->keep_unread();
      link_->flush();
      if (!wait() || !link_->receive()) return {.event = protocol::Event::refused};
    }
  }
  // The first value of a statement, or its error.
  std::string ask(const std::string& text) {
    EXPECT_EQ(link_->machine().query(text, *link_), protocol::Submitted::ok);
    std::string found;
    for (;;) {
      const protocol::Step step = next();
      switch (step.event) {
        case protocol::Event::row: {
          protocol::Value value;
          if (protocol::Row(step.body).next(value)) found = value.bytes;
          break;
        }
        case protocol::Event::error: found = protocol::report_of(step.body).sqlstate; break;
        case protocol::Event::refused: return "refused";
        case protocol::Event::ready: link_->keep_unread(); return found;
        default: break;
      }
    }
  }

  static inline std::unique_ptr<Cluster> cluster_;
  static inline std::unique_ptr<tls::TestCertificate> authority_;
  static inline std::unique_ptr<tls::TestCertificate> stranger_;
  LinkMemory memory_;
  std::unique_ptr<Link> link_;
};

TEST_F(PostgresLink, a_certificate_is_checked_as_sslmode_says) {
  const std::pair<std::string, std::string> authority("sslrootcert", file("authority.pem"));
  const std::pair<std::string, std::string> stranger("sslrootcert", file("stranger.pem"));
  EXPECT_EQ(open({tcp()}, {{"sslmode", "verify-full"}, authority}), "");
  EXPECT_TRUE(link_->is_encrypted());
  EXPECT_EQ(ask("SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()"), "true");
  EXPECT_THAT(open({tcp("db.example.org")}, {{"sslmode", "verify-full"}, authority}),
              AllOf(HasSubstr("certificate"), HasSubstr("db.example.org")));
  EXPECT_EQ(open({tcp("db.example.org")}, {{"sslmode", "verify-ca"}, authority}), "");
  EXPECT_THAT(open({tcp()}, {{"sslmode", "verify-ca"}, stranger}), HasSubstr("certificate"));
  EXPECT_THAT(open({tcp()}, {{"sslmode", "require"}, stranger}), HasSubstr("certificate"))
      << "who names an authority wants it to have signed";
  EXPECT_THAT(open({tcp()}, {{"sslmode", "verify-full"}}), HasSubstr("certificate"))
      << "no authority of the system has signed it";
  EXPECT_EQ(open({tcp("db.example.org")}, {{"sslmode", "require"}}), "");
  EXPECT_TRUE(link_->is_encrypted());
  EXPECT_THAT(open({tcp()}, {{"sslmode", "verify-full"}, {"sslrootcert", "/nowhere.pem"}}),
              HasSubstr("/nowhere.pem"));
}

TEST_F(PostgresLink, a_server_without_tls_is_taken_only_where_sslmode_allows_it) {
  Cluster& clear = Cluster::shared();
  EXPECT_EQ(open({tcp("localhost", clear.port())}, {{"sslmode", "prefer"}}, "katana"), "");
  EXPECT_FALSE(link_->is_encrypted());
  EXPECT_EQ(ask("SELECT 7"), "7");
  EXPECT_THAT(open({tcp("localhost", clear.port())}, {{"sslmode", "require"}}, "katana"),
              HasSubstr("TLS"));
  EXPECT_EQ(open({tcp()}, {{"sslmode", "prefer"}}), "");
  EXPECT_TRUE(link_->is_encrypted());
  EXPECT_EQ(open({tcp()}, {{"sslmode", "disable"}}), "");
  EXPECT_FALSE(link_->is_encrypted());
  EXPECT_EQ(open({local()}, {{"sslmode", "verify-full"}}), "") << "a Unix socket has no TLS";
}

TEST_F(PostgresLink, a_server_that_refuses_tls_is_asked_again_without_it_as_sslmode_allows) {
  EXPECT_EQ(open({tcp()}, {{"sslmode", "prefer"}}, "clear"), "");
  EXPECT_FALSE(link_->is_encrypted());
  EXPECT_EQ(ask("SELECT 7"), "7");
  EXPECT_THAT(open({tcp()}, {{"sslmode", "require"}}, "clear"), HasSubstr("28000"));
  EXPECT_EQ(link_->problem().state, "28000");
  EXPECT_THAT(open({tcp()}, {{"channel_binding", "require"}}, "clear"), HasSubstr("28000"));
  // The second attempt is the last one.
  EXPECT_THAT(open({tcp()}, {}, "clear", "wrong"), AllOf(HasSubstr("28000"), HasSubstr("28P01")));
}

TEST_F(PostgresLink, a_proof_of_the_password_that_was_sent_with_tls_is_not_sent_without_it) {
  const std::string why = open({tcp()}, {{"sslmode", "prefer"}}, "locked");
  const std::size_t first = why.find("28000");
  ASSERT_NE(first, why.npos) << why;
  EXPECT_EQ(why.find("28000", first + 1), why.npos) << why;
}

TEST_F(PostgresLink, the_certificate_of_the_client_may_have_an_encrypted_key) {
  const tls::TestCertificate client({"client"}, false, authority_.get());
  write("client.pem", client.certificate_text());
  write("client.key.pem", tls::TestCertificate::text_of([&](BIO* to) {
          PEM_write_bio_PrivateKey(to, client.key.get(), EVP_aes_256_cbc(), nullptr, 0, nullptr,
                                   const_cast<char*>("a phrase"));
        }));
  const std::string asked =
      "SELECT (client_serial IS NOT NULL)::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
  const Parameters shown = {
      {"sslmode", "require"}, {"sslcert", file("client.pem")}, {"sslkey", file("client.key.pem")}};
  const auto with = [&](const std::string& phrase) {
    Parameters all = shown;
    all.emplace_back("sslpassword", phrase);
    return all;
  };
  ASSERT_EQ(open({tcp()}, with("a phrase")), "");
  EXPECT_EQ(ask(asked), "true");
  EXPECT_THAT(open({tcp()}, with("another")),
              AllOf(HasSubstr("client.key.pem"), HasSubstr("sslpassword")));
  EXPECT_THAT(open({tcp()}, with("another")), testing::Not(HasSubstr("another")));
  EXPECT_THAT(open({tcp()}, shown), HasSubstr("pass phrase"));
  // A key that is not encrypted needs none, and takes one.
  write("client.key.pem", client.key_text());
  ASSERT_EQ(open({tcp()}, with("another")), "");
  EXPECT_EQ(ask(asked), "true");
  ASSERT_EQ(open({tcp()}, {{"sslmode", "require"}}), "");
  EXPECT_EQ(ask(asked), "false");
}

TEST_F(PostgresLink, an_abstract_unix_socket_is_connected_to_and_its_statements_are_cancelled) {
  const Target abstract{"@" + cluster_->folder(), cluster_->port(), ""};
  ASSERT_EQ(open({abstract}, {{"sslmode", "verify-full"}}), "") << "a Unix socket has no TLS";
  EXPECT_EQ(ask("SELECT 7"), "7");
  const auto key = link_->cancel_key();
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(link_->machine().query("SELECT pg_sleep(60)", *link_), protocol::Submitted::ok);
  link_->flush();
  while (cluster_->ask("SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' "
                       "AND state = 'active'") != "1") {
  }
  EXPECT_TRUE(send_cancel_request(*key));
  protocol::Step step = next();
  while (step.event != protocol::Event::error && step.event != protocol::Event::refused) {
    step = next();
  }
  ASSERT_EQ(step.event, protocol::Event::error);
  EXPECT_EQ(protocol::report_of(step.body).sqlstate, "57014");
  EXPECT_THAT(open({{"@/nowhere", 5432, ""}}), HasSubstr("@/nowhere"));
  EXPECT_THAT(open({{"@" + std::string(200, 'x'), 5432, ""}}), HasSubstr("no address"));
}

TEST_F(PostgresLink, scram_is_bound_to_the_certificate_that_was_shown) {
  EXPECT_EQ(open({tcp()}, {{"sslmode", "require"}, {"channel_binding", "require"}}), "");
  EXPECT_THAT(open({tcp()}, {{"sslmode", "disable"}, {"channel_binding", "require"}}),
              HasSubstr("binding"));
  const std::string digest = server_end_point(*authority_->certificate);
  EXPECT_EQ(digest.size(), 32u) << "SHA-256, as its signature";
}

TEST_F(PostgresLink, methods_of_authentication_are_answered_as_far_as_they_are_allowed) {
  EXPECT_EQ(open({tcp()}, {{"require_auth", "md5"}}, "old"), "");
  EXPECT_EQ(open({tcp()}, {{"require_auth", "password"}}, "plain"), "");
  EXPECT_EQ(open({tcp()}, {{"require_auth", "password,none"}}, "katana", ""), "");
  EXPECT_EQ(open({tcp()}, {}, "katana", ""), "");
  for (const char* const user : {"old", "plain"}) {
    EXPECT_THAT(open({tcp()}, {}, user), HasSubstr("allow it by require_auth=")) << user;
    EXPECT_THAT(open({tcp()}, {{"sslmode", "disable"}}, user), HasSubstr("require_auth=")) << user;
  }
  for (const char* const user : {"old", "plain", "katana"}) {
    EXPECT_NE(open({tcp()}, {{"require_auth", "scram-sha-256"}}, user), "") << user;
    EXPECT_EQ(link_->problem().state, "") << "the client refuses";
  }
  EXPECT_THAT(open({tcp()}, {}, "app", ""), HasSubstr("asks for a password"));
  EXPECT_THAT(open({tcp()}, {}, "app", "wrong"), HasSubstr("28P01"));
  EXPECT_EQ(link_->problem().state, "28P01");
  EXPECT_THAT(open({tcp()}, {}, "app", "wrong"), testing::Not(HasSubstr("wrong")));
}

TEST_F(PostgresLink, the_owner_of_a_unix_socket_may_be_demanded) {
  EXPECT_THAT(open({local()}, {{"requirepeer", "nobody-of-this-name"}}, "katana"),
              HasSubstr("nobody-of-this-name"));
  EXPECT_EQ(open({tcp()}, {{"requirepeer", "nobody-of-this-name"}}), "") << "no Unix socket";
}

TEST_F(PostgresLink, the_first_server_that_is_wanted_is_taken) {
  const Target absent{"/nowhere", 5432, ""};
  EXPECT_EQ(open({absent, tcp("localhost", find_free_port()), local()}), "");
  EXPECT_EQ(link_->server(), cluster_->folder() + "  " + std::to_string(cluster_->port()));
  EXPECT_THAT(open({absent, tcp("localhost", find_free_port())}),
              AllOf(HasSubstr("/nowhere"), HasSubstr("; localhost:")));
  EXPECT_EQ(open({tcp()}, {{"target_session_attrs", "read-write"}}), "");
  EXPECT_FALSE(link_->is_read_only());
  EXPECT_THAT(open({tcp()}, {{"target_session_attrs", "read-write"}}, "reader"),
              HasSubstr("takes no writes"));
  EXPECT_EQ(open({tcp()}, {{"target_session_attrs", "read-only"}}, "reader"), "");
  EXPECT_TRUE(link_->is_read_only());
  EXPECT_THAT(open({tcp()}, {{"target_session_attrs", "read-only"}}), HasSubstr("takes writes"));
  EXPECT_EQ(open({tcp()}, {{"target_session_attrs", "primary"}}), "");
  EXPECT_THAT(open({tcp()}, {{"target_session_attrs", "standby"}}), HasSubstr("no standby"));
  EXPECT_EQ(open({tcp(), tcp()}, {{"target_session_attrs", "prefer-standby"}}), "")
      << "the second round takes any";
}

TEST_F(PostgresLink, a_row_that_is_larger_than_every_buffer_comes_whole) {
  for (const bool encrypts : {false, true}) {
    ASSERT_EQ(open({tcp()}, {{"sslmode", encrypts ? "require" : "disable"}}), "");
    const std::string row = ask("SELECT repeat('0123456789abcdef', 300000)");
    ASSERT_EQ(row.size(), 4'800'000u);
    for (std::size_t at = 0; at < row.size(); at += 99'991) {
      ASSERT_EQ(row[at], "0123456789abcdef"[at % 16]);
    }
    EXPECT_EQ(ask("SELECT 1"), "1");
    // A statement may be as large. The server answers only behind it.
    EXPECT_EQ(ask("SELECT length('" + std::string(5'000'000, 'x') + "')"), "5000000");
  }
}

TEST_F(PostgresLink, many_requests_have_room_and_leave_in_order) {
  ASSERT_EQ(open({local()}), "");
  constexpr int count = 300;
  for (int each = 0; each < count; ++each) {
    link_->reserve(4);
    const std::string text = "SELECT " + std::to_string(each);
    ASSERT_EQ(link_->machine().parse({.sql = text}, *link_), protocol::Submitted::ok);
    ASSERT_EQ(link_->machine().bind({}, *link_), protocol::Submitted::ok);
    ASSERT_EQ(link_->machine().execute({}, *link_), protocol::Submitted::ok);
    ASSERT_EQ(link_->machine().sync(*link_), protocol::Submitted::ok);
  }
  int rows = 0;
  for (int ready = 0; ready < count;) {
    const protocol::Step step = next();
    ASSERT_NE(step.event, protocol::Event::refused);
    if (step.event == protocol::Event::ready) ++ready;
    if (step.event != protocol::Event::row) continue;
    protocol::Value value;
    ASSERT_TRUE(protocol::Row(step.body).next(value));
    EXPECT_EQ(value.bytes, std::to_string(rows++));
  }
  EXPECT_EQ(rows, count);
}

TEST_F(PostgresLink, a_connection_that_is_ended_says_why) {
  ASSERT_EQ(open({tcp()}), "");
  const std::string process = ask("SELECT pg_backend_pid()");
  (void)cluster_->ask("SELECT pg_terminate_backend(" + process + ")");
  const protocol::Step step = next();
  ASSERT_EQ(step.event, protocol::Event::error);
  EXPECT_TRUE(step.is_fatal);
  EXPECT_EQ(protocol::report_of(step.body).sqlstate, "57P01");
  link_->keep_unread();
  while (wait() && link_->receive()) link_->keep_unread();
  EXPECT_THAT(link_->problem().text, testing::AnyOf(HasSubstr("closed"), HasSubstr("broke")));
}

TEST_F(PostgresLink, probes_of_tcp_are_set_as_the_parameters_say) {
  ASSERT_EQ(open({tcp()}, {{"keepalives_idle", "17"}, {"tcp_user_timeout", "4321"}}), "");
  const auto number = [&](int level, int option) {
    int found = -1;
    socklen_t size = sizeof found;
    EXPECT_EQ(::getsockopt(link_->socket(), level, option, &found, &size), 0);
    return found;
  };
  EXPECT_EQ(number(SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(number(IPPROTO_TCP, TCP_KEEPIDLE), 17);
  EXPECT_EQ(number(IPPROTO_TCP, TCP_KEEPINTVL), 10);
  EXPECT_EQ(number(IPPROTO_TCP, TCP_USER_TIMEOUT), 4321);
}

// An error may quote a statement, and a notice a value.
TEST_F(PostgresLink, an_error_larger_than_every_buffer_is_told) {
  ASSERT_EQ(open({local()}, {}, "katana"), "");
  const std::string large =
      "DO $$ BEGIN RAISE NOTICE '%', repeat('n', 1000000); "
      "RAISE EXCEPTION '%', repeat('e', 1000000); END $$";
  ASSERT_EQ(link_->machine().query(large, *link_), protocol::Submitted::ok);
  const protocol::Step step = next();
  ASSERT_EQ(step.event, protocol::Event::error);
  EXPECT_EQ(protocol::report_of(step.body).sqlstate, "P0001");
  EXPECT_EQ(protocol::report_of(step.body).message.size(), 1'000'000u);
}

TEST_F(PostgresLink, a_wrong_password_is_tried_once) {
  EXPECT_THAT(open({tcp(), tcp(), tcp()}, {}, "app", "wrong"),
              AllOf(HasSubstr("28P01"), testing::Not(HasSubstr("; localhost"))));
}

TEST_F(PostgresLink, a_cancel_request_ends_the_statement_of_its_session) {
  for (const Target& target : {tcp(), local()}) {
    ASSERT_EQ(open({target}, {{"sslmode", "disable"}}, "katana", ""), "");
    const auto key = link_->cancel_key();
    ASSERT_NE(key, nullptr);
    ASSERT_EQ(link_->machine().query("SELECT pg_sleep(600)", *link_), protocol::Submitted::ok);
    link_->flush();
    const std::string running =
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = "
        "'active'";
    while (cluster_->ask(running) == "0") {
    }
    send_cancel_request(*key);
    protocol::Step step = next();
    while (step.event == protocol::Event::columns) step = next();
    ASSERT_EQ(step.event, protocol::Event::error);
    EXPECT_EQ(protocol::report_of(step.body).sqlstate, "57014");
  }
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
