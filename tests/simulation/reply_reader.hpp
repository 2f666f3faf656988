// ReplyReader: makes whole replies of the bytes that a client receives, in order.
//
// It does not use katana/wire: a mistake there then cannot hide here. It reads the replies that
// this server may send and calls everything else an error.
//
// Owns       the replies.
// Thread     one.
// Fails      error() names the mistake in the bytes; nothing is read after that.
// Invariant  replies() are complete and in the order of the requests that expect() announced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana::simulation {

enum class Framing : std::uint8_t { none, length, chunked, end };

struct ReceivedReply {
  unsigned status = 0;
  // Status line and fields, without the value of Date, which the time decides.
  std::string head;
  std::string content;
  Framing framing = Framing::none;
  bool closes = false;  // it says that the connection ends

  // The head without the fields that frame the content.
  std::string head_without_framing() const;
};

class ReplyReader {
 public:
  // One more reply is to come; `to_head`: to a HEAD request, so without content.
  void expect(bool to_head) { expected_.push_back(to_head); }
  void feed(Bytes bytes);
  // The connection ended in order: a reply may be complete by that.
  void end();

  const std::vector<ReceivedReply>& replies() const noexcept { return replies_; }
  // The part of the next reply that has arrived; its head is empty until it is complete.
  const ReceivedReply& partial() const noexcept { return partial_; }
  bool between_replies() const noexcept { return state_ == State::head && buffer_.empty(); }
  // 100 (Continue) received since the last final reply, and ever.
  unsigned continues() const noexcept { return continues_; }
  unsigned continues_in_all() const noexcept { return continues_in_all_; }
  const std::string& error() const noexcept { return error_; }

 private:
  enum class State : std::uint8_t { head, content, chunk_size, chunk, chunk_end, broken };

  bool step();
  bool read_head();
  void begin_content(std::int64_t length);
  void read_field(const std::string& line, std::int64_t& length);
  bool read_line(std::string& line);
  bool read_chunk_size();
  void take_content();
  void complete();
  bool fail(std::string what);

  std::deque<bool> expected_;
  std::vector<ReceivedReply> replies_;
  ReceivedReply partial_;
  State state_ = State::head;
  std::string buffer_;
  std::size_t at_ = 0;  // in buffer_: read up to here
  std::uint64_t left_ = 0;
  bool last_chunk_ = false;
  bool has_date_ = false;
  unsigned continues_ = 0;
  unsigned continues_in_all_ = 0;
  std::string error_;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
