// Invariant: for any handlers, a machine reports the same requests and writes the same replies,
// however the bytes are cut. There is one reply for each request, in their order.
//
// The first byte of the input chooses limits, and three choose the acts of the handlers. Four bytes
// choose places to cut. The rest are the bytes that a client sends before it ends its side.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/system/check.hpp"
#include "katana/wire/http/status.hpp"
#include "katana/wire/http1/machine.hpp"

namespace {

using katana::Bytes;
using katana::Instant;
using katana::http::ReplyHead;
using katana::http1::Context;
using katana::http1::Event;
using katana::http1::Kernels;
using katana::http1::Limits;
using katana::http1::Machine;
using katana::http1::State;
using katana::http1::Step;

Limits limits_from(std::uint8_t choice) {
  Limits limits;
  if ((choice & 1) != 0) limits.request_line_bytes_max = 40;
  if ((choice & 2) != 0) limits.head_bytes_max = 100;
  if ((choice & 4) != 0) limits.content_bytes_max = 20;
  if ((choice & 8) != 0) limits.chunk_line_bytes_max = 12;
  if ((choice & 16) != 0) limits.trailer_bytes_max = 20;
  limits.request_line_bytes_max =
      std::min(limits.request_line_bytes_max, limits.head_bytes_max - 4);
  return limits;
}

// The manners in which a handler replies to a request.
enum class Manner : std::uint8_t {
  whole,            // replies when the request is complete
  whole_long,       // likewise, with content that is not copied beside the head
  early,            // replies to the head and does not want the content
  by_length,        // begins to reply to the head, ends when the request is complete
  of_no_length,     // likewise, without knowing how long the reply will be
  without_content,  // replies with 204 or 304
  careless,         // makes calls that it must not make
  closing,          // replies, and wants the connection to end
  count_,
};

struct Reply {
  unsigned status;
  std::string content;
  bool operator==(const Reply&) const = default;
};

// All visible results of a run. `replies` are the replies that the handlers meant to send.
struct Run {
  std::string log;
  std::string output;
  std::vector<Reply> replies;
  std::vector<bool> bodiless;  // of each reply: it answers HEAD, or is an interim one
};

// One for all runs, because to reserve its memory takes longer than a run.
katana::BlockPool& blocks() {
  static katana::BlockPool pool(4096, 32);
  return pool;
}

class Driver {
 public:
  Driver(const Limits& limits, Kernels kernels, std::array<std::uint8_t, 3> manners)
      : context_(limits, kernels), manners_(manners) {
    context_.head_writer.set_server_and_date("Server: fuzz\r\n");
  }

  Run run(Bytes text, const std::vector<std::size_t>& ends) {
    for (const std::size_t end : ends) {
      arrived_ = text.substr(0, end);
      pull();
    }
    while (!over_ && machine_.end_of_input()) pull();
    run_.log += content_ + "\nends in " + std::to_string(static_cast<int>(machine_.state()));
    run_.log += machine_.input_may_follow() ? ", input may follow" : "";
    check_end();
    collect_output();
    return std::move(run_);
  }

 private:
  void pull() {
    while (!over_) {
      const Bytes rest = arrived_.substr(consumed_);
      const auto block = std::make_unique<char[]>(rest.size());
      std::ranges::copy(rest, block.get());
      const State before = machine_.state();
      const Step step = machine_.next({block.get(), rest.size()}, now_);
      KATANA_CHECK(step.consumed <= rest.size());
      consumed_ += step.consumed;
      report(step, Bytes(block.get(), step.consumed));
      const bool stalls = step.consumed == 0 && machine_.state() == before;
      if (stalls) return;
    }
  }

  void report(const Step& step, Bytes input) {
    switch (step.event) {
      case Event::need_bytes: KATANA_CHECK(!step.last); break;
      case Event::paused: KATANA_CHECK(false); break;  // every reply is given at once
      case Event::head:
        KATANA_CHECK(context_.head.bytes() == input);
        on_head();
        break;
      case Event::content: on_content(input); break;
      case Event::refused: on_refused(); break;
      case Event::closed: over_ = true; break;
    }
    if (step.last) on_complete();
  }

  void on_head() {
    const auto& head = context_.head;
    run_.log.append(content_).append("\n").append(head.bytes());
    content_.clear();
    ++requests_;
    const std::uint8_t choice = manners_[requests_ % manners_.size()];
    manner_ = static_cast<Manner>(choice % static_cast<unsigned>(Manner::count_));
    is_head_ = head.method() == katana::http::Method::head;
    if ((choice & 64) != 0) (void)machine_.limit_content(choice >> 4);
    if ((choice & 128) != 0 && machine_.state() == State::content) send_continue();
    if (machine_.state() == State::refused) return;
    if (manner_ == Manner::early) respond(404, "early");
    if (manner_ == Manner::by_length) begin(9);
    if (manner_ == Manner::of_no_length) begin(katana::http::unknown_length);
    if (manner_ == Manner::closing) machine_.close_after_reply();
    if (manner_ == Manner::careless) misuse();
  }

