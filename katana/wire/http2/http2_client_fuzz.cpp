// Invariant: for any bytes of a server, however they are cut, the client machine reports the same
// events. Every stream ends once, windows hold, and the machine sends whole frames.
#include <array>
#include <string>

#include "katana/wire/http2/client_machine.hpp"
#include "katana/wire/http2/connection_fuzz.hpp"

namespace katana::http2 {
namespace {

// The context of all runs: making it costs more than a run.
ClientContext& shared_context() {
  static ClientContext context{Limits()};
  return context;
}

// Four requests are on their way: without content, with content that is being sent, for a head
// alone, and one more. Whenever one ends another begins, up to sixteen.
class Run final : public FuzzRun<ClientContext, ClientMachine, ClientStep> {
 public:
  explicit Run(std::size_t most) : FuzzRun(shared_context(), most) {
    outbox_.clear();
    for (const Bytes method : {"GET", "POST", "HEAD", "GET"}) begin(method);
    outbox_.clear();
  }
  ~Run() {
    while (ClientStream* const stream = machine_.first()) {
      machine_.reset(*stream, ErrorCode::cancel, outbox_);
    }
  }

 private:
  void finish() override {
    for (std::size_t index = 0; index < begun_; ++index) {
      events_ += " " + std::to_string(content_[index]);
    }
  }

  void begin(Bytes method) {
    if (begun_ == streams_.size() || !machine_.can_begin()) return;
    RequestHead head;
    head.method = method;
    head.authority = "a";
    const Begun begun = machine_.begin(streams_[begun_], head, method != "POST", outbox_);
    require(begun == Begun::yes || begun == Begun::too_large);  // the server may want a tiny head
    if (begun == Begun::yes) ++begun_;
  }

  void report(const ClientStep& step) override {
    const auto note = [&](const char* what) {
      events_ += what + std::to_string(step.stream->id) + (step.last ? "!" : "");
    };
    switch (step.event) {
      case ClientEvent::interim: note("i"); return check_reply();
      case ClientEvent::head:
        note("h");
        events_ += "=" + std::to_string(context_.reader.status());
        return check_reply();
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

  void check_reply() const {
    require(context_.reader.status() >= 100 && context_.reader.status() < 1000);
    check_fields(context_.reader.fields());
  }

  // The places of the input where this happens depend only on the frames before.
  void upload() {
    for (ClientStream* each = machine_.first(); each != nullptr; each = each->next_in_list()) {
      if (each->state != ClientStreamState::open) continue;
      Bytes content = "some content";
      require(machine_.write_content(*each, content, false, false, SIZE_MAX, outbox_));
    }
  }

  std::array<ClientStream, 16> streams_;
  std::array<std::size_t, 16> content_{};
  std::size_t begun_ = 0;
};

}  // namespace
}  // namespace katana::http2

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  http2::check_any_cut<http2::Run>({"\0\0\0\4\0\0\0\0\0", 9}, data, size);  // SETTINGS
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
