#include "katana/identity/sessions/session_id.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/values/base64.hpp"

namespace katana::sessions {
namespace {

TEST(SessionId, of_a_visitor_names_no_session_and_has_a_secret_for_forms) {
  const SessionId visitor = SessionId::make_visitor();
  EXPECT_FALSE(visitor.has_session());
  EXPECT_EQ(visitor.text().size(), 22u);
  EXPECT_EQ(visitor.form_secret().size(), SessionId::form_secret_bytes);
  const auto parsed = SessionId::parse(visitor.text());
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->has_session());
  EXPECT_EQ(parsed->form_secret(), visitor.form_secret());
  EXPECT_NE(SessionId::make_visitor().form_secret(), visitor.form_secret());
  EXPECT_EQ(visitor.form_secret().find(visitor.text()), std::string::npos);
}

TEST(SessionId, keeps_what_forms_have_when_a_session_begins_or_is_over) {
  SessionId id = SessionId::make_visitor();
  const std::string forms = id.form_secret(), visitor = id.text();
  id.begin_session();
  EXPECT_EQ(id.text().size(), 64u);
  EXPECT_EQ(id.form_secret(), forms);
  const auto parsed = SessionId::parse(id.text());
  ASSERT_TRUE(parsed && parsed->has_session());
  EXPECT_EQ(parsed->key(), id.key());
  EXPECT_TRUE(parsed->is_secret_of(id.secret_hash()));
  id.forget_session();
  EXPECT_EQ(id.text(), visitor);
}

TEST(SessionId, of_a_renewal_names_the_same_session_and_proves_it_by_other_secrets) {
  SessionId id = SessionId::make_visitor();
  id.begin_session();
  const SessionId before = id;
  id.renew();
  EXPECT_EQ(id.key(), before.key());
  EXPECT_NE(id.form_secret(), before.form_secret());
  EXPECT_FALSE(before.is_secret_of(id.secret_hash()));
  EXPECT_FALSE(id.is_secret_of(before.secret_hash()));
  EXPECT_FALSE(id.is_secret_of(""));
  EXPECT_FALSE(id.is_secret_of(id.secret_hash().substr(0, 31)));
}

TEST(SessionId, that_is_changed_anywhere_is_another_one) {
  SessionId id = SessionId::make_visitor();
  id.begin_session();
  const std::string text = id.text();
  for (std::size_t index = 0; index < text.size(); ++index) {
    std::string changed = text;
    changed[index] = text[index] == 'A' ? 'B' : 'A';
    const auto parsed = SessionId::parse(changed);
    ASSERT_TRUE(parsed) << index;
    EXPECT_FALSE(parsed->key() == id.key() && parsed->is_secret_of(id.secret_hash())) << index;
  }
}

// Processes of one version share the cookies: forms of one are taken by another.
TEST(SessionId, has_a_secret_for_forms_that_depends_on_the_visitor_alone) {
  const std::string visitor(SessionId::part_bytes, 'v');
  const auto id = SessionId::parse(encode_base64url(visitor));
  ASSERT_TRUE(id);
  const crypto::Sha256 digest = crypto::sha256("katana form secret " + visitor);
  EXPECT_EQ(id->form_secret(), encode_base64url(digest.bytes().substr(0, SessionId::part_bytes)));
}

TEST(SessionId, is_read_from_its_own_two_forms_alone) {
  for (const std::size_t size : {0u, 1u, 21u, 23u, 43u, 63u, 65u, 86u, 1000u}) {
    EXPECT_FALSE(SessionId::parse(std::string(size, 'A'))) << size;
  }
  EXPECT_FALSE(SessionId::parse(std::string(22, 'B')));  // has bits beyond the last byte
  EXPECT_FALSE(SessionId::parse(std::string(63, 'A') + "="));
}

}  // namespace
}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
