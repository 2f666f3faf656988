// NodeNet: nodes that exchange frames on a network of delays, losses and cuts, in virtual time. It
// records the notices that each node gives.
//
// Owns       its nodes and the frames that are under way.
// Thread     one.
// Invariant  the same seed and the same calls give the same run. Between two nodes frames keep
//            their order.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/chat/cluster/node.hpp"
#include "katana/base/values/random.hpp"

namespace katana::chat::cluster {

class NodeNet {
 public:
  struct Claimed {
    std::string name;
    bool granted = false;
  };

  // The surroundings of one node.
  class Server final : public NodeHost {
   public:
    Server(NodeNet& net, const ClusterOptions& options)
        : net_(net), id_(options.id), node_(std::make_unique<Node>(options, *this, roster)) {}

    Node& node() { return *node_; }
    NodeId id() const { return id_; }
    bool runs() const { return node_ != nullptr; }
    void kill() { node_.reset(); }

    void set_room(const std::string& room, std::uint32_t members) {
      RoomRecord record{room, members, {}};
      if (members > 0)
        record.first.push_back({node().slot() + 1000ULL, "USER" + std::to_string(id_)});
      node().on_local_room(std::move(record), net_.now);
    }
    // A message of a member: the members of the others get it, and those here.
    void say(const std::string& room, std::uint32_t messages = 1) {
      ++said_batches;
      if (!outward.contains(room)) return;
      const Node::Said said = node().said(room, messages);
      if (said.wanted) net_.spread(*this, room, {id_, said.first, messages});
    }
    std::uint64_t who(const std::string& room) const {
      std::vector<Person> names;
      return roster.add_to(room, 100, names);
    }

    Roster roster;
    std::map<std::string, bool> outward;
    std::map<std::string, bool> watched;
    std::uint64_t said_batches = 0;
    std::map<std::pair<std::string, NodeId>, std::uint64_t> delivered;
    std::map<std::string, std::uint64_t> missed;
    std::map<std::pair<std::string, NodeId>, std::uint64_t> next;  // in order
    bool disorder = false;
    std::map<std::uint64_t, Claimed> claimed;
    std::vector<std::string> lost_names;
    std::vector<std::string> went;
    std::uint64_t members_gone = 0;

   private:
    friend class NodeNet;
    void broadcast(Bytes frame) override { net_.post(*this, 0, std::string(frame)); }
    void send(NodeId to, Bytes frame) override { net_.post(*this, to, std::string(frame)); }
    void watch(Bytes room) override { watched[std::string(room)] = true; }
    void unwatch(Bytes room) override {
      watched.erase(std::string(room));
      outward.erase(std::string(room));
    }
    void set_outward(Bytes room) override { outward[std::string(room)] = true; }
    void on_missed(Bytes room, std::uint64_t messages) override {
      missed[std::string(room)] += messages;
    }
    void on_claim_decided(std::uint64_t token, Bytes name, bool granted) override {
      claimed[token] = {std::string(name), granted};
    }
    void on_name_lost(Bytes name) override { lost_names.emplace_back(name); }
    void on_slot(std::uint16_t, std::uint16_t) override {}
    void on_came(Bytes, double) override {}
    void on_went(Bytes name, bool) override { went.emplace_back(name); }
    void on_slot_twice(Bytes, std::uint16_t) override {}
    void on_members_gone(Bytes, std::uint32_t members) override { members_gone += members; }

    void on_batch(const std::string& room, const BatchStamp& stamp) {
      const auto arrival = node().arrived(room, stamp, net_.now);
      if (arrival.missing > 0) on_missed(room, arrival.missing);
      if (!arrival.fresh) return;
      std::uint64_t& expected = next[{room, stamp.from}];
      if (stamp.first < expected) disorder = true;
      expected = stamp.first + stamp.messages;
      delivered[{room, stamp.from}] += stamp.messages;
    }

    NodeNet& net_;
    NodeId id_;
    std::unique_ptr<Node> node_;
  };

  explicit NodeNet(std::uint64_t seed) : random(seed) {}

  Server& add(const std::string& name, ClusterOptions options = {}) {
    options.id = ++last_id_;
    options.name = name;
    Server& server = *servers.emplace_back(std::make_unique<Server>(*this, options));
    server.node().start(now);
    return server;
  }
  void cut(const Server& one, const Server& other) { cuts_.push_back({one.id(), other.id()}); }
  void heal() { cuts_.clear(); }

  void run_for(Duration duration) {
    const Instant end = now + duration;
    while (now < end) {
      now = now + milliseconds(1);
      deliver_due();
      for (const auto& each : servers) {
        if (each->runs() && each->node().deadline() <= now) each->node().on_deadline(now);
      }
    }
  }

  Instant now{1'000'000'000};
  Random random;
  std::uint32_t loss_per_1024 = 0;
  Duration delay_max = milliseconds(2);
  std::vector<std::unique_ptr<Server>> servers;

 private:
  struct Sent {
    Instant due;
    Server* to;
    std::string frame;  // empty: a batch
    std::string room;
    BatchStamp stamp;
  };

  bool is_cut(NodeId one, NodeId other) const {
    return std::ranges::any_of(cuts_, [&](const auto& cut) {
      return cut == std::pair(one, other) || cut == std::pair(other, one);
    });
  }
  void put(const Server& from, Server& to, Sent sent) {
    if (&from == &to || !to.runs() || is_cut(from.id(), to.id())) return;
    if (random.chance(loss_per_1024)) return;
    auto& link = links_[{from.id(), to.id()}];
    sent.due = now + nanoseconds(static_cast<std::int64_t>(
                         random.below(static_cast<std::uint64_t>(delay_max.ns))));
    if (!link.empty()) sent.due = std::max(sent.due, link.back().due);
    sent.to = &to;
    link.push_back(std::move(sent));
  }
  void post(const Server& from, NodeId to, const std::string& frame) {
    for (const auto& each : servers) {
      if (to == 0 || each->id() == to) put(from, *each, {now, nullptr, frame, {}, {}});
    }
  }
  void spread(const Server& from, const std::string& room, const BatchStamp& stamp) {
    for (const auto& each : servers) {
      if (each->watched.contains(room)) put(from, *each, {now, nullptr, {}, room, stamp});
    }
  }
  void deliver_due() {
    for (auto& [ends, link] : links_) {
      while (!link.empty() && link.front().due <= now) {
        const Sent sent = std::move(link.front());
        link.pop_front();
        if (!sent.to->runs() || is_cut(ends.first, ends.second)) continue;
        if (sent.frame.empty()) {
          sent.to->on_batch(sent.room, sent.stamp);
        } else if (const auto head = read_head(sent.frame)) {
          sent.to->node().on_frame(*head, now);
        }
      }
    }
  }

  NodeId last_id_ = 0;
  std::vector<std::pair<NodeId, NodeId>> cuts_;
  std::map<std::pair<NodeId, NodeId>, std::deque<Sent>> links_;
};

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
