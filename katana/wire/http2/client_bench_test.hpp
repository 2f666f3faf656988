// ClientBench: a client machine, and a caller that takes content at once, for tests.
//
// Owns       its streams, and the output and the events of the machine.
// Thread     one.
// Fails      the test, when a stream is let go of twice or content comes after the end.
#pragma once

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/wire/http2/client_machine.hpp"
#include "katana/wire/http2/peer_test.hpp"

namespace katana::http2 {

inline std::string name_of(Lost lost) {
  static constexpr std::array<const char*, 6> names = {"none",        "reset",     "refused",
                                                       "unprocessed", "malformed", "too_large"};
  return names.at(static_cast<std::size_t>(lost));
}

class ClientBench final : public BenchOf<ClientContext, ClientMachine, ClientStream, ClientStep> {
 public:
  explicit ClientBench(const Limits& limits = {}) : BenchOf(256, limits), preface_(take_sent()) {}
  ~ClientBench() {
    while (ClientStream* const stream = machine_.first()) {
      machine_.reset(*stream, ErrorCode::cancel, outbox_);
    }
  }

  const std::string& preface() const { return preface_; }
  const ReplyReader& reader() const { return context_.reader; }

  // The server's side of the preface, with a setting or several.
  void open(Bytes settings = {}) {
    feed(frame(FrameType::settings, 0, 0, settings));
    (void)take_sent();
  }
  ClientStream& begin(const RequestHead& head, bool last = true) {
    ClientStream& stream = streams_.emplace_back();
    const Begun begun = machine_.begin(stream, head, last, outbox_);
    EXPECT_EQ(begun, Begun::yes);
    return stream;
  }
  ClientStream& begin(Bytes method = "GET", bool last = true) {
    RequestHead head;
    head.method = method;
    head.authority = "a.example";
    return begin(head, last);
  }
  Begun try_begin() {
    RequestHead head;
    head.authority = "a.example";
    return machine_.begin(streams_.emplace_back(), head, true, outbox_);
  }
  std::string reply(std::uint32_t id, const Fields& fields, bool ends = false) {
    return frame(FrameType::headers, flag_end_headers | (ends ? unsigned{flag_end_stream} : 0u), id,
                 deflater_.block(fields));
  }

 private:
  void note(const ClientStep& step, std::string text) {
    const std::uint32_t id = step.stream->id;
    std::string& content = contents_[id];
    if (!content.empty()) events_.push_back("content " + std::to_string(id) + " " + content);
    content.clear();
    if (!text.empty()) events_.push_back(text + (step.last ? " last" : ""));
    const bool is_over = step.stream->state == ClientStreamState::closed;
    EXPECT_EQ(is_over && !over_.insert(id).second, false) << "stream " << id << " ends twice";
  }

  void report(const ClientStep& step) override {
    const std::string id = step.stream != nullptr ? std::to_string(step.stream->id) : "";
    const std::string status = std::to_string(context_.reader.status());
    switch (step.event) {
      case ClientEvent::need_bytes:
      case ClientEvent::room:
      case ClientEvent::closed: return;
      case ClientEvent::interim: return note(step, "interim " + id + " " + status);
      case ClientEvent::head: return note(step, "head " + id + " " + status);
      case ClientEvent::content:
        contents_[step.stream->id] += machine_.content();
        if (takes_) machine_.consume(step.stream, machine_.content().size(), outbox_);
        if (step.last) note(step, "end " + id);
        return;
      case ClientEvent::trailers: return note(step, "trailers " + id);
      case ClientEvent::over:
        return note(step, "over " + id + " " + name_of(step.lost) + " " +
                              std::to_string(static_cast<std::uint32_t>(step.code)));
      case ClientEvent::goaway:
        events_.push_back("goaway " + std::to_string(static_cast<std::uint32_t>(step.code)));
    }
  }

  std::map<std::uint32_t, std::string> contents_;
  std::set<std::uint32_t> over_;
  std::string preface_;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
