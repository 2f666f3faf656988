#include "katana/core/peer_book.hpp"

#include <gtest/gtest.h>

namespace katana::core {
namespace {

using engine::Link;
using engine::PeerEndpoint;

// An engine that counts how often it is asked, and answers by the link.
class PeerBookTest : public testing::Test {
 protected:
  std::string ask(Link link) {
    const PeerEndpoint peer = book_.find(link, [&] {
      ++asked;
      return gone ? PeerEndpoint{} : endpoint_of(link);
    });
    return std::string(peer.text().bytes());
  }
  static PeerEndpoint endpoint_of(Link link) {
    return {.address = {10, 0, static_cast<std::uint8_t>(link.generation),
                        static_cast<std::uint8_t>(link.index)},
            .port = 1,
            .family = PeerEndpoint::Family::v4};
  }

  int asked = 0;
  bool gone = false;

 private:
  PeerBook book_{200};
};

TEST_F(PeerBookTest, a_link_is_asked_for_once) {
  EXPECT_EQ(ask({7, 1}), "10.0.1.7:1");
  EXPECT_EQ(ask({7, 1}), "10.0.1.7:1");
  EXPECT_EQ(ask({8, 1}), "10.0.1.8:1");
  EXPECT_EQ(ask({7, 1}), "10.0.1.7:1");
  EXPECT_EQ(asked, 2);
}

TEST_F(PeerBookTest, the_next_link_in_its_place_is_another_peer) {
  EXPECT_EQ(ask({7, 1}), "10.0.1.7:1");
  EXPECT_EQ(ask({7, 2}), "10.0.2.7:1");
  EXPECT_EQ(asked, 2);
}

TEST_F(PeerBookTest, who_was_asked_for_in_time_is_known_when_gone) {
  EXPECT_EQ(ask({199, 3}), "10.0.3.199:1");
  gone = true;
  EXPECT_EQ(ask({199, 3}), "10.0.3.199:1");
  EXPECT_EQ(ask({198, 3}), "");
}

TEST_F(PeerBookTest, that_nobody_is_there_is_not_kept) {
  gone = true;
  EXPECT_EQ(ask({0, 1}), "");
  gone = false;
  EXPECT_EQ(ask({0, 1}), "10.0.1.0:1");
}

}  // namespace
}  // namespace katana::core
