#include "katana/stores/database/postgres/socket_address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "katana/stores/database/postgres/link_memory.hpp"
#include "katana/stores/database/postgres/options.hpp"
#include "katana/stores/database/postgres/targets.hpp"

namespace katana::database::postgres {
namespace {

using testing::HasSubstr;

TEST(PostgresSocketAddress, a_zone_is_an_interface_of_this_machine) {
  const auto made = zoned_address("fe80::1%lo", 5433);
  ASSERT_TRUE(made);
  sockaddr_in6 v6{};
  std::memcpy(&v6, &made->storage, sizeof v6);
  EXPECT_EQ(v6.sin6_family, AF_INET6);
  EXPECT_EQ(v6.sin6_scope_id, if_nametoindex("lo"));
  EXPECT_EQ(ntohs(v6.sin6_port), 5433);
  EXPECT_FALSE(zoned_address("fe80::1%no-such-link", 5433));
  EXPECT_FALSE(zoned_address("db.example.org%lo", 5433)) << "no name is looked up";
  EXPECT_THAT(connect_to(zoned_address("fe80::1%no-such-link", 1), "fe80::1%no-such-link:1")
                  .error()
                  .describe(),
              HasSubstr("fe80::1%no-such-link:1"));
}

TEST(PostgresSocketAddress, the_name_of_an_abstract_socket_has_its_own_bytes_and_no_others) {
  const auto made = unix_address("@name/.s.PGSQL.5432");
  ASSERT_TRUE(made);
  sockaddr_un local{};
  std::memcpy(&local, &made->storage, sizeof local);
  EXPECT_EQ(made->size, offsetof(sockaddr_un, sun_path) + 19);
  EXPECT_EQ(std::string(local.sun_path, 19), std::string("\0name/.s.PGSQL.5432", 19));
  const auto path = unix_address("/name");
  ASSERT_TRUE(path);
  EXPECT_EQ(path->size, sizeof(sockaddr_un));
  EXPECT_FALSE(unix_address(std::string(sizeof local.sun_path, 'x')));
}

TEST(PostgresTargets, an_address_is_used_and_a_socket_has_none) {
  const auto addressed = targets_of(Host{.name = "db.invalid", .port = 7, .address = "10.0.0.1"});
  ASSERT_TRUE(addressed) << addressed.error().describe();
  ASSERT_EQ(addressed->size(), 1u);
  EXPECT_EQ(addressed->front().name, "db.invalid");
  EXPECT_EQ(addressed->front().address, "10.0.0.1");
  for (const char* const name : {"/folder", "@folder"}) {
    const auto local = targets_of(Host{.name = name});
    ASSERT_TRUE(local);
    EXPECT_EQ(local->front().address, "");
  }
  const auto zoned = targets_of(Host{.name = "fe80::1%lo"});
  ASSERT_TRUE(zoned) << zoned.error().describe();
  EXPECT_EQ(zoned->front().address, "fe80::1%lo");
}

TEST(PostgresLinkMemory, each_link_has_its_share_of_blocks_whatever_the_others_have) {
  LinkMemory memory;
  std::vector<std::pair<std::shared_ptr<BlockPool>, std::vector<char*>>> links(200);
  for (auto& [pool, blocks] : links) {
    pool = memory.blocks();
    for (std::size_t count = 0; count < LinkMemory::link_blocks; ++count) {
      char* const block = pool->take();
      EXPECT_NE(block, nullptr);
      if (block != nullptr) blocks.push_back(block);
    }
  }
  EXPECT_EQ(memory.sealed.size(), 4u);
  for (auto& [pool, blocks] : links) {
    for (char* const block : blocks) pool->give(block);
    pool.reset();
  }
  const auto again = memory.blocks();
  EXPECT_EQ(memory.sealed.size(), 1u) << "pools without a link are freed";
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
