#include "katana/stores/bus/nats/credentials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "katana/stores/bus/nats/options.hpp"

namespace katana::bus {
namespace {

using testing::HasSubstr;
using testing::Not;

// The example of the documentation of NATS.
constexpr Bytes seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
constexpr Bytes key = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

TEST(Nkey, a_seed_has_its_public_key_and_signs) {
  const auto nkey = NkeySeed::parse(seed);
  ASSERT_TRUE(nkey) << nkey.error().describe();
  const auto shown = nkey->public_key();
  ASSERT_TRUE(shown);
  EXPECT_EQ(*shown, key);
  const auto signature = nkey->sign("nonce");
  ASSERT_TRUE(signature);
  EXPECT_EQ(signature->size(), 86u);
  EXPECT_EQ(*signature, *nkey->sign("nonce"));
  EXPECT_NE(*signature, *nkey->sign("nonce2"));
}

TEST(Nkey, what_is_no_seed_of_a_user_is_refused_and_not_shown) {
  std::string changed(seed);
  changed[20] = changed[20] == 'A' ? 'B' : 'A';
  for (const std::string& bad :
       {std::string(), std::string("SU"), changed, std::string(key), std::string(58, 'A'),
        std::string(seed).substr(1), "su" + std::string(seed).substr(2)}) {
    const auto parsed = NkeySeed::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code(), Code::invalid_argument);
    if (bad.size() > 10) EXPECT_THAT(parsed.error().describe(), Not(HasSubstr(bad.substr(5, 20))));
  }
}

class CredentialFiles : public testing::Test {
 protected:
  CredentialFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "katana-creds-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~CredentialFiles() override { std::filesystem::remove_all(folder_); }
  std::string write(Bytes text) const {
    const std::string path = folder_ + "/file";
    std::ofstream(path) << text;
    return path;
  }
  std::string folder_;
};

TEST_F(CredentialFiles, a_creds_file_has_a_token_and_a_seed) {
  const std::string path = write(
      "-----BEGIN NATS USER JWT-----\neyJ0.abc.def\n"
      "------END NATS USER JWT------\n\n*** IMPORTANT ***\n"
      "-----BEGIN USER NKEY SEED-----\n" +
      std::string(seed) + "\n------END USER NKEY SEED------\n");
  const auto credentials = read_creds_file(path);
  ASSERT_TRUE(credentials) << credentials.error().describe();
  EXPECT_EQ(credentials->jwt.reveal(), "eyJ0.abc.def");
  EXPECT_FALSE(credentials->nkey.empty());
  for (const Bytes bad : {"", "nothing", "-----BEGIN NATS USER JWT-----\nx\n-----END-----\n"}) {
    const auto refused = read_creds_file(write(bad));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().describe(), HasSubstr(bad.empty() ? "JWT" : "file"));
  }
}

TEST_F(CredentialFiles, seeds_are_read_without_white_space_at_their_end) {
  EXPECT_TRUE(read_nkey_file(write(std::string(seed) + "\n")));
  EXPECT_FALSE(read_nkey_file(write("SUx")));
}

TEST(NatsUrl, names_servers_and_whether_they_have_tls) {
  NatsOptions options;
  ASSERT_TRUE(parse_nats_url("nats://a:4223,b,nats://[::1]:4224/", options));
  ASSERT_EQ(options.servers.size(), 3u);
  EXPECT_EQ(options.servers[0].text(), "a:4223");
  EXPECT_EQ(options.servers[1].text(), "b:4222");
  EXPECT_EQ(options.servers[2].text(), "[::1]:4224");
  EXPECT_FALSE(options.tls);
  NatsOptions secure;
  ASSERT_TRUE(parse_nats_url("tls://a", secure));
  EXPECT_TRUE(secure.tls);
  for (const Bytes bad : {"", "a:4222", "http://a", "nats://a,tls://b", "nats://a,,b",
                          "nats://a:99999", "nats://", "nats://a,"}) {
    NatsOptions refused;
    EXPECT_FALSE(parse_nats_url(bad, refused)) << bad;
  }
  NatsOptions refused;
  const auto shown = parse_nats_url("nats://user:s3cret@a", refused);
  EXPECT_THAT(shown.error().describe(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(shown.error().describe(), HasSubstr("password_file"));
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
