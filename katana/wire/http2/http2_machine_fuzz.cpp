// Invariant: for any bytes, however they are cut, the machine reports the same events. It never
// sends more than a window allows, lets go of every stream once, and sends whole frames.
#include <list>
#include <map>
#include <string>

#include "katana/wire/http2/connection_fuzz.hpp"
#include "katana/wire/http2/machine.hpp"

namespace katana::http2 {
namespace {

// The context of all runs: making it costs more than a run.
Context& shared_context() {
  static Context context{Limits(), true};
  return context;
}

// Answers every request with as many bytes as its id.
class Run final : public FuzzRun<Context, Machine, Step> {
 public:
  explicit Run(std::size_t most) : FuzzRun(shared_context(), most) {}
  ~Run() {
    while (Stream* const stream = machine_.first()) {
      machine_.reset(*stream, ErrorCode::cancel, now_, outbox_);
    }
  }

 private:
  void report(const Step& step) override {
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
  }

  void answer(const Step& step) {
    Stream& stream = streams_.emplace_back();
    machine_.admit(stream);
    const http::Head& head = context_.reader.head();
    events_ += "head " + std::to_string(stream.id);
    if (step.event == Event::head) {
      events_ += std::string(head.method_text()) + std::string(head.target());
      check_fields(head);
    }
    if (stream.id % 4 == 3) return;  // waits for its content
    const std::string content(stream.id % 300, 'x');
    Bytes rest = content;
    const http::ReplyHead reply;
    require(machine_.respond(stream, reply, rest, false, SIZE_MAX, now_, outbox_) ||
            machine_.closed());
  }

  std::list<Stream> streams_;
  std::map<std::uint32_t, std::size_t> content_;
};

}  // namespace
}  // namespace katana::http2

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana::http2;
  check_any_cut<Run>(client_preface, data, size);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
