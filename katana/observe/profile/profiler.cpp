#include "katana/observe/profile/profiler.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <new>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"
#include "katana/observe/profile/collector.hpp"
#include "katana/observe/profile/thread_sampler.hpp"

namespace katana::profile {

// One profile. Its thread and its Run share it.
struct detail::RunState {
  enum class End : std::uint8_t {
    in_time,    // after its length
    now,        // with what it has
    abandoned,  // without a result
  };

  RunState(ProfileOptions given, std::int64_t now_ns)
      : options(std::move(given)), began_ns(now_ns) {}

  const ProfileOptions options;
  const std::int64_t began_ns;  // since 1970
  std::mutex mutex;             // of the members below
  std::condition_variable told;
  End end = End::in_time;
  bool is_done = false;  // its thread does nothing more
  // Made before: there may be no memory for an error either.
  Result<std::string> result = fail(Code::resource_exhausted, "profile: there is no memory for it");

  void end_as(End how) noexcept {
    const std::lock_guard lock(mutex);
    end = std::max(end, how);
    told.notify_all();
  }
  bool is_abandoned() {
    const std::lock_guard lock(mutex);
    return end == End::abandoned;
  }
  // False: the profile is to end.
  bool wait(Duration at_most) {
    std::unique_lock lock(mutex);
    return !told.wait_for(lock, std::chrono::nanoseconds(at_most.ns),
                          [this] { return end != End::in_time; });
  }
  void set(Result<std::string> with) noexcept {
    const std::lock_guard lock(mutex);
    std::swap(result, with);
  }
  void finish() noexcept {
    const std::lock_guard lock(mutex);
    if (end == End::abandoned) result = std::string();
    is_done = true;
  }
  void abandon() noexcept {
    Result<std::string> dropped = std::string();
    end_as(End::abandoned);
    const std::lock_guard lock(mutex);
    if (is_done) std::swap(result, dropped);
  }
};

namespace {

// Short enough that a ring for a second of samples is never full, and new threads are found.
constexpr Duration take_interval = milliseconds(100);

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Null: its Run was destroyed.
using Made = Result<std::unique_ptr<Profile>>;

// Until the profile is to end.
void wait_whole(detail::RunState& state, Instant end) {
  for (Instant now = monotonic_now(); now < end; now = monotonic_now()) {
    if (!state.wait(end - now)) return;
  }
}

Made sample_allocations(detail::RunState& state, Instant end) {
  if (!allocations::are_hooked()) {
    return fail(Code::unsupported,
                "profile: this program has another operator new, or is built with a sanitizer");
  }
  const auto begun = allocations::begin(
      {.kind = state.options.kind, .interval_bytes = state.options.interval_bytes});
  if (!begun) return std::unexpected(begun.error());
  wait_whole(state, end);
  auto profile = std::make_unique<Profile>(allocations::end());
  if (state.is_abandoned()) return nullptr;
  return profile;
}

Made sample_threads(detail::RunState& state, Instant begin, Instant end) {
  auto sampler = ThreadSampler::start(state.options.hertz);
  if (!sampler) return std::unexpected(sampler.error());
  Collector collector((*sampler)->period());
  const auto add = [&](pid_t thread, const Sample& sample) { collector.add(thread, sample); };
  for (Instant now = begin; now < end; now = monotonic_now()) {
    if (!state.wait(std::min(take_interval, end - now))) break;
    (*sampler)->watch_threads();
    (*sampler)->take(add);
  }
  (*sampler)->take(add);
  if (state.is_abandoned()) return nullptr;
  const std::uint64_t lost = (*sampler)->lost();
  const std::size_t left_out = (*sampler)->left_out();
  sampler->reset();  // no thread is interrupted while the profile is put together
  auto profile = std::make_unique<Profile>(collector.profile(Kind::cpu, lost));
  profile->threads_left_out = left_out;
  return profile;
}

Made make_profile(detail::RunState& state, const std::string& program) {
  const Instant begin = monotonic_now();
  const Instant end = begin + state.options.length;
  Made profile = is_memory(state.options.kind) ? sample_allocations(state, end)
                                               : sample_threads(state, begin, end);
  if (!profile || *profile == nullptr) return profile;
  (*profile)->program = program;
  (*profile)->began_ns = state.began_ns;
  (*profile)->took_ns = (monotonic_now() - begin).ns;
  return profile;
}

void try_profile(detail::RunState& state, const std::string& program) {
  const auto profile = make_profile(state, program);
  if (!profile) return state.set(std::unexpected(profile.error()));
  if (*profile != nullptr) state.set(state.options.write(**profile));
}

void run_profile(detail::RunState& state, const std::string& program) noexcept {
  try {
    try {
      try_profile(state, program);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      state.set(fail(Code::internal, std::string("profile: ") + error.what()));
    }
  } catch (const std::bad_alloc&) {
    // The state has the error already.
  }
  state.finish();
}

}  // namespace

Run::~Run() { state_->abandon(); }

bool Run::is_done() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->is_done;
}

Result<std::string> Run::take() {
  const std::lock_guard lock(state_->mutex);
  return std::move(state_->result);
}

Profiler::Profiler(std::string program) : program_(std::move(program)) {
  CPU_ZERO(&cpus_);  // setting it then fails
  (void)::sched_getaffinity(0, sizeof cpus_, &cpus_);
}

Profiler::~Profiler() {
  close();
  if (thread_.joinable()) thread_.join();
}

Result<std::unique_ptr<Run>> Profiler::begin(ProfileOptions options) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return fail(Code::cancelled, "the program is about to stop");
  if (present_ != nullptr) {
    const std::lock_guard present(present_->mutex);
    if (!present_->is_done) return fail(Code::already_exists, "another profile is being made");
  }
  if (thread_.joinable()) thread_.join();  // it does nothing more
  auto state = std::make_shared<detail::RunState>(std::move(options), now_ns());
  auto run = std::make_unique<Run>(state);
  thread_ = quiet_thread([state, program = program_, cpus = cpus_] {
    (void)::pthread_setname_np(::pthread_self(), "katana-profile");
    // The reactor that began this thread may be bound to a CPU.
    (void)::sched_setaffinity(0, sizeof cpus, &cpus);
    run_profile(*state, program);
  });
  present_ = std::move(state);
  return run;
}

std::optional<std::int64_t> Profiler::ends_at_ns() {
  const std::lock_guard lock(mutex_);
  if (present_ == nullptr) return std::nullopt;
  const std::lock_guard present(present_->mutex);
  if (present_->is_done || present_->end != detail::RunState::End::in_time) return std::nullopt;
  return present_->began_ns + present_->options.length.ns;
}

void Profiler::close() noexcept {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  if (present_ != nullptr) present_->end_as(detail::RunState::End::now);
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
