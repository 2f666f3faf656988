// The shares of senders in a turn, counted in turns: no time, no sockets.
#include <algorithm>
#include <map>

#include "apps/chat/hub_fixture_test.hpp"

namespace katana::chat {
namespace {

// Clients with lines to say. Within a turn the clients that waited are read first, in the order
// that the hub asks for. The others follow in the order in which they came: the flooding sender
// comes first.
class FairTest : public HubTest {
 protected:
  explicit FairTest(const HubOptions& options = small_options(), unsigned reactors = 1)
      : HubTest(options, reactors) {}

  struct Client {
    TestMember* member = nullptr;
    unsigned reactor = 0;
    std::deque<std::string> lines = {};
    std::size_t endless_bytes = 0;  // bytes of each line of an endless sender; otherwise 0
    bool waits = false;
    std::size_t said_lines = 0;
    std::vector<std::size_t> said_in = {};  // the turns
  };
  ~FairTest() override {
    for (Client& each : clients_) each.member->woken = nullptr;
  }

  Client& client(Bytes room = lobby_name, unsigned reactor = 0) {
    Client& added = clients_.emplace_back(Client{.member = &add(room, reactor)});
    added.reactor = reactor;
    added.member->woken = &woken_;
    return added;
  }
  Client& flooder(std::size_t line_bytes, Bytes room = lobby_name, unsigned reactor = 0) {
    Client& added = client(room, reactor);
    added.endless_bytes = line_bytes;
    return added;
  }
  // Until the hub has heard all that may be said in this turn; then the turn ends.
  void turn() {
    for (TestMember* const each : std::exchange(woken_, {})) {
      Client& of = *std::ranges::find(clients_, each, &Client::member);
      of.waits = false;
      speak(of);
    }
    speak_all();
    end_turn();
    ++turns_done_;
  }
  void speak_all() {
    for (Client& each : clients_) {
      if (!each.waits) speak(each);
    }
  }
  // The lines that a reader has got, by their sender.
  static std::map<std::string, std::size_t> count_lines(const std::string& text) {
    std::map<std::string, std::size_t> counts;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      ++counts[text.substr(at, text.find(']', at) + 1 - at)];
    }
    return counts;
  }

  std::deque<Client> clients_;
  std::deque<TestMember*> woken_;
  std::size_t turns_done_ = 0;

