#include "katana/http/handlers/save_content.hpp"

#include <fmt/format.h>

#include <utility>

#include "katana/base/thread/pool.hpp"
#include "katana/http/handlers/framework_problems.hpp"

namespace katana {
namespace {

// A job has a separate descriptor: the coroutine may be destroyed before the job ends.
Task<Result<void>> sync_copy(Result<Descriptor> copied, thread::Pool* pool) {
  if (!copied) co_return std::unexpected(copied.error());
  if (pool == nullptr) co_return NewFile::sync(copied->get());
  auto job = [descriptor = *std::move(copied)] { return NewFile::sync(descriptor.get()); };
  auto given = thread::give(job);
  co_return co_await pool->run(given);
}

}  // namespace

Reply detail::save_too_large(std::uint64_t bytes_max) {
  return problem(problem_types::content_too_large,
                 fmt::format("The file has more than {} bytes.", bytes_max));
}

Reply detail::reply_of_save(const Error& error) {
  switch (error.code()) {
    case Code::invalid_argument: return problem(problem_types::invalid_parameter, error.message());
    case Code::already_exists:
      return problem(problem_types::file_exists, "A file has this name already.");
    default: break;
  }
  const bool is_full = error.code() == Code::resource_exhausted;
  Reply reply = is_full
                    ? problem(problem_types::storage_full, "There is no room for the file.")
                    : problem(problem_types::unavailable, "The file cannot be stored at present.");
  detail::PreparedReply::set_cause(reply, error);
  return reply;
}

Task<SaveResult> ContentReader::save_to(const Folder& folder, std::string name) {
  return save_to(folder, std::move(name), {});
}

Task<SaveResult> ContentReader::save_to(const Folder& folder, std::string name,
                                        SaveOptions options) {
  ContentReader content = *this;  // a copy: the caller's may be destroyed while this waits
  const std::uint64_t bytes_max = options.bytes_max.value_or(UINT64_MAX);
  if (content.length().value_or(0) > bytes_max)
    co_return std::unexpected(detail::save_too_large(bytes_max));
  Result<NewFile> file = NewFile::create(folder, name);
  if (!file) co_return std::unexpected(detail::reply_of_save(file.error()));
  constexpr std::size_t piece_bytes = 64 * 1024;
  while (true) {
    const Text piece = co_await content.read_at_least(piece_bytes);
    if (piece.empty()) break;
    if (file->size() + piece.size() > bytes_max)
      co_return std::unexpected(detail::save_too_large(bytes_max));
    if (auto added = file->append(piece.bytes()); !added) {
      co_return std::unexpected(detail::reply_of_save(added.error()));
    }
  }
  if (options.sync) {
    auto task = sync_copy(file->copy_of_file(), options.pool);
    const Result<void> synced = co_await std::move(task);
    if (!synced) co_return std::unexpected(detail::reply_of_save(synced.error()));
  }
  if (auto named = file->publish(options.existing); !named) {
    co_return std::unexpected(detail::reply_of_save(named.error()));
  }
  if (options.sync) {
    auto task = sync_copy(file->copy_of_folder(), options.pool);
    const Result<void> synced = co_await std::move(task);
    if (!synced) co_return std::unexpected(detail::reply_of_save(synced.error()));
  }
  co_return SavedFile{.name = std::move(name), .size = file->size()};
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
