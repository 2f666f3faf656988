#include "katana/identity/sessions/record.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::sessions {
namespace {

SessionRecord sample() {
  SessionRecord record;
  record.principal = "ann";
  record.roles = {"reader", ""};
  record.scopes = {std::string(200, 's')};
  record.began_s = 1'800'000'000;
  record.seen_s = -1;
  record.form_secret = "secret";
  record.content = std::string("\0\xff", 2);
  return record;
}

TEST(RecordForm, what_is_written_is_read_and_nothing_else) {
  const std::string written = encode_session(sample());
  const auto read = decode_session(written);
  ASSERT_TRUE(read);
  EXPECT_EQ(encode_session(*read), written);
  EXPECT_EQ(read->roles, sample().roles);
  EXPECT_EQ(read->seen_s, -1);
  for (std::size_t size = 0; size < written.size(); ++size) {
    EXPECT_FALSE(decode_session(Bytes(written).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_session(written + '\0'));
  EXPECT_FALSE(decode_session("\2" + written.substr(1)));
}

TEST(RecordForm, of_a_store_has_the_hashes_of_its_secrets) {
  SessionRecord record = sample();
  record.secret_hash = std::string(32, 'h');
  record.former_secret_hash = std::string(32, 'f');
  record.renewed_s = 1'800'000'001;
  const std::string written = encode_session(record);
  const auto read = decode_session(written);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->secret_hash, record.secret_hash);
  EXPECT_EQ(read->former_secret_hash, record.former_secret_hash);
  EXPECT_EQ(read->renewed_s, record.renewed_s);
  EXPECT_EQ(encode_session(*read), written);
  for (std::size_t size = 0; size < written.size(); ++size) {
    EXPECT_FALSE(decode_session(Bytes(written).substr(0, size))) << size;
  }
  // A record without secret hashes is valid only in form 1.
  EXPECT_FALSE(decode_session("\2" + encode_session(sample()).substr(1) + std::string(3, '\0')));
}

// Otherwise two encodings could mean one session, and a size could exceed the text.
TEST(RecordForm, numbers_with_needless_groups_or_too_many_bits_are_refused) {
  const std::string rest(9, '\0');
  EXPECT_TRUE(decode_session(std::string("\1\1", 2) + rest));
  EXPECT_FALSE(decode_session(std::string("\1\x81\0", 3) + rest));
  EXPECT_FALSE(decode_session("\1" + std::string(9, '\xff') + "\2" + rest));
  EXPECT_FALSE(decode_session("\1" + std::string(3, '\0') + std::string(9, '\xff') + "\1"));
}

TEST(RecordPrincipal, is_all_of_who_logged_in_and_nothing_of_the_user_before) {
  SessionRecord record = sample();
  record.name = "Ann";
  record.issuer = "https://old.example";
  record.authenticated_s = 5;
  const auth::PrincipalFacts facts = {.id = "bob",
                                      .issuer = "https://id.example",
                                      .name = "Bob",
                                      .method = auth::Method::token,
                                      .roles = {"editor"},
                                      .scopes = {"read", "write"},
                                      .authenticated_at = {},
                                      .expires_at = {},
                                      .claims = {}};
  set_principal(record, facts, 1'900'000'000);
  EXPECT_EQ(record.began_s, 1'900'000'000);
  EXPECT_EQ(record.seen_s, 1'900'000'000);
  EXPECT_EQ(record.content, sample().content) << "what the visitor had stays";
  const auto read = decode_session(encode_session(record));
  ASSERT_TRUE(read);
  const auto who = principal_of(*read);
  ASSERT_TRUE(who);
  EXPECT_EQ(who->id(), "bob");
  EXPECT_EQ(who->issuer(), "https://id.example");
  EXPECT_EQ(who->name(), "Bob");
  EXPECT_EQ(who->method(), auth::Method::session);
  EXPECT_EQ(who->facts().roles, facts.roles);
  EXPECT_EQ(who->facts().scopes, facts.scopes);
  EXPECT_EQ(who->facts().authenticated_at, Timestamp(std::chrono::seconds(1'900'000'000)));
  EXPECT_FALSE(principal_of(SessionRecord())) << "a visitor is no principal";
}

TEST(RecordForm, of_a_user_has_nothing_of_the_user_before_though_the_new_one_has_nothing) {
  SessionRecord record = sample();
  record.issuer = "https://old.example";
  record.name = "Ann";
  auth::PrincipalFacts facts;
  facts.id = "bob";
  set_principal(record, facts, 7);
  EXPECT_EQ(record.roles, std::vector<std::string>());
  EXPECT_EQ(record.scopes, std::vector<std::string>());
  EXPECT_EQ(record.issuer, "");
  EXPECT_EQ(record.name, "");
}

TEST(RecordForm, counts_each_text_that_it_holds) {
  SessionRecord record;
  const std::size_t least = bytes_of(record);
  for (std::string* text : {&record.principal, &record.issuer, &record.name, &record.form_secret,
                            &record.content, &record.secret_hash, &record.former_secret_hash}) {
    const std::size_t before = bytes_of(record);
    text->assign(100, 't');
    EXPECT_EQ(bytes_of(record), before + 100);
  }
  for (std::vector<std::string>* list : {&record.roles, &record.scopes}) {
    const std::size_t before = bytes_of(record);
    list->emplace_back(100, 't');
    EXPECT_EQ(bytes_of(record), before + 100 + sizeof(std::string));
  }
  EXPECT_GT(bytes_of(record), least);
}

TEST(RecordForm, it_ends_at_the_earlier_of_two_times) {
  SessionRecord record;
  record.began_s = 1000;
  record.seen_s = 1000;
  const Lifetimes lifetimes{.idle_s = 60, .absolute_s = 100};
  EXPECT_FALSE(is_expired(record, lifetimes, 1059));
  EXPECT_TRUE(is_expired(record, lifetimes, 1060));
  record.seen_s = 1090;
  EXPECT_FALSE(is_expired(record, lifetimes, 1099));
  EXPECT_TRUE(is_expired(record, lifetimes, 1100));
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
