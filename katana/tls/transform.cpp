#include "katana/tls/transform.hpp"

#include <new>

#include "katana/tls/machine_transform.hpp"

namespace katana::tls {

class TlsTransform final : public MachineTransform {
 public:
  TlsTransform(TlsTransforms& owner, BlockPool& blocks) noexcept
      : MachineTransform(blocks, owner.contexts_, owner.contexts_->first(), Side::server),
        owner_(owner) {}

  void cut(core::TransformCut why) noexcept override {
    if (machine_.has_failed()) return;  // it has been counted
    if (machine_.opened()) {
      owner_.counters_.truncated += machine_.end_of_input() ? 1 : 0;
    } else {
      const bool left = why == core::TransformCut::input_ended;
      note_failed(left ? Failure::left : Failure::timed_out);
    }
  }

 private:
  void note_opened() noexcept override {
    TlsCounters& counters = owner_.counters_;
    ++(machine_.version() == TLS1_3_VERSION ? counters.handshakes_1_3 : counters.handshakes_1_2);
    counters.resumed += machine_.resumed() ? 1 : 0;
  }

  void note_failed(Failure failure) noexcept override {
    ++owner_.counters_.failures[static_cast<std::size_t>(failure)];
    const std::string& reply = owner_.credentials_.options().reply_to_plain_http;
    if (failure != Failure::plain_http || reply.empty()) return;
    output_.clear();  // an alert, which that client cannot read
    output_.write(reply);
  }

  TlsTransforms& owner_;
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

// SPDX-License-Identifier: Apache-2.0
