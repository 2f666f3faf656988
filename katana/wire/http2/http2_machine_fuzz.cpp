// For any bytes, cut anywhere: the machine reports the same events, never sends more than a window
// allows, lets go of every stream once, and what it sends is whole frames.
#include <cstdint>
#include <cstdlib>
#include <list>
#include <map>
#include <string>

#include "katana/base/block_pool.hpp"
#include "katana/wire/http2/machine.hpp"

namespace katana::http2 {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Answers every request with as many octets as its id says.
class Run {
 public:
  explicit Run(std::size_t most) : most_(most) { require(machine_.start(outbox_)); }
  ~Run() {
    while (Stream* const stream = machine_.first()) {
      machine_.reset(*stream, ErrorCode::cancel, now_, outbox_);
    }
  }

  std::string feed(Bytes input) {
    std::string kept;
    for (std::size_t at = 0; at < input.size() && !machine_.closed(); at += most_) {
      kept += input.substr(at, most_);
      pull(kept);
      check_sent();
    }
    return events_;
  }

 private:
  void pull(std::string& kept) {
    for (;;) {
      const Step step = machine_.next(kept, now_, outbox_);
      require(step.consumed <= kept.size());
      if (step.event == Event::closed) {
        events_ += "closed " + std::string(text_of(machine_.failure()).name);
        return;
      }
      if (step.event == Event::head || step.event == Event::refused) answer(step);
      if (step.event == Event::content) {
        content_[step.stream->id] += machine_.content().size();
        machine_.consume(step.stream, machine_.content().size(), outbox_);
        if (step.last) events_ += "content " + std::to_string(content_[step.stream->id]);
      }
      if (step.event == Event::over) {
        require(step.stream->state == StreamState::closed);
        events_ += "over " + std::to_string(step.stream->id);
      }
      kept.erase(0, step.consumed);
      if (step.event == Event::need_bytes && (step.consumed == 0 || kept.empty())) return;
    }
  }

  void answer(const Step& step) {
    Stream& stream = streams_.emplace_back();
    machine_.admit(stream);
    const http::Head& head = context_.reader.head();
    events_ += "head " + std::to_string(stream.id);
    if (step.event == Event::head) {
      events_ += std::string(head.method_text()) + std::string(head.target());
      for (std::size_t index = 0; index < head.field_count(); ++index) {
        require(head.name(index).find_first_of("\r\n: ") == Bytes::npos);
        require(head.value(index).find_first_of("\r\n") == Bytes::npos);
      }
    }
    if (stream.id % 4 == 3) return;  // waits for its content
    const std::string content(stream.id % 300, 'x');
    Bytes rest = content;
    const http::ReplyHead reply;
    require(machine_.respond(stream, reply, rest, false, SIZE_MAX, now_, outbox_) ||
            machine_.closed());
  }

  void check_sent() {
    std::string text;
    outbox_.for_each_pending([&](Bytes bytes, const Retained*) { text += bytes; });
    outbox_.clear();
    for (Bytes sent = text; !sent.empty();) {
      require(sent.size() >= frame_header_bytes);
      const FrameHeader header = parse_frame_header(sent.data());
      require(header.size <= frame_bytes_max && sent.size() >= frame_header_bytes + header.size);
      sent.remove_prefix(frame_header_bytes + header.size);
    }
    for (const Stream* each = machine_.first(); each != nullptr; each = each->next_in_list()) {
      require(each->send_window <= window_bytes_max && each->receive_window >= 0);
      require(each->state != StreamState::closed && each->state != StreamState::idle);
    }
  }

  // Once for all runs: making them costs more than a run.
  static Context& shared_context() {
    static Context context{Limits(), true};
    return context;
  }
  static BlockPool& shared_blocks() {
    static BlockPool blocks(4096, 4096);
    return blocks;
  }

  const std::size_t most_;
  Context& context_ = shared_context();
  Outbox outbox_{shared_blocks()};
  const Instant now_{seconds(100).ns};
  Machine machine_{context_, now_};
  std::list<Stream> streams_;
  std::map<std::uint32_t, std::size_t> content_;
  std::string events_;
};

}  // namespace
}  // namespace katana::http2

// The first byte says how the rest is cut; the preface is given, or nearly nothing would pass it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  if (size == 0) return 0;
  const std::string input = std::string(http2::client_preface) +
                            std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = http2::Run(SIZE_MAX / 2).feed(input);
  const std::string pieces = http2::Run(1 + data[0] % 64).feed(input);
  if (whole != pieces) std::abort();
  return 0;
}
