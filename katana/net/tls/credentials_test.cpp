#include "katana/net/tls/credentials.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "katana/net/tls/talk_test.hpp"
#include "katana/net/tls/transform.hpp"

namespace katana::tls {
namespace {

// Passes the bytes of both sides until neither has any.
void converse_with(net::Transform& transform, TestClient& client) {
  std::array<char, 4096> plain;
  for (;;) {
    const std::string up = client.take_output();
    for (Bytes rest = up;;) {
      const auto step = transform.receive(rest, plain, Instant{1});
      rest.remove_prefix(step.consumed);
      if (step.event == net::TransformEvent::costly) transform.admit();
      if (step.event == net::TransformEvent::need_bytes ||
          step.event == net::TransformEvent::failed || step.event == net::TransformEvent::ended) {
        break;
      }
    }
    const std::string down = take_all(transform.output());
    client.receive(down);
    if (up.empty() && down.empty()) return;
  }
}

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "katana_tls_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.certificates = {
        {.chain_file = folder_ / "chain.pem", .key_file = folder_ / "key.pem"}};
  }
  ~CredentialsTest() override { std::filesystem::remove_all(folder_); }

  void write(const TestCertificate& certificate) {
    std::ofstream(folder_ / "chain.pem") << certificate.certificate_text();
    std::ofstream(folder_ / "key.pem") << certificate.key_text();
  }

  std::filesystem::path folder_;
  TlsOptions options_;
};

TEST_F(CredentialsTest, a_reload_shows_the_new_certificate_and_old_connections_go_on) {
  write(TestCertificate({"old.example"}));
  auto credentials = *Credentials::load(options_);
  const std::uint32_t generation = credentials->generation();
  auto held = credentials->present();
  const auto before = talk(*held);
  write(TestCertificate({"new.example"}));
  ASSERT_TRUE(credentials->reload());
  EXPECT_NE(credentials->generation(), generation);
  EXPECT_EQ(talk(*credentials->present())->client.shown_name(), "new.example");
  before->client.send("still there");
  before->pass();
  EXPECT_EQ(before->received, "still there");
  EXPECT_EQ(before->client.shown_name(), "old.example");
  const auto resumed = talk(*credentials->present(), {.session = before->client.session()});
  EXPECT_TRUE(resumed->client.resumed());
}

TEST_F(CredentialsTest, a_reload_that_fails_changes_nothing_and_says_why) {
  write(TestCertificate({"old.example"}));
  auto credentials = *Credentials::load(options_);
  const std::uint32_t generation = credentials->generation();
  std::ofstream(folder_ / "key.pem") << "half writ";
  const auto reloaded = credentials->reload();
  ASSERT_FALSE(reloaded);
  EXPECT_NE(reloaded.error().describe().find("key.pem"), std::string::npos);
  EXPECT_EQ(credentials->generation(), generation);
  EXPECT_EQ(talk(*credentials->present())->client.shown_name(), "old.example");
}

TEST_F(CredentialsTest, the_certificate_for_development_stays_the_same) {
  TlsOptions options;
  options.development = true;
  auto credentials = *Credentials::load(options);
  const auto held = credentials->present();
  const auto before = talk(*held);
  ASSERT_TRUE(credentials->reload());
  const auto now = credentials->present();
  const auto after = talk(*now);
  EXPECT_EQ(X509_cmp(SSL_get0_peer_certificate(before->client.ssl()),
                     SSL_get0_peer_certificate(after->client.ssl())),
            0);
}

// ThreadSanitizer checks this test.
TEST_F(CredentialsTest, handshakes_go_on_while_another_thread_reloads) {
  write(shared_certificate());
  auto credentials = *Credentials::load(options_);
  std::thread reloader([&] {
    for (int count = 0; count < 20; ++count) EXPECT_TRUE(credentials->reload());
  });
  TlsTransforms transforms(*credentials);
  BlockPool pool(4096, 64);
  std::array<char, 4096> plain;
  for (int count = 0; count < 20; ++count) {
    auto transform = transforms.make(pool);
    ASSERT_NE(transform, nullptr);
    TestClient client;
    for (int round = 0; round < 3; ++round) {
      std::string up = client.take_output();
      while (!up.empty()) {
        const auto step = transform->receive(up, plain, Instant{count});
        if (step.event == net::TransformEvent::costly) transform->admit();
        if (step.event == net::TransformEvent::need_bytes) break;
        up.erase(0, step.consumed);
        if (up.empty() && step.event == net::TransformEvent::costly) {
          transform->receive({}, plain, Instant{count});
        }
      }
      client.receive(take_all(transform->output()));
    }
    EXPECT_TRUE(client.opened());
  }
  reloader.join();
  EXPECT_EQ(transforms.counters().handshakes_1_3, 20u);
}

// ---- counts of TlsTransforms ------------------------------------------------------------------

