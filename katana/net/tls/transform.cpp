#include "katana/net/tls/transform.hpp"

#include <new>
#include <utility>

#include "katana/net/tls/machine_transform.hpp"
#include "katana/net/tls/setup.hpp"

namespace katana::tls {

class TlsTransform final : public MachineTransform {
 public:
  TlsTransform(TlsTransforms& owner, BlockPool& blocks, Bytes protocols) noexcept
      : MachineTransform(blocks, owner.contexts_, owner.contexts_->first(), Side::server),
        owner_(owner) {
    machine_.set_protocols(protocols);
  }

  void cut(net::TransformCut why) noexcept override {
    if (machine_.has_failed()) return;  // it has been counted already
    if (machine_.opened()) {
      owner_.counters_.truncated += machine_.end_of_input() ? 1 : 0;
    } else {
      const bool left = why == net::TransformCut::input_ended;
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
    output_.clear();  // drops an alert, which that client cannot read
    output_.write(reply);
  }

  TlsTransforms& owner_;
};

TlsTransforms::TlsTransforms(const Credentials& credentials)
    : credentials_(credentials),
      generation_(credentials.generation()),
      contexts_(credentials.present()) {}

class TlsTransforms::Speaking final : public net::TransformFactory {
 public:
  Speaking(TlsTransforms& owner, std::string protocols)
      : owner_(owner), protocols_(std::move(protocols)) {}

  std::unique_ptr<net::Transform> make(BlockPool& blocks) noexcept override {
    return owner_.make(blocks, protocols_);
  }
  std::size_t heap_bytes_each() const noexcept override { return owner_.heap_bytes_each(); }

 private:
  TlsTransforms& owner_;
  const std::string protocols_;
};

Result<std::unique_ptr<net::TransformFactory>> TlsTransforms::speaking(
    const std::vector<std::string>& protocols) {
  auto encoded = encode_protocols(protocols);
  if (!encoded) return std::unexpected(encoded.error());
  return std::make_unique<Speaking>(*this, *std::move(encoded));
}

std::unique_ptr<net::Transform> TlsTransforms::make(BlockPool& blocks) noexcept {
  return make(blocks, Bytes());
}

std::unique_ptr<net::Transform> TlsTransforms::make(BlockPool& blocks, Bytes protocols) noexcept {
  const std::uint32_t generation = credentials_.generation();
  if (generation != generation_) [[unlikely]] {
    contexts_ = credentials_.present();
    generation_ = generation;
  }
  std::unique_ptr<TlsTransform> made(new (std::nothrow) TlsTransform(*this, blocks, protocols));
  if (made == nullptr || !made->valid()) return nullptr;
  return made;
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