 private:
  void speak(Client& who) {
    Hub& at = hub(who.reactor);
    while (who.endless_bytes != 0 || !who.lines.empty()) {
      if (!at.may_publish(*who.member)) {
        at.wait_to_publish(*who.member);
        who.waits = true;
        return;
      }
      if (who.lines.empty()) {
        at.publish(*who.member, std::string(who.endless_bytes, 'f'));
      } else {
        at.publish(*who.member, who.lines.front());
        who.lines.pop_front();
      }
      ++who.said_lines;
      if (who.said_in.empty() || who.said_in.back() != turns_done_) {
        who.said_in.push_back(turns_done_);
      }
    }
  }
};

TEST_F(FairTest, a_line_is_delivered_in_the_turn_in_which_it_arrives_whatever_a_flooder_says) {
  Client& flood = flooder(500);
  std::vector<Client*> honest;
  for (int count = 0; count < 20; ++count) honest.push_back(&client());
  TestMember& reader = add();
  std::size_t late = 0;
  for (std::size_t turns = 0; turns < 200; ++turns) {
    for (Client* const each : honest) each->lines.emplace_back(60, 'h');
    const std::size_t before = flood.said_lines;
    turn();
    for (Client* const each : honest) late += each->lines.size();
    const std::size_t got = count_lines(reader.take_all()).size();
    if (turns != 0) {  // the 200 bytes of each other member leave this share to it
      EXPECT_EQ(got, 21U) << turns;
      EXPECT_GE((flood.said_lines - before) * 509, hub().options().turn_bytes_max / 2) << turns;
    }
  }
  EXPECT_EQ(late, 0U);
}

TEST_F(FairTest, a_sender_alone_has_three_quarters_of_every_turn) {
  Client& flood = flooder(500);
  TestMember& reader = add();
  const std::size_t open = hub().options().turn_bytes_max / 4 * 3;
  for (std::size_t turns = 0; turns < 20; ++turns) {
    turn();
    EXPECT_GE(reader.take_all().size() + 509, open);
  }
  EXPECT_EQ(flood.said_in.size(), 20U);
}

TEST_F(FairTest, flooders_get_the_same_share_and_those_who_say_little_are_not_among_them) {
  for (int count = 0; count < 8; ++count) flooder(200);
  std::vector<Client*> honest;
  for (int count = 0; count < 10; ++count) honest.push_back(&client());
  TestMember& reader = add();
  std::size_t late = 0;
  for (std::size_t turns = 0; turns < 400; ++turns) {
    for (Client* const each : honest) each->lines.emplace_back(60, 'h');
    turn();
    (void)reader.take_all();
    if (turns < 2) continue;  // the first says how many there are
    for (Client* const each : honest) late += each->lines.size();
  }
  EXPECT_EQ(late, 0U);
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  for (const Client& each : clients_) {
    if (each.endless_bytes == 0) continue;
    least = std::min(least, each.said_lines);
    most = std::max(most, each.said_lines);
  }
  EXPECT_LE(most - least, most / 20) << least << " to " << most;
}

// A turn holds three of their lines.
TEST_F(FairTest, who_waits_goes_on_in_order_and_nobody_starves) {
  for (int count = 0; count < 60; ++count) flooder(6000);
  TestMember& reader = add();
  for (std::size_t turns = 0; turns < 600; ++turns) {
    turn();
    (void)reader.take_all();
  }
  std::size_t longest = 0;
  for (const Client& each : clients_) {
    ASSERT_FALSE(each.said_in.empty());
    std::size_t last = 0;
    for (const std::size_t at : each.said_in) {
      longest = std::max(longest, at - last);
      last = at;
    }
    longest = std::max(longest, 600 - last);
  }
  EXPECT_LE(longest, 40U);
  EXPECT_GE(longest, 20U);
}

TEST_F(FairTest, a_flooder_in_one_room_does_not_delay_another_room_of_the_reactor) {
  flooder(500, "flooded");
  TestMember& flooded = add("flooded");
  Client& honest = client("quiet");
  TestMember& reader = add("quiet");
  for (std::size_t turns = 0; turns < 100; ++turns) {
    honest.lines.push_back(std::to_string(turns));
    turn();
    EXPECT_EQ(reader.take_all(), "[USER3] " + std::to_string(turns) + "\n");
    EXPECT_GE(flooded.take_all().size(), hub().options().turn_bytes_max / 2);
  }
}

TEST_F(FairTest, a_line_that_found_the_turn_full_is_in_the_next) {
  for (int count = 0; count < 30; ++count) flooder(6000);  // they are not known yet
  Client& honest = client();
  TestMember& reader = add();
  honest.lines.emplace_back("now");
  turn();
  (void)reader.take_all();
  for (int turns = 0; turns < 11; ++turns) turn();  // the senders before it: three in each turn
  EXPECT_TRUE(honest.lines.empty());
  for (std::size_t turns = 0; turns < 50; ++turns) {
    honest.lines.emplace_back("now");
    turn();
    if (!honest.lines.empty()) turn();
    EXPECT_TRUE(honest.lines.empty()) << turns;
    (void)reader.take_all();
  }
}

// A turn lets on three of them, and those have gone silent.
TEST_F(FairTest, those_behind_go_on_although_those_before_them_have_nothing_more_to_say) {
  for (int count = 0; count < 12; ++count) flooder(6000);
  add();
  for (int turns = 0; turns < 8; ++turns) turn();
  for (Client& each : clients_) each.endless_bytes = 0;
  for (int turns = 0; turns < 6; ++turns) turn();
  for (const Client& each : clients_) EXPECT_FALSE(each.waits) << each.member->number();
}

class FairRelayTest : public FairTest {
 protected:
  FairRelayTest() : FairTest(small_options(), 3) {}
};

TEST_F(FairRelayTest, a_flooder_on_one_reactor_does_not_keep_another_reactor_s_members_unheard) {
  flooder(500, lobby_name, 0);
  Client& honest = client(lobby_name, 1);
  TestMember& reader = add(lobby_name, 2);
  std::size_t heard_lines = 0;
  std::size_t flooded_bytes = 0;
  for (std::size_t turns = 0; turns < 60; ++turns) {
    // Both senders are three turns ahead of the reader's reactor, each in its own reactor.
    for (int ahead = 0; ahead < 3; ++ahead) {
      if (ahead == 0) honest.lines.emplace_back("now");
      for (TestMember* const each : std::exchange(woken_, {})) {
        std::ranges::find(clients_, each, &Client::member)->waits = false;
      }
      for (const unsigned of : {0U, 1U}) {
        turns_[of].run_posted();
        turns_[of].run_deferred();
      }
      speak_all();
      for (const unsigned of : {0U, 1U}) turns_[of].run_deferred();
    }
    turns_[2].run_posted();
    turns_[2].run_deferred();
    auto lines = count_lines(reader.take_all());
    heard_lines += lines["[USER2]"];
    EXPECT_GE(heard_lines, turns) << "a line of an earlier turn is missing";
    flooded_bytes += lines["[USER1]"] * 509;
  }
  EXPECT_GE(flooded_bytes, 58 * hub().options().turn_bytes_max / 4);
}

}  // namespace
}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
