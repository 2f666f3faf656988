// `Peer`: a client's side of HTTP/2 for tests, frame by frame, and a Bench that runs a machine.
//
// Owns       the compression of its requests (nghttp2's deflater), and the output of the machine.
// Thread     one.
// Invariant  only frames that a test asked for are sent.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/wire/http2/machine.hpp"

namespace katana::http2 {

using Fields = std::vector<std::pair<std::string, std::string>>;

inline const Fields get_root = {
    {":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a.example"}};
inline const Fields post_root = {
    {":method", "POST"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a.example"}};

inline std::string frame(FrameType type, unsigned flags, std::uint32_t stream, Bytes payload = {}) {
  std::string text(frame_header_bytes, '\0');
  put_frame_header(text.data(), {static_cast<std::uint32_t>(payload.size()), type,
                                 static_cast<std::uint8_t>(flags), stream});
  return text + std::string(payload);
}
inline std::string number(std::uint32_t value) {
  std::string text(4, '\0');
  put_number(text.data(), value, 4);
  return text;
}
inline std::string setting(Setting name, std::uint32_t value) {
  std::string text(2, '\0');
  put_number(text.data(), static_cast<std::uint16_t>(name), 2);
  return text + number(value);
}

// Leaves not a byte of room.
inline void fill(Outbox& outbox) {
  for (std::size_t bytes = 1024; bytes != 0; bytes /= 2) {
    while (outbox.reserve(bytes) != nullptr) outbox.commit(bytes);
  }
}

class Deflater {
 public:
  Deflater() { EXPECT_EQ(nghttp2_hd_deflate_new(&state_, 4096), 0); }
  ~Deflater() { nghttp2_hd_deflate_del(state_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  std::string block(const Fields& fields) {
    std::vector<nghttp2_nv> pairs;
    for (const auto& [name, value] : fields) {
      pairs.push_back({bytes(name), bytes(value), name.size(), value.size(), 0});
    }
    std::string out(nghttp2_hd_deflate_bound(state_, pairs.data(), pairs.size()), '\0');
    const auto size =
        nghttp2_hd_deflate_hd(state_, bytes(out), out.size(), pairs.data(), pairs.size());
    EXPECT_GE(size, 0);
    out.resize(static_cast<std::size_t>(size));
    return out;
  }

 private:
  static std::uint8_t* bytes(const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  }
  nghttp2_hd_deflater* state_ = nullptr;
};

// A frame that the machine sent, as text: "HEADERS 1 end", "RST_STREAM 3 PROTOCOL_ERROR".
inline std::string describe(const FrameHeader& header, Bytes payload) {
  static constexpr std::array<const char*, 10> names = {
      "DATA",         "HEADERS", "PRIORITY", "RST_STREAM",    "SETTINGS",
      "PUSH_PROMISE", "PING",    "GOAWAY",   "WINDOW_UPDATE", "CONTINUATION"};
  std::string text = names.at(static_cast<std::size_t>(header.type));
  text += " " + std::to_string(header.stream);
  const auto value = [&](std::size_t at) { return parse_number(payload.data() + at, 4); };
  switch (header.type) {
    case FrameType::data: text += " " + std::to_string(payload.size()); [[fallthrough]];
    case FrameType::headers:
      if (header.has(flag_end_stream)) text += " end";
      break;
    case FrameType::settings:
    case FrameType::ping:
      if (header.has(flag_ack)) text += " ack";
      break;
    case FrameType::rst_stream: text += " error " + std::to_string(value(0)); break;
    case FrameType::goaway: text += " error " + std::to_string(value(4)); break;
    case FrameType::window_update: text += " " + std::to_string(value(0)); break;
    default: break;
  }
  return text;
}

inline std::vector<std::string> describe_all(Bytes sent) {
  std::vector<std::string> frames;
  while (sent.size() >= frame_header_bytes) {
    const FrameHeader header = parse_frame_header(sent.data());
    const Bytes payload = sent.substr(frame_header_bytes, header.size);
    if (payload.size() < header.size) {
      frames.emplace_back("cut off");
      break;
    }
    frames.push_back(describe(header, payload));
    sent.remove_prefix(frame_header_bytes + header.size);
  }
  return frames;
}

// The sum of the WINDOW_UPDATE frames of a stream; for stream 0, of the connection.
inline std::uint64_t window_updates(const std::vector<std::string>& sent, std::uint32_t stream) {
  const std::string begin = "WINDOW_UPDATE " + std::to_string(stream) + " ";
  std::uint64_t sum = 0;
  for (const std::string& each : sent) {
    if (each.starts_with(begin)) sum += std::stoul(each.substr(begin.size()));
  }
  return sum;
}

// A machine, the time that a test lets pass, and a caller that takes content at once.
template <class ContextType, class MachineType, class StreamType, class StepType>
class BenchOf {
 public:
  BenchOf(const BenchOf&) = delete;
  BenchOf& operator=(const BenchOf&) = delete;

  MachineType& machine() { return machine_; }
  Outbox& outbox() { return outbox_; }
  Instant now() const { return now_; }
  void pass(Duration time) { now_ = now_ + time; }

  // Pieces of at most `most` bytes, as they would arrive one after another.
  void feed(Bytes input, std::size_t most = SIZE_MAX) {
    while (!input.empty()) {
      const std::size_t size = std::min(most, input.size());
      kept_ += input.substr(0, size);
      input.remove_prefix(size);
      pull();
    }
  }
  // Feeds as a caller that does not take content.
  void feed_untaken(Bytes input) {
    takes_ = false;
    feed(input);
    takes_ = true;
  }
  // Sends the same again and again: the connection takes as much as it must, and a little more ends
  // it.
  void expect_flood_ends(Bytes flood, Failure with) {
    // The SETTINGS that open a connection are paid already, and a request has earned some of that.
    const std::uint32_t cost =
        with == Failure::settings_flood ? IdleBudget::settings_cost : IdleBudget::frame_cost;
    const std::uint32_t most = (Limits().idle_frames_max - IdleBudget::settings_cost) / cost;
    for (std::uint32_t count = 0; count < most; ++count) feed(flood);
    EXPECT_EQ(failure(), Failure::none) << text_of(with).name;
    for (std::uint32_t count = 0; count < 20; ++count) feed(flood);
    EXPECT_EQ(failure(), with) << text_of(with).name;
  }
  // The time that is left ends the connection.
  void expect_end_after(Duration due, Failure with) {
    EXPECT_EQ(machine_.deadline(), now_ + due);
    pass(due);
    machine_.on_deadline(now_, outbox_);
    EXPECT_TRUE(machine_.closed());
    EXPECT_EQ(failure(), with);
  }
  // More content than a window holds, on a stream of which all is taken.
  void expect_windows_open_again(std::uint32_t stream) {
    for (int index = 0; index < 40; ++index) {
      feed(frame(FrameType::data, 0, stream, std::string(16'000, 'x')));
    }
    EXPECT_EQ(failure(), Failure::none);
    const auto updates = sent();
    EXPECT_GE(window_updates(updates, stream), 40u * 16'000 - 64 * 1024);
    EXPECT_GE(window_updates(updates, 0), 40u * 16'000 - 256 * 1024);
  }
  std::string take_sent() {
    std::string text;
    outbox_.for_each_pending([&](Bytes bytes, const Retained*) { text += bytes; });
    outbox_.clear();
    return text;
  }
  std::vector<std::string> sent() { return describe_all(take_sent()); }
  const std::vector<std::string>& events() const { return events_; }
  Failure failure() const { return machine_.failure(); }

 protected:
  template <class... Arguments>
  explicit BenchOf(std::uint32_t blocks, const Arguments&... of_context)
      : context_(of_context...), blocks_(4096, blocks) {
    EXPECT_TRUE(machine_.start(outbox_));
  }
  ~BenchOf() = default;

  // Called for every event but the end of the connection.
  virtual void report(const StepType& step) = 0;

  ContextType context_;
  BlockPool blocks_;
  Outbox outbox_{blocks_};
  Instant now_ = Instant{} + seconds(100);
  MachineType machine_{context_, now_};
  Deflater deflater_;
  std::list<StreamType> streams_;
  std::vector<std::string> events_;
  bool takes_ = true;

 private:
  void pull() {
    using Kind = decltype(StepType::event);
    for (;;) {
      const StepType step = machine_.next(kept_, now_, outbox_);
      if (step.event == Kind::closed) {
        if (!closed_) events_.push_back("closed " + std::string(text_of(failure()).name));
        closed_ = true;
        return;
      }
      report(step);
      kept_.erase(0, step.consumed);
      if (step.event == Kind::need_bytes && (step.consumed == 0 || kept_.empty())) return;
    }
  }

  std::string kept_;
  bool closed_ = false;
};

// A server's machine, and a caller that accepts every request. It answers none without a call.
class Bench final : public BenchOf<Context, Machine, Stream, Step> {
 public:
  // `extended`: as Context.
  explicit Bench(const Limits& limits = {}, bool extended = false)
      : BenchOf(4096, limits, extended) {}
  ~Bench() {
    for (Stream& stream : streams_) {
      if (is_listed(stream)) machine_.reset(stream, ErrorCode::cancel, now_, outbox_);
    }
  }

  void open(Bytes settings = {}) {
    feed(std::string(client_preface) + frame(FrameType::settings, 0, 0, settings));
    (void)take_sent();
  }
  std::uint32_t request(const Fields& fields, bool ends = true) {
    const std::uint32_t id = next_id_;
    next_id_ += 2;
    feed(frame(FrameType::headers, flag_end_headers | (ends ? unsigned{flag_end_stream} : 0u), id,
               deflater_.block(fields)));
    return id;
  }
  Deflater& deflater() { return deflater_; }
  Stream& stream(std::uint32_t id) {
    for (Stream& each : streams_) {
      if (each.id == id) return each;
    }
    ADD_FAILURE() << "no stream " << id;
    return streams_.front();
  }
  // Sends the whole reply, or as much of it as the windows allow.
  Bytes respond(std::uint32_t id, Bytes content, unsigned status = 200) {
    http::ReplyHead head;
    head.status = status;
    EXPECT_TRUE(machine_.respond(stream(id), head, content, false, SIZE_MAX, now_, outbox_));
    return content;
  }
  const http::Head& head() const { return context_.reader.head(); }
  bool asks_upgrade() const { return context_.reader.asks_upgrade(); }

 private:
  bool is_listed(const Stream& wanted) const {
    for (Stream* each = machine_.first(); each != nullptr; each = each->next_in_list()) {
      if (each == &wanted) return true;
    }
    return false;
  }
  void note(std::string text) { events_.push_back(std::move(text)); }

  void report(const Step& step) override {
    const std::string last = step.last ? " last" : "";
    switch (step.event) {
      case Event::head:
      case Event::refused: {
        machine_.admit(streams_.emplace_back());
        const http::Head& head = context_.reader.head();
        note((step.event == Event::head
                  ? "head " + std::string(head.method_text()) + " " + std::string(head.target())
                  : "refused " + std::to_string(context_.reader.status())) +
             last);
        break;
      }
      case Event::content:
        content_ += machine_.content();
        if (step.last) note("content " + std::exchange(content_, {}) + last);
        if (takes_) machine_.consume(step.stream, machine_.content().size(), outbox_);
        break;
      case Event::over: note("over " + std::to_string(step.stream->id)); break;
      case Event::need_bytes:
      case Event::room:
      case Event::closed: break;
    }
  }

  std::string content_;
  std::uint32_t next_id_ = 1;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
