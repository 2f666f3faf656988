// LinkedList: a list of objects that contain their links. Any object can leave in constant time.
// ListHook: the links, a base class of objects that can be in one list at a time.
//
// Owns       nothing: an object leaves its list before it is destroyed.
// Thread     one, or under one lock.
// Allocates  never.
// Fails      never. The caller must know whether an object is in the list.
#pragma once

#include <cstddef>

namespace katana {

template <class T>
class LinkedList;

// Base class of an object that can be in one LinkedList<T> at a time.
template <class T>
class ListHook {
 public:
  T* next_in_list() const noexcept { return next_; }  // null: it is the last, or in no list
  T* prev_in_list() const noexcept { return prev_; }  // null: it is the first, or in no list

 private:
  friend class LinkedList<T>;
  T* prev_ = nullptr;
  T* next_ = nullptr;
};

template <class T>
class LinkedList {
 public:
  LinkedList() noexcept = default;
  LinkedList(const LinkedList&) = delete;
  LinkedList& operator=(const LinkedList&) = delete;

  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  T* first() const noexcept { return first_; }  // null: the list is empty
  T* last() const noexcept { return last_; }    // null: the list is empty

  // Add an object. They REQUIRE that it is in no list.
  void push_back(T& item) noexcept { link(item, last_, nullptr); }
  void push_front(T& item) noexcept { link(item, nullptr, first_); }
  // Removes an object. REQUIRES that it is in this list.
  void remove(T& item) noexcept {
    Hook& hook = item;
    (hook.prev_ != nullptr ? next_of(*hook.prev_) : first_) = hook.next_;
    (hook.next_ != nullptr ? prev_of(*hook.next_) : last_) = hook.prev_;
    hook.prev_ = hook.next_ = nullptr;
    --size_;
  }
  // Removes the first object and returns it. REQUIRES not empty().
  T& pop_front() noexcept {
    T& item = *first_;
    remove(item);
    return item;
  }

 private:
  using Hook = ListHook<T>;
  static T*& next_of(Hook& hook) noexcept { return hook.next_; }
  static T*& prev_of(Hook& hook) noexcept { return hook.prev_; }
  void link(T& item, T* prev, T* next) noexcept {
    Hook& hook = item;
    hook.prev_ = prev;
    hook.next_ = next;
    (prev != nullptr ? next_of(*prev) : first_) = &item;
    (next != nullptr ? prev_of(*next) : last_) = &item;
    ++size_;
  }

  T* first_ = nullptr;
  T* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
