#include "katana/http/handlers/request.hpp"

namespace katana {
namespace {

// With this allocator a shared block costs no heap call once warm.
template <class T>
struct RecyclingAllocator {
  using value_type = T;
  RecyclingAllocator() noexcept = default;
  template <class U>
  RecyclingAllocator(const RecyclingAllocator<U>&) noexcept {
  }  // NOLINT: implicit as allocators are
  T* allocate(std::size_t count) { return static_cast<T*>(recycler::allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept {
    recycler::release(memory, count * sizeof(T));
  }
  bool operator==(const RecyclingAllocator&) const noexcept { return true; }
};

}  // namespace

Bytes RequestView::authority() const noexcept { return session::authority_of(*head_); }

session::Client RequestView::client() const noexcept {
  return source_ != nullptr ? source_->client(*head_) : session::client_of({}, *head_);
}

struct Request::Storage final : session::ClientSource {
  explicit Storage(const RequestView& given)
      : head(*given.head_), parameters(*given.parameters_), view(head, {}, {}, parameters, {}) {
    const Bytes old_head = head.bytes();
    bytes.grow_to(old_head.size() + given.path_.size() + given.content_.size());
    bytes.append(old_head);
    bytes.append(given.path_);
    bytes.append(given.content_);
    const char* const base = bytes.data();
    head.rebase(base);
    if (!given.query_.empty()) {
      view.query_ = {base + (given.query_.data() - old_head.data()), given.query_.size()};
    }
    const char* const path = base + old_head.size();
    parameters.rebase(path);
    view.path_ = {path, given.path_.size()};
    view.content_ = {path + given.path_.size(), given.content_.size()};
    if (given.source_ == nullptr) return;
    came = given.source_->arrival();
    mark = given.source_->personal_mark();
    view.source_ = this;
  }
  Storage(const Storage&) = delete;

  session::Arrival arrival() noexcept override { return came; }
  session::Client client(const http::Head& of) noexcept override {
    session::Client client = session::client_of(came, of);
    client.mark_reads(mark.get());
    return client;
  }
  std::shared_ptr<session::PersonalMark> personal_mark() noexcept override { return mark; }
  void personalise(session::Personal by) noexcept override {
    if (mark != nullptr) mark->set(by);
  }

  Text bytes;  // head, path, content
  session::Arrival came;
  std::shared_ptr<session::PersonalMark> mark;  // of the reply; null: the reply is not shared
  http::Head head;
  PathParameters parameters;
  RequestView view;
};

Request::Request(const RequestView& view)
    : storage_(std::allocate_shared<Storage>(RecyclingAllocator<Storage>(), view)) {}

const RequestView& Request::view() const noexcept { return storage_->view; }

std::size_t Request::held_bytes() const noexcept {
  return sizeof(Storage) + storage_->bytes.capacity();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
