// WalkedList: a list of objects that contain their links. A walk visits it in several steps, while
// objects enter and leave between them.
//
//   struct Open : WalkedItem<Open> { … };
//   if (auto* list = ThreadLists<Open>::own()) list->push_back(open);   // oldest first
//
//   ListWalk<Open> walk;
//   walk.begin(list);
//   while (!walk.step(100, [](Open& each) { …; return true; })) { … }   // other work in between
//
// Owns       nothing: an object leaves its list when it is destroyed.
// Thread     one for each list. A signal handler on that thread may read it.
// Allocates  never.
// Fails      own() is null for all threads after the first 256 that asked.
// Invariant  an object that is in the list from the begin of a walk to its end is visited once. A
//            signal handler sees the list before or after each change.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace katana {

template <class T>
class WalkedList;
template <class T>
class ListWalk;

// The links. A list is a ring: its own node is neither an object nor a walk's place.
template <class T>
class ListLinks {
 public:
  constexpr ListLinks() noexcept = default;
  ListLinks(const ListLinks&) = delete;
  ListLinks& operator=(const ListLinks&) = delete;

 protected:
  // Leaves no list: the list's own node stays for objects that outlive the thread's destructors.
  ~ListLinks() = default;
  bool is_listed() const noexcept { return next_ != nullptr; }
  void leave_list() noexcept {
    if (next_ == nullptr) return;
    prev_->next_ = next_;
    next_->prev_ = prev_;
    // A signal handler on this thread that comes to the object finds the rest of the list.
    std::atomic_signal_fence(std::memory_order_release);
    next_ = prev_ = nullptr;
    // The memory is used for something else only after this.
    std::atomic_signal_fence(std::memory_order_release);
  }

 private:
  friend class WalkedList<T>;
  friend class ListWalk<T>;

  void enter_before(ListLinks& other) noexcept {
    next_ = &other;
    prev_ = other.prev_;
    // A signal handler on this thread finds the object complete.
    std::atomic_signal_fence(std::memory_order_release);
    prev_->next_ = this;
    other.prev_ = this;
  }

  ListLinks* next_ = nullptr;  // null: it is in no list
  ListLinks* prev_ = nullptr;
  T* object_ = nullptr;  // null: the list's own node, or a walk's place
};

// A base of T. It leaves its list when it is destroyed.
template <class T>
class WalkedItem : public ListLinks<T> {
 public:
  constexpr WalkedItem() noexcept = default;

 protected:
  ~WalkedItem() { this->leave_list(); }
};

template <class T>
class WalkedList {
 public:
  constexpr WalkedList() noexcept = default;

  // REQUIRES that it is in no list.
  void push_back(T& object) noexcept {
    ListLinks<T>& item = object;
    item.object_ = &object;
    item.enter_before(ends());
  }
  // Calls f(T&) for each object, oldest first, until it returns false.
  template <class F>
  void for_each(F f) noexcept {
    for (const ListLinks<T>* each = ends_.next_; each != nullptr && each != &ends_;
         each = each->next_) {
      if (each->object_ != nullptr && !f(*each->object_)) return;
    }
  }

 private:
  friend class ListWalk<T>;

  struct Ends : ListLinks<T> {};
  ListLinks<T>& ends() noexcept {
    if (ends_.next_ == nullptr) ends_.next_ = ends_.prev_ = &ends_;
    return ends_;
  }

  Ends ends_;
};

// A place in a list, between two objects.
template <class T>
class ListWalk : private WalkedItem<T> {
 public:
  ListWalk() noexcept = default;
  ~ListWalk() = default;

  // Before the first object. The list outlives the walk.
  void begin(WalkedList<T>& list) noexcept {
    this->leave_list();
    list_ = &list;
    ListLinks<T>& ends = list.ends();
    this->enter_before(*ends.next_);
  }
  // Passes at most `count` places, and calls f(T&) for the objects among them. It stops at once
  // when f returns false or throws. Returns true if the walk is over; it then has left the list.
  template <class F>
  bool step(std::size_t count, F f) {
    if (!this->is_listed()) return true;
    ListLinks<T>* place = this->next_;
    this->leave_list();
    for (; place != &list_->ends_; place = place->next_) {
      if (count-- == 0) {
        this->enter_before(*place);
        return false;
      }
      if (place->object_ != nullptr && !f(*place->object_)) return true;
    }
    return true;
  }
  // Leaves the list. The destructor does the same, on the list's thread.
  void end() noexcept { this->leave_list(); }

 private:
  WalkedList<T>* list_ = nullptr;
};

// A list for each thread. The lists outlive their threads: an object can end after its thread.
template <class T>
class ThreadLists {
 public:
  static constexpr std::size_t threads_max = 256;  // that ever have a list

  // The list of this thread, made by the first call; null: too many threads have one.
  static WalkedList<T>* own() noexcept {
    if (own_ != nullptr) [[likely]]
      return own_;
    if (std::exchange(has_asked_, true)) return nullptr;
    const std::size_t place = taken_.fetch_add(1, std::memory_order_relaxed);
    return place < threads_max ? own_ = &lists_[place] : nullptr;
  }
  // The same, but null if no object of this thread was ever listed. For signal handlers.
  static WalkedList<T>* known() noexcept { return own_; }

 private:
  inline static constinit std::array<WalkedList<T>, threads_max> lists_{};
  inline static constinit std::atomic<std::size_t> taken_{0};
  inline static constinit thread_local WalkedList<T>* own_ = nullptr;
  inline static constinit thread_local bool has_asked_ = false;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