class TlsTransformsTest : public testing::Test {
 protected:
  TlsTransformsTest() {
    TlsOptions options = options_with(shared_certificate());
    options.reply_to_plain_http = "wrong port\n";
    credentials_ = *Credentials::load(options);
    transforms_ = std::make_unique<TlsTransforms>(*credentials_);
    transform_ = transforms_->make(pool_);
  }
  std::uint64_t failures(Failure failure) const {
    return transforms_->counters().failures[static_cast<std::size_t>(failure)];
  }

  void converse(TestClient& client) { converse_with(*transform_, client); }

  BlockPool pool_{4096, 64};
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<TlsTransforms> transforms_;
  std::unique_ptr<net::Transform> transform_;
  std::array<char, 4096> plain_;
};

TEST_F(TlsTransformsTest, an_http_request_without_tls_is_told_what_to_do) {
  const auto step = transform_->receive("GET / HTTP/1.1\r\n\r\n", plain_, Instant{1});
  EXPECT_EQ(step.event, net::TransformEvent::failed);
  EXPECT_EQ(take_all(transform_->output()), "wrong port\n");
  transform_->receive("more", plain_, Instant{1});
  EXPECT_EQ(failures(Failure::plain_http), 1u);
}

TEST_F(TlsTransformsTest, a_handshake_that_is_given_up_is_counted_by_why) {
  transform_->cut(net::TransformCut::timed_out);
  EXPECT_EQ(failures(Failure::timed_out), 1u);
  transforms_->make(pool_)->cut(net::TransformCut::input_ended);
  EXPECT_EQ(failures(Failure::left), 1u);
  EXPECT_EQ(transforms_->counters().truncated, 0u);
}

TEST_F(TlsTransformsTest, a_connection_is_counted_once_by_how_it_began_and_ended) {
  TestClient old({.version = TLS1_2_VERSION});
  converse(old);
  ASSERT_TRUE(old.opened());
  transform_->cut(net::TransformCut::input_ended);  // without close_notify
  EXPECT_EQ(transforms_->counters().handshakes_1_2, 1u);
  EXPECT_EQ(transforms_->counters().handshakes_1_3, 0u);
  EXPECT_EQ(transforms_->counters().resumed, 0u);
  EXPECT_EQ(transforms_->counters().truncated, 1u);

  transform_ = transforms_->make(pool_);
  TestClient again({.version = TLS1_2_VERSION, .session = old.session()});
  converse(again);
  again.end();
  converse(again);
  transform_->cut(net::TransformCut::input_ended);
  EXPECT_EQ(transforms_->counters().handshakes_1_2, 2u);
  EXPECT_EQ(transforms_->counters().resumed, 1u);
  EXPECT_EQ(transforms_->counters().truncated, 1u) << "it ended with close_notify";
  for (const std::uint64_t count : transforms_->counters().failures) EXPECT_EQ(count, 0u);
}

TEST_F(TlsTransformsTest, a_connection_that_failed_is_not_counted_again_when_it_is_cut) {
  transform_->receive("GET / HTTP/1.1\r\n\r\n", plain_, Instant{1});
  transform_->cut(net::TransformCut::timed_out);
  EXPECT_EQ(failures(Failure::plain_http), 1u);
  EXPECT_EQ(failures(Failure::timed_out), 0u);
}

TEST_F(TlsTransformsTest, only_plain_http_gets_the_reply_in_plain_text) {
  const auto step = transform_->receive(std::string(64, '\x7f'), plain_, Instant{1});
  EXPECT_EQ(step.event, net::TransformEvent::failed);
  EXPECT_EQ(take_all(transform_->output()).find("wrong port"), std::string::npos);
}

TEST_F(TlsTransformsTest, a_factory_that_speaks_other_protocols_agrees_on_those_only) {
  const auto factory = *transforms_->speaking({"other"});
  transform_ = factory->make(pool_);
  TestClient client({.protocols = {"http/1.1", "other"}});
  converse(client);
  EXPECT_EQ(client.protocol(), "other");
  transform_ = transforms_->make(pool_);
  TestClient usual({.protocols = {"other", "http/1.1"}});
  converse(usual);
  EXPECT_EQ(usual.protocol(), "http/1.1");
  EXPECT_FALSE(transforms_->speaking({""}));
}

TEST_F(CredentialsTest, connections_that_begin_after_a_reload_show_the_new_certificate) {
  write(TestCertificate({"old.example"}));
  const auto credentials = *Credentials::load(options_);
  TlsTransforms transforms(*credentials);
  BlockPool pool(4096, 64);
  for (const char* const name : {"old.example", "new.example"}) {
    write(TestCertificate({name}));
    ASSERT_TRUE(credentials->reload());
    const auto transform = transforms.make(pool);
    TestClient client;
    converse_with(*transform, client);
    EXPECT_EQ(client.shown_name(), name);
  }
}

}  // namespace
}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
