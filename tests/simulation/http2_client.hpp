// Http2Client: a client of HTTP/2 on the simulated network: many requests at once, windows that
// it chooses, and the replies by stream.
//
// Owns       its end of the connection and the received bytes.
// Borrows    the world, which must outlive it.
// Thread     one.
// Fails      by failing the test for frames that no server may send. These are a frame beyond a
//            window, a block that cannot be decoded, a frame behind the end of its stream.
// Invariant  it sends no more than the server's windows allow.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "katana/wire/http2/peer_test.hpp"
#include "tests/simulation/channel.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {

struct Http2Reply {
  std::string status;
  std::string content;
  http2::Fields fields;
  bool begun = false;
  bool ended = false;
  std::int64_t reset = -1;   // the code of RST_STREAM
  std::size_t ended_as = 0;  // its position among all that ended
};

struct Http2ClientOptions {
  Site site = Site::trial;
  std::uint32_t stream_window = http2::default_window_bytes;
  std::uint32_t connection_window = http2::default_window_bytes;
  bool opens_windows = true;  // as it receives
};

class Http2Client {
 public:
  Http2Client(World& world, const Http2ClientOptions& options = {})
      : world_(world), options_(options), channel_(world) {
    channel_.on_bytes = [this](Bytes bytes) { take(bytes); };
    channel_.connect(options.site, {"h2"});
    channel_.send(http2::client_preface);
    send(http2::FrameType::settings, 0, 0,
         http2::setting(http2::Setting::initial_window_size, options.stream_window));
    window_ = options.connection_window;
    if (window_ > http2::default_window_bytes) {
      send(http2::FrameType::window_update, 0, 0,
           http2::number(options.connection_window - http2::default_window_bytes));
    }
  }

  Channel& channel() { return channel_; }
  engine::SimPeer& peer() { return channel_.peer(); }

  std::uint32_t get(const std::string& path, const http2::Fields& more = {}) {
    return request("GET", path, {}, more);
  }
  std::uint32_t post(const std::string& path, std::string content, const http2::Fields& more = {}) {
    return request("POST", path, std::move(content), more);
  }
  // Sends a request of any method. Without content its head is all of it.
  std::uint32_t ask(const std::string& method, const std::string& path, std::string content,
                    const http2::Fields& more = {}) {
    if (content.empty()) return head(method, path, more, true);
    return request(method, path, std::move(content), more);
  }
  // Head alone; its content never comes.
  std::uint32_t begin_post(const std::string& path) {
    const std::uint32_t id = head("POST", path, {}, false);
    return id;
  }
  void send(http2::FrameType type, unsigned flags, std::uint32_t stream, Bytes payload) {
    channel_.send(http2::frame(type, flags, stream, payload));
  }

  // Extended CONNECT (RFC 8441). Data on the stream follows with send_data().
  std::uint32_t connect(const std::string& path, const http2::Fields& more = {}) {
    const std::uint32_t id = head("CONNECT", path, connecting(more), false);
    send_windows_[id] = http2::default_window_bytes;
    uploads_[id] = {};
    return id;
  }
  std::uint32_t connect_and_end(const std::string& path) {
    return head("CONNECT", path, connecting({}), true);
  }
  std::uint32_t plain_connect(const std::string& authority) {
    return send_head({{":method", "CONNECT"}, {":authority", authority}}, false);
  }
  void send_data(std::uint32_t id, Bytes bytes, bool ends = false) {
    const auto found = uploads_.find(id);
    if (found == uploads_.end()) {  // the reply is over: its end is all that may follow
      if (ends && replies_[id].reset < 0) {
        send(http2::FrameType::data, http2::flag_end_stream, id, bytes);
      }
      return;
    }
    found->second.left += bytes;
    found->second.ends = ends;
    upload();
  }
  std::function<void(std::uint32_t)> on_head;  // the head of a reply
  // Every piece of a reply's content, as it comes.
  std::function<void(std::uint32_t, Bytes)> on_content;
  std::function<void(std::uint32_t)> on_end;  // the end of a reply, in order or not
  bool knows_connect() const { return knows_connect_; }