  void on_content(Bytes input) {
    const Bytes content = machine_.content();
    if (!content.empty()) {
      KATANA_CHECK(content.data() >= input.data());
      KATANA_CHECK(content.data() + content.size() <= input.data() + input.size());
    }
    content_ += content;
  }

  void on_complete() {
    run_.log += "complete";
    if (machine_.state() != State::reply) return;
    const Step step = machine_.next("GET / HTTP/1.1\r\nHost: a\r\n\r\n", now_);
    KATANA_CHECK(step.event == Event::paused && step.consumed == 0);
    switch (manner_) {
      case Manner::whole_long: respond(200, std::string(1500, 'x')); break;
      case Manner::without_content: respond(requests_ % 2 == 0 ? 204 : 304, "none"); break;
      case Manner::by_length:
      case Manner::of_no_length: finish(); break;
      case Manner::careless: misuse(); [[fallthrough]];
      default: respond(200, std::to_string(requests_)); break;
    }
    KATANA_CHECK(machine_.state() == State::idle || machine_.state() == State::closed);
  }

  void on_refused() {
    run_.log += "refused " + std::to_string(static_cast<int>(machine_.refusal()));
    if (machine_.reply_begun()) {
      finish();
    } else {
      // The method of a malformed head is not known, and counts as no HEAD.
      is_head_ = is_refused_head();
      respond(katana::http1::text_of(machine_.refusal()).status, "refused");
    }
    KATANA_CHECK(machine_.state() == State::closed);
  }

  // Whether the machine takes the request for HEAD: its reply then has no content. The transcripts
  // show which requests these are.
  bool is_refused_head() {
    const Machine before = machine_;
    katana::Outbox outbox(blocks());
    KATANA_CHECK(machine_.respond({}, "x", false, now_, outbox));
    std::array<iovec, 4> pieces{};
    KATANA_CHECK(outbox.gather(pieces) == 1);
    const Bytes output(static_cast<const char*>(pieces[0].iov_base), pieces[0].iov_len);
    machine_ = before;
    return output.ends_with("\r\n\r\n");
  }

  void send_continue() {
    const bool sends = machine_.framing().expects_continue;
    KATANA_CHECK(machine_.send_continue(outbox_) && machine_.send_continue(outbox_));
    if (sends) expect(100, "", true);
  }

  void respond(unsigned status, const std::string& content) {
    const ReplyHead head{.status = status, .content_type = "a/b", .fields = "X: y\r\n"};
    // `content` is gone before the output is collected, so it must not be referred to.
    KATANA_CHECK(machine_.respond(head, content, false, now_, outbox_));
    KATANA_CHECK(!machine_.reply_begun());
    expect(status, content, is_head_);
  }

  void begin(std::int64_t length) {
    const ReplyHead head{.status = 200, .content_type = {}, .fields = {}, .content_length = length};
    KATANA_CHECK(machine_.begin_reply(head, outbox_) && machine_.reply_begun());
    KATANA_CHECK(!machine_.begin_reply(head, outbox_));
  }

  void finish() {
    KATANA_CHECK(machine_.write_content("1234", outbox_) && machine_.write_content("", outbox_));
    KATANA_CHECK(machine_.write_content("56789", outbox_));
    KATANA_CHECK(machine_.end_reply(now_, outbox_));
    expect(200, "123456789", is_head_);
  }

  void expect(unsigned status, std::string content, bool bodiless) {
    run_.replies.push_back({status, std::move(content)});
    run_.bodiless.push_back(bodiless);
    collect_output();
  }

  // None of this may write anything, or stop the reply that is due.
  void misuse() {
    const std::size_t pending = outbox_.pending();
    KATANA_CHECK(!machine_.write_content("x", outbox_) && !machine_.end_reply(now_, outbox_));
    KATANA_CHECK(!machine_.respond({.status = 103, .content_type = {}, .fields = {}}, "x", false,
                                   now_, outbox_));
    machine_.on_deadline(Instant{});
    machine_.restart_deadline(now_);
    KATANA_CHECK(outbox_.pending() == pending);
  }

  void check_end() {
    if (!over_) return;
    KATANA_CHECK(machine_.state() == State::closed && machine_.deadline() == katana::never);
    KATANA_CHECK(machine_.next("GET / HTTP/1.1\r\n", now_).event == Event::closed);
    KATANA_CHECK(!machine_.end_of_input());
    KATANA_CHECK(!machine_.respond({}, "x", false, now_, outbox_));
  }

