// Peer: a client's side of HTTP/2 for tests, frame by frame, and a Bench that a machine stands on.
//
// Owns       the compression of its requests (nghttp2's deflater), and what the machine said.
// Thread     one.
// Invariant  nothing is sent but what a test asked for.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/block_pool.hpp"
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

// A machine, and a caller that accepts what comes and takes content at once. It answers nothing by
// itself.
class Bench {
 public:
  // `extended`: as Context.
  explicit Bench(const Limits& limits = {}, bool extended = false) : context_(limits, extended) {
    EXPECT_TRUE(machine_.start(outbox_));
  }
  ~Bench() {
    for (Stream& stream : streams_) {
      if (is_listed(stream)) machine_.reset(stream, ErrorCode::cancel, now_, outbox_);
    }
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Machine& machine() { return machine_; }
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
  // As a caller that does not want content.
  void feed_untaken(Bytes input) {
    takes_ = false;
    feed(input);
    takes_ = true;
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
  // The whole reply, or what the windows take of it.
  Bytes respond(std::uint32_t id, Bytes content, unsigned status = 200) {
    http::ReplyHead head;
    head.status = status;
    EXPECT_TRUE(machine_.respond(stream(id), head, content, false, SIZE_MAX, now_, outbox_));
    return content;
  }
  std::string take_sent() {
    std::string text;
    outbox_.for_each_pending([&](Bytes bytes, const Retained*) { text += bytes; });
    outbox_.clear();
    return text;
  }
  std::vector<std::string> sent() { return describe_all(take_sent()); }
  const std::vector<std::string>& events() const { return events_; }
  const http::Head& head() const { return context_.reader.head(); }
  bool asks_upgrade() const { return context_.reader.asks_upgrade(); }
  Failure failure() const { return machine_.failure(); }

 private:
  bool is_listed(const Stream& wanted) const {
    for (Stream* each = machine_.first(); each != nullptr; each = each->next_in_list()) {
      if (each == &wanted) return true;
    }
    return false;
  }
  void note(std::string text) { events_.push_back(std::move(text)); }

  void pull() {
    for (;;) {
      const Step step = machine_.next(kept_, now_, outbox_);
      const std::string last = step.last ? " last" : "";
      switch (step.event) {
        case Event::need_bytes: break;
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
        case Event::room: break;
        case Event::closed:
          if (!closed_) note("closed " + std::string(text_of(machine_.failure()).name));
          closed_ = true;
          return;
      }
      kept_.erase(0, step.consumed);
      if (step.event == Event::need_bytes && (step.consumed == 0 || kept_.empty())) return;
    }
  }

  Context context_;
  BlockPool blocks_{4096, 4096};
  Outbox outbox_{blocks_};
  Instant now_ = Instant{} + seconds(100);
  Machine machine_{context_, now_};
  Deflater deflater_;
  std::list<Stream> streams_;
  std::vector<std::string> events_;
  std::string kept_;
  std::string content_;
  std::uint32_t next_id_ = 1;
  bool closed_ = false;
  bool takes_ = true;
};

}  // namespace katana::http2
