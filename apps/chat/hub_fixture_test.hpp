// TestTurn, TestMember and HubTest: hubs without reactors, connections or time.
//
// Owns       the fixture owns everything; a test decides when a turn ends and what a client takes.
// Thread     one.
// Invariant  nothing happens but what a test asked for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "apps/chat/hub.hpp"
#include "katana/base/memory/block_pool.hpp"

namespace katana::chat {

// Keeps deferred and posted messages until run().
class TestTurn final : public Turn {
 public:
  void defer(Message& message) noexcept override { deferred_.push_back(&message); }
  void post(Message& message) noexcept override { posted_.push_back(&message); }

  void run_posted() { run(posted_); }
  void run_deferred() { run(deferred_); }
  std::size_t posted() const { return posted_.size(); }
  std::size_t deferred() const { return deferred_.size(); }
  HeldMemory* memory() noexcept override { return &held; }
  HeldMemory held{64 * 1024 * 1024};

 private:
  static void run(std::vector<Message*>& messages) {
    const std::vector<Message*> now = std::exchange(messages, {});
    for (Message* const each : now) each->run(*each);
  }
  std::vector<Message*> deferred_;
  std::vector<Message*> posted_;
};

class TestMember final : public Member {
 public:
  TestMember(Hub& hub, BlockPool& blocks, std::uint64_t number)
      : TestMember(hub, std::make_unique<Outbox>(blocks), number) {}
  ~TestMember() {
    if (!removed_) hub_.remove(*this, Loss::left);
  }

  void remove(Loss why) {
    removed_ = true;
    hub_.remove(*this, why);
    box_->clear();
  }
  Outbox& outbox() { return *box_; }
  std::size_t pieces() const {
    std::array<iovec, 256> parts;
    return box_->gather(parts);
  }
  // The client takes so many bytes, and the hub hears of it when that was all.
  std::string take(std::size_t count = SIZE_MAX) {
    std::string all;
    box_->for_each_pending([&all](Bytes bytes, const Retained*) { all += bytes; });
    all.resize(std::min(count, all.size()));
    box_->advance(all.size());
    if (box_->empty() && wants_writable) {
      wants_writable = false;
      EXPECT_TRUE(hub_.refill(*this));
    }
    return all;
  }
  // Until nothing comes any more.
  std::string take_all() {
    std::string all;
    while (!box_->empty()) all += take();
    return all;
  }

  int outputs = 0;
  bool wants_writable = false;
  std::uint64_t dropped_as_too_slow = 0;
  int ended_as_too_slow = 0;
  int may_publish = 0;
  // Puts itself in front, as a connection does that has itself read first.
  std::deque<TestMember*>* woken = nullptr;

 private:
  TestMember(Hub& hub, std::unique_ptr<Outbox> box, std::uint64_t number)
      : Member(number, *box), hub_(hub), box_(std::move(box)) {}
  void on_output() noexcept override { ++outputs; }
  void on_backlog() noexcept override { wants_writable = true; }
  void on_too_slow(std::uint64_t messages) noexcept override {
    ++ended_as_too_slow;
    dropped_as_too_slow = messages;
  }
  void on_may_publish() noexcept override {
    ++may_publish;
    if (woken != nullptr) woken->push_front(this);
  }

  Hub& hub_;
  std::unique_ptr<Outbox> box_;
  bool removed_ = false;
};

class HubTest : public testing::Test {
 protected:
  static HubOptions small_options() {
    HubOptions options;
    options.fit_queue(queue_bytes_min);
    options.relay_batches_max = 4;
    return options;
  }

  explicit HubTest(const HubOptions& options = small_options(), unsigned reactors = 1)
      : directory_(100, 4, reactors), turns_(reactors) {
    std::vector<Hub*> all;
    for (unsigned index = 0; index < reactors; ++index) {
      hubs_.push_back(std::make_unique<Hub>(options, directory_, index, turns_[index]));
      all.push_back(hubs_.back().get());
    }
    Hub::connect(all);
  }
  ~HubTest() override {
    members_.clear();
    for (const auto& hub : hubs_) {
      hub->stop();
      EXPECT_EQ(hub->counters().due.value(),
                hub->counters().delivered.value() + hub->counters().lost());
      EXPECT_EQ(hub->counters().queued_bytes.value(), 0U);
      EXPECT_EQ(hub->counters().members.value(), 0U);
    }
    for (const TestTurn& each : turns_) EXPECT_EQ(each.held.used(), 0U);
  }

  Hub& hub(unsigned index = 0) { return *hubs_[index]; }
  TestMember& add(Bytes room = lobby_name, unsigned reactor = 0) {
    TestMember& member = *members_.emplace_back(
        std::make_unique<TestMember>(hub(reactor), blocks_, directory_.admit()));
    EXPECT_TRUE(hub(reactor).join(member, room));
    return member;
  }
  void end_turn() {
    for (TestTurn& each : turns_) {
      each.run_posted();
      each.run_deferred();
    }
  }

  BlockPool blocks_{4096, 256};
  Directory directory_;
  std::deque<TestTurn> turns_;
  std::vector<std::unique_ptr<Hub>> hubs_;
  std::vector<std::unique_ptr<TestMember>> members_;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