  void open_window(std::uint32_t more) {
    window_ += more;
    send(http2::FrameType::window_update, 0, 0, http2::number(more));
  }
  void open_window_of(std::uint32_t id, std::uint32_t more) {
    receive_windows_[id] += more;
    send(http2::FrameType::window_update, 0, id, http2::number(more));
  }

  Http2Reply& reply(std::uint32_t id) { return replies_[id]; }
  bool is_over(std::uint32_t id) { return replies_[id].ended || replies_[id].reset >= 0; }
  std::size_t over() const {
    std::size_t count = 0;
    for (const auto& [id, reply] : replies_) count += reply.ended || reply.reset >= 0 ? 1 : 0;
    return count;
  }
  std::size_t begun() const {
    std::size_t count = 0;
    for (const auto& [id, reply] : replies_) count += reply.begun ? 1 : 0;
    return count;
  }
  bool wait_for_all(Duration limit = seconds(600)) {
    return world_.run_while_not(
        [&] { return over() == replies_.size() || goaway_ > 0 || peer().over(); }, limit);
  }
  // The code of GOAWAY; -1: none came.
  std::int64_t goaway() const { return goaway_; }

 private:
  std::uint32_t head(const std::string& method, const std::string& path, const http2::Fields& more,
                     bool ends) {
    const char* const scheme = options_.site == Site::trial_tls ? "https" : "http";
    http2::Fields fields = {
        {":method", method}, {":scheme", scheme}, {":path", path}, {":authority", "sim.example"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return send_head(fields, ends);
  }
  static http2::Fields connecting(const http2::Fields& more) {
    http2::Fields fields = {{":protocol", "websocket"}};
    fields.insert(fields.end(), more.begin(), more.end());
    fields.emplace_back("sec-websocket-version", "13");
    return fields;
  }

  std::uint32_t send_head(const http2::Fields& fields, bool ends) {
    const std::uint32_t id = next_id_;
    next_id_ += 2;
    replies_[id];
    receive_windows_[id] = options_.stream_window;
    send_windows_[id] = 0;
    send(http2::FrameType::headers,
         http2::flag_end_headers | (ends ? unsigned{http2::flag_end_stream} : 0u), id,
         deflater_.block(fields));
    return id;
  }

  std::uint32_t request(const std::string& method, const std::string& path, std::string content,
                        const http2::Fields& more) {
    const bool ends = method == "GET";
    const std::uint32_t id = head(method, path, more, ends);
    if (ends) return id;
    uploads_[id] = {std::move(content), true};
    // The server's windows are unknown before its SETTINGS.
    send_windows_[id] = http2::default_window_bytes;
    upload();
    return id;
  }

  void upload() {
    for (auto it = uploads_.begin(); it != uploads_.end();) {
      const auto id = it->first;
      std::string& left = it->second.left;
      bool ends = false;
      while (!ends) {
        const auto room = std::min<std::int64_t>({send_window_, send_windows_[id], 16'384});
        if (left.empty() ? !it->second.ends : room <= 0) break;
        const std::size_t size =
            std::min(left.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, room)));
        ends = it->second.ends && size == left.size();
        send(http2::FrameType::data, ends ? unsigned{http2::flag_end_stream} : 0u, id,
             Bytes(left).substr(0, size));
        left.erase(0, size);
        send_window_ -= static_cast<std::int64_t>(size);
        send_windows_[id] -= static_cast<std::int64_t>(size);
      }
      it = ends || is_over(id) ? uploads_.erase(it) : std::next(it);
    }
  }

  void take(Bytes more) {
    kept_ += more;
    while (kept_.size() >= http2::frame_header_bytes) {
      const http2::FrameHeader header = http2::parse_frame_header(kept_.data());
      const std::size_t size = http2::frame_header_bytes + header.size;
      if (kept_.size() < size) break;
      const std::string payload = kept_.substr(http2::frame_header_bytes, header.size);
      kept_.erase(0, size);
      on_frame(header, payload);
    }
    upload();
  }

  void on_frame(const http2::FrameHeader& header, const std::string& payload) {
    using http2::FrameType;
    switch (header.type) {
      case FrameType::headers: on_headers(header, payload); break;
      case FrameType::data: on_data(header, payload); break;
      case FrameType::rst_stream:
        replies_[header.stream].reset = http2::parse_number(payload.data(), 4);
        uploads_.erase(header.stream);
        if (on_end) on_end(header.stream);
        break;
      case FrameType::settings:
        if (header.has(http2::flag_ack)) break;
        knows_connect_ = payload.find(http2::setting(http2::Setting::enable_connect_protocol, 1)) !=
                         std::string::npos;
        send(FrameType::settings, http2::flag_ack, 0, {});
        break;
      case FrameType::ping:
        if (!header.has(http2::flag_ack)) send(FrameType::ping, http2::flag_ack, 0, payload);
        break;
      case FrameType::window_update: {
        const auto more = http2::parse_number(payload.data(), 4);
        (header.stream == 0 ? send_window_ : send_windows_[header.stream]) += more;
        break;
      }
      case FrameType::goaway:
        goaway_ = std::max<std::int64_t>(goaway_, http2::parse_number(payload.data() + 4, 4));
        break;
      default: ADD_FAILURE() << "a server does not send " << static_cast<int>(header.type);
    }
  }

  void on_headers(const http2::FrameHeader& header, const std::string& payload) {
    Http2Reply& reply = replies_[header.stream];
    EXPECT_FALSE(reply.ended) << "a head behind the end of stream " << header.stream;
    ASSERT_TRUE(inflater_.begin());
    Bytes block = payload, name, value;
    std::string status;
    http2::Fields fields;
    while (true) {
      const auto got = inflater_.next(block, name, value);
      ASSERT_NE(got, http2::Inflater::Got::failure);
      if (got == http2::Inflater::Got::end) break;
      if (name == ":status") status = value;
      fields.emplace_back(name, value);
    }
    if (status == "100") return;
    reply.status = status;
    reply.fields = std::move(fields);
    reply.begun = true;
    if (on_head) on_head(header.stream);
    if (!header.has(http2::flag_end_stream)) return;
    end(reply);
    if (on_end) on_end(header.stream);
  }

  void on_data(const http2::FrameHeader& header, const std::string& payload) {
    Http2Reply& reply = replies_[header.stream];
    EXPECT_TRUE(reply.begun && !reply.ended) << "data outside of a reply on " << header.stream;
    reply.content += payload;
    if (on_content) on_content(header.stream, payload);
    window_ -= header.size;
    receive_windows_[header.stream] -= header.size;
    EXPECT_GE(window_, 0) << "more than the window of the connection";
    EXPECT_GE(receive_windows_[header.stream], 0) << "more than the window of " << header.stream;
    if (header.has(http2::flag_end_stream)) {
      end(reply);
      if (on_end) on_end(header.stream);
    }
    if (!options_.opens_windows || header.size == 0) return;
    send(http2::FrameType::window_update, 0, 0, http2::number(header.size));
    window_ += header.size;
    if (reply.ended) return;
    send(http2::FrameType::window_update, 0, header.stream, http2::number(header.size));
    receive_windows_[header.stream] += header.size;
  }

  void end(Http2Reply& reply) {
    reply.ended = true;
    reply.ended_as = ++ended_;
  }

  struct Upload {
    std::string left;
    bool ends = false;
  };

  World& world_;
  const Http2ClientOptions options_;
  Channel channel_;
  http2::Deflater deflater_;
  http2::Inflater inflater_;
  std::map<std::uint32_t, Http2Reply> replies_;
  std::map<std::uint32_t, Upload> uploads_;
  std::map<std::uint32_t, std::int64_t> send_windows_;
  std::map<std::uint32_t, std::int64_t> receive_windows_;
  std::string kept_;
  std::int64_t send_window_ = http2::default_window_bytes;
  std::int64_t window_ = 0;
  std::int64_t goaway_ = -1;
  std::size_t ended_ = 0;
  std::uint32_t next_id_ = 1;
  bool knows_connect_ = false;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
