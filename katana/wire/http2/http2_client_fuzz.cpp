// For any bytes of a server, cut anywhere: the client machine reports the same events, every stream
// ends once, windows hold, and what it sends is whole frames.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "katana/base/block_pool.hpp"
#include "katana/wire/http2/client_machine.hpp"

namespace katana::http2 {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Four requests are on their way: without content, with content that is being sent, for a head
// alone, and one more. Whenever one ends another begins, up to sixteen.
class Run {
 public:
  explicit Run(std::size_t most) : most_(most) {
    require(machine_.start(outbox_));
    outbox_.clear();
    for (const Bytes method : {"GET", "POST", "HEAD", "GET"}) begin(method);
    outbox_.clear();
  }
  ~Run() {
    while (ClientStream* const stream = machine_.first()) {
      machine_.reset(*stream, ErrorCode::cancel, outbox_);
    }
  }

  std::string feed(Bytes input) {
    std::string kept;
    for (std::size_t at = 0; at < input.size() && !machine_.closed(); at += most_) {
      kept += input.substr(at, most_);
      pull(kept);
      check_sent();
    }
    for (std::size_t index = 0; index < begun_; ++index) {
      events_ += " " + std::to_string(content_[index]);
    }
    return events_;
  }

 private:
  void begin(Bytes method) {
    if (begun_ == streams_.size() || !machine_.can_begin()) return;
    RequestHead head;
    head.method = method;
    head.authority = "a";
    const Begun begun = machine_.begin(streams_[begun_], head, method != "POST", outbox_);
    require(begun == Begun::yes || begun == Begun::too_large);  // the server may want a tiny head
    if (begun == Begun::yes) ++begun_;
  }

  void pull(std::string& kept) {
    for (;;) {
      const ClientStep step = machine_.next(kept, now_, outbox_);
      require(step.consumed <= kept.size());
      if (step.event == ClientEvent::closed) {
        events_ += "closed " + std::string(text_of(machine_.failure()).name);
        return;
      }
      report(step);
      kept.erase(0, step.consumed);
      if (step.event == ClientEvent::need_bytes && (step.consumed == 0 || kept.empty())) return;
    }
  }

  void report(const ClientStep& step) {
    const auto note = [&](const char* what) {
      events_ += what + std::to_string(step.stream->id) + (step.last ? "!" : "");
    };
    switch (step.event) {
      case ClientEvent::interim: note("i"); return check_fields();
      case ClientEvent::head:
        note("h");
        events_ += "=" + std::to_string(context_.reader.status());
        return check_fields();
      case ClientEvent::trailers: note("t"); break;
      case ClientEvent::content:
        content_[step.stream->id / 2] += machine_.content().size();
        machine_.consume(step.stream, machine_.content().size(), outbox_);
        if (step.last) note("c");
        break;
      case ClientEvent::over:
        require(step.stream->state == ClientStreamState::closed && step.lost != Lost::none);
        note("o");
        events_ += "=" + std::to_string(static_cast<int>(step.lost));
        break;
      case ClientEvent::goaway: events_ += "goaway"; break;
      case ClientEvent::room: upload(); break;
      default: break;
    }
    if (step.stream != nullptr && step.stream->state == ClientStreamState::closed) begin("GET");
  }

  void check_fields() const {
    const http::Head& fields = context_.reader.fields();
    require(context_.reader.status() >= 100 && context_.reader.status() < 600);
    for (std::size_t index = 0; index < fields.field_count(); ++index) {
      require(fields.name(index).find_first_of("\r\n: ") == Bytes::npos);
      require(fields.value(index).find_first_of("\r\n") == Bytes::npos);
    }
  }

  // At what places of the input depends on nothing but the frames before it.
  void upload() {
    for (ClientStream* each = machine_.first(); each != nullptr; each = each->next_in_list()) {
      if (each->state != ClientStreamState::open) continue;
      Bytes content = "some content";
      require(machine_.write_content(*each, content, false, false, SIZE_MAX, outbox_));
    }
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
    for (const ClientStream* each = machine_.first(); each != nullptr;
         each = each->next_in_list()) {
      require(each->send_window <= window_bytes_max && each->receive_window >= 0);
      require(each->state != ClientStreamState::closed && each->state != ClientStreamState::idle);
    }
  }

  // Once for all runs: making them costs more than a run.
  static ClientContext& shared_context() {
    static ClientContext context{Limits()};
    return context;
  }
  static BlockPool& shared_blocks() {
    static BlockPool blocks(4096, 4096);
    return blocks;
  }

  const std::size_t most_;
  ClientContext& context_ = shared_context();
  Outbox outbox_{shared_blocks()};
  const Instant now_{seconds(100).ns};
  ClientMachine machine_{context_, now_};
  std::array<ClientStream, 16> streams_;
  std::array<std::size_t, 16> content_{};
  std::size_t begun_ = 0;
  std::string events_;
};

}  // namespace
}  // namespace katana::http2

// The first byte says how the rest is cut; SETTINGS are given, or nearly nothing would pass them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  if (size == 0) return 0;
  const std::string input = std::string("\0\0\0\4\0\0\0\0\0", 9) +
                            std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = http2::Run(SIZE_MAX / 2).feed(input);
  const std::string pieces = http2::Run(1 + data[0] % 64).feed(input);
  if (whole != pieces) std::abort();
  return 0;
}
