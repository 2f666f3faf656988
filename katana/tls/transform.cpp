#include "katana/tls/transform.hpp"

#include <new>

#include "katana/wire/tls/machine.hpp"

namespace katana::tls {

class TlsTransform final : public core::Transform {
 public:
  TlsTransform(TlsTransforms& owner, BlockPool& blocks) noexcept
      : Transform(blocks),
        owner_(owner),
        contexts_(owner.contexts_),
        machine_(owner.contexts_->first()) {}

  bool valid() const noexcept { return machine_.valid(); }

  core::TransformStep receive(Bytes input, std::span<char> plain, Instant now) noexcept override {
    const bool had_failed = machine_.has_failed();
    const Step step = machine_.next(input, plain, output_, now);
    if (step.event == Event::opened) note_opened();
    if (step.event == Event::failed && !had_failed) note_failed(machine_.failure());
    return {event_of(step.event), step.consumed, step.produced};
  }

  void admit() noexcept override { machine_.admit(); }
  std::size_t seal(Bytes plain) noexcept override { return machine_.seal(plain, output_); }
  bool can_seal() const noexcept override { return machine_.can_seal(); }
  void seal_end() noexcept override { machine_.end(output_); }

  void cut(core::TransformCut why) noexcept override {
    if (machine_.has_failed()) return;  // it has been counted
    if (machine_.opened()) {
      owner_.counters_.truncated += machine_.end_of_input() ? 1 : 0;
    } else {
      const bool left = why == core::TransformCut::input_ended;
      note_failed(left ? Failure::left : Failure::timed_out);
    }
  }

  Bytes application_protocol() const noexcept override { return machine_.application_protocol(); }

 private:
  static core::TransformEvent event_of(Event event) noexcept {
    switch (event) {
      case Event::need_bytes: return core::TransformEvent::need_bytes;
      case Event::hello: return core::TransformEvent::costly;
      case Event::opened: return core::TransformEvent::opened;
      case Event::bytes: return core::TransformEvent::bytes;
      case Event::ended: return core::TransformEvent::ended;
      case Event::failed: break;
    }
    return core::TransformEvent::failed;
  }

  void note_opened() noexcept {
    TlsCounters& counters = owner_.counters_;
    ++(machine_.version() == TLS1_3_VERSION ? counters.handshakes_1_3 : counters.handshakes_1_2);
    counters.resumed += machine_.resumed() ? 1 : 0;
  }

  void note_failed(Failure failure) noexcept {
    ++owner_.counters_.failures[static_cast<std::size_t>(failure)];
    const std::string& reply = owner_.credentials_.options().reply_to_plain_http;
    if (failure != Failure::plain_http || reply.empty()) return;
    output_.clear();  // an alert, which that client cannot read
    output_.write(reply);
  }

  TlsTransforms& owner_;
  const std::shared_ptr<const Contexts> contexts_;  // callbacks of the machine look into it
  Machine machine_;
};

TlsTransforms::TlsTransforms(const Credentials& credentials)
    : credentials_(credentials),
      generation_(credentials.generation()),
      contexts_(credentials.present()) {}

std::unique_ptr<core::Transform> TlsTransforms::make(BlockPool& blocks) noexcept {
  const std::uint32_t generation = credentials_.generation();
  if (generation != generation_) [[unlikely]] {
    contexts_ = credentials_.present();
    generation_ = generation;
  }
  std::unique_ptr<TlsTransform> made(new (std::nothrow) TlsTransform(*this, blocks));
  if (made == nullptr || !made->valid()) return nullptr;
  return made;
}

}  // namespace katana::tls
