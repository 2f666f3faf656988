// Recycler: small memory that comes and goes with requests (coroutine frames, owned requests,
// text), kept by the thread that freed it. After warm-up a request costs no call of the heap.
//
// Owns       a bounded list of free pieces per size class and thread; the rest goes back to the
//            heap.
// Thread     any; a piece may be freed by another thread than the one that took it. Allocates
//            from the heap when its list is empty or the size is above recycled_bytes_max. Fails
//            allocate() throws std::bad_alloc.
#pragma once

#include <cstddef>

namespace katana::recycler {

inline constexpr std::size_t recycled_bytes_max = 16 * 1024;
inline constexpr std::size_t kept_per_class_max = 256;

void* allocate(std::size_t bytes);
// `bytes` as it was given to allocate().
void release(void* memory, std::size_t bytes) noexcept;

}  // namespace katana::recycler