  void collect_output() {
    std::array<iovec, 64> pieces{};
    const std::size_t count = outbox_.gather(pieces);
    for (std::size_t index = 0; index < count; ++index) {
      run_.output.append(static_cast<const char*>(pieces[index].iov_base), pieces[index].iov_len);
    }
    outbox_.clear();
  }

  Context context_;
  std::array<std::uint8_t, 3> manners_;
  katana::Outbox outbox_{blocks()};
  Instant now_ = Instant{} + katana::seconds(1);
  Machine machine_{context_, now_};
  Bytes arrived_;
  std::size_t consumed_ = 0;
  unsigned requests_ = 0;
  Manner manner_ = Manner::whole;
  bool is_head_ = false;
  bool over_ = false;
  std::string content_;
  Run run_;
};

// A reader of replies that knows no more than a client does (RFC 9112 §6.3).
class Client {
 public:
  explicit Client(Bytes input) : rest_(input) {}

  Reply read(bool bodiless) {
    const std::size_t end = rest_.find("\r\n\r\n");
    KATANA_CHECK(rest_.starts_with("HTTP/1.1 ") && end != Bytes::npos);
    const Bytes head = rest_.substr(0, end + 2);
    rest_.remove_prefix(end + 4);
    const auto status = static_cast<unsigned>(std::stoul(std::string(head.substr(9, 3))));
    closes_ = head.contains("\r\nConnection: close\r\n");
    const bool chunked = head.contains("\r\nTransfer-Encoding: chunked\r\n");
    const std::size_t length_at = head.find("\r\nContent-Length: ");
    KATANA_CHECK(!chunked || length_at == Bytes::npos);
    if (!katana::http::status_has_content(status)) {
      KATANA_CHECK(!chunked && length_at == Bytes::npos);
      return {status, ""};
    }
    if (bodiless) return {status, ""};
    if (chunked) return {status, read_chunks()};
    if (length_at == Bytes::npos) return {status, take(rest_.size())};  // by the end
    return {status, take(std::stoul(std::string(head.substr(length_at + 18))))};
  }
  bool ended() const { return rest_.empty(); }
  bool closes() const { return closes_; }

 private:
  std::string take(std::size_t size) {
    KATANA_CHECK(size <= rest_.size());
    const std::string content(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return content;
  }

  std::string read_chunks() {
    std::string content;
    for (;;) {
      const std::size_t end = rest_.find("\r\n");
      KATANA_CHECK(end != Bytes::npos);
      const std::size_t size = std::stoul(std::string(rest_.substr(0, end)), nullptr, 16);
      rest_.remove_prefix(end + 2);
      content += take(size);
      KATANA_CHECK(take(2) == "\r\n");
      if (size == 0) return content;
    }
  }

  Bytes rest_;
  bool closes_ = false;
};

void check_replies(const Run& run) {
  Client client(run.output);
  for (std::size_t index = 0; index < run.replies.size(); ++index) {
    KATANA_CHECK(!client.closes());
    const Reply& meant = run.replies[index];
    const bool bodiless = run.bodiless[index] || !katana::http::status_has_content(meant.status);
    const Reply got = client.read(run.bodiless[index]);
    KATANA_CHECK(got == (Reply{meant.status, bodiless ? "" : meant.content}));
  }
  KATANA_CHECK(client.ended());
}

bool same(const Run& left, const Run& right) {
  return left.log == right.log && left.output == right.output && left.replies == right.replies;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return 0;
  const Limits limits = limits_from(data[0]);
  const std::array<std::uint8_t, 3> manners = {data[1], data[2], data[3]};
  const Bytes text(reinterpret_cast<const char*>(data) + 8, size - 8);
  std::vector<std::size_t> ends;
  for (std::size_t index = 4; index < 8; ++index) {
    ends.push_back(data[index] * (text.size() / 256 + 1) % (text.size() + 1));
  }
  std::ranges::sort(ends);
  ends.push_back(text.size());
  const Run whole = Driver(limits, Kernels::scalar, manners).run(text, {text.size()});
  check_replies(whole);
  const Run cut = Driver(limits, katana::http1::best_kernels(), manners).run(text, ends);
  KATANA_CHECK(same(cut, whole));
  if (text.size() > 300) return 0;
  for (std::size_t end = 1; end <= text.size(); ++end) ends.push_back(end);
  std::ranges::sort(ends);
  KATANA_CHECK(same(Driver(limits, Kernels::scalar, manners).run(text, ends), whole));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
