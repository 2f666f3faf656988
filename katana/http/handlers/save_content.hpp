// save_to(): streams the body of a request into a file of a folder.
//
//   router.put("/files/{name}", [&folder](Path<std::string> name, ContentReader content,
//                                         ReplyWriter reply) -> Task<void> {
//     const auto saved = co_await content.save_to(folder, *name);
//     …                                            // saved->size, or saved.error(), a Reply
//   });
//
//   400  the name is no plain name: a path, "..", control characters, more than 255 bytes
//   409  the name is taken, and SaveOptions::existing is refuse; or a folder has it
//   413  the content has more than bytes_max; the limit of the route applies as well
//   507  the disk or a quota is full
//   503  the file cannot be written for another reason, which is the cause() of the reply
//
// Owns       the file until it is complete (http/files/new_file.hpp).
// Borrows    the folder and the pool.
// Thread     its reactor's, which writes to the page cache. With a pool, a thread of the pool
//            syncs.
// Allocates  one piece of the body at a time.
// Fails      by a Reply, as above.
// Invariant  the file gets its name only once it is complete. When the client leaves, the limit is
//            exceeded or the handler's time is over, nothing is left.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/http/files/new_file.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/streaming.hpp"

namespace katana {

namespace thread {
class Pool;
}

// How save_to() writes a file.
struct SaveOptions {
  // Empty: only the limit of the route applies (RouteDefaults::streamed_bytes_max).
  std::optional<std::uint64_t> bytes_max = {};
  Existing existing = Existing::replace;
  // Content and name are on the disk before the reply (fsync).
  bool sync = false;
  // A thread of this pool waits for the disk. Null: the reactor waits, with all its connections.
  thread::Pool* pool = nullptr;
};

// The file that save_to() has written.
struct SavedFile {
  std::string name;        // within the folder
  std::uint64_t size = 0;  // bytes
};

using SaveResult = std::expected<SavedFile, Reply>;  // or the reply that says why not

namespace detail {
// The reply that stands for an Error of NewFile.
Reply reply_of_save(const Error& error);
Reply save_too_large(std::uint64_t bytes_max);
}  // namespace detail

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
