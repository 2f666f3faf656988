#include "katana/observe/profile/profiler.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"
#include "katana/observe/profile/collector.hpp"
#include "katana/observe/profile/thread_sampler.hpp"

namespace katana::profile {

// One profile. Its thread and its Run share it.
struct detail::RunState {
  RunState(ProfileOptions given, std::int64_t now_ns)
      : options(std::move(given)), began_ns(now_ns) {}

  const ProfileOptions options;
  const std::int64_t began_ns;  // since 1970
  std::mutex mutex;             // of the members below
  std::condition_variable told;
  bool is_ending = false;
  bool is_done = false;
  Result<std::string> result = std::string();

  void end_now() noexcept {
    const std::lock_guard lock(mutex);
    is_ending = true;
    told.notify_all();
  }
  // False: the profile is to end.
  bool wait(Duration at_most) {
    std::unique_lock lock(mutex);
    return !told.wait_for(lock, std::chrono::nanoseconds(at_most.ns), [this] { return is_ending; });
  }
  void finish(Result<std::string> with) {
    const std::lock_guard lock(mutex);
    result = std::move(with);
    is_done = true;
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

Result<Profile> make_profile(detail::RunState& state, const std::string& program) {
  const Instant begin = monotonic_now();
  const Instant end = begin + state.options.length;
  auto sampler = ThreadSampler::start(state.options.hertz);
  if (!sampler) return std::unexpected(sampler.error());
  Collector collector((*sampler)->period());
  const auto add = [&](pid_t thread, const Sample& sample) { collector.add(thread, sample); };
  for (Instant now = begin; now < end; now = monotonic_now()) {
    if (!state.wait(std::min(take_interval, end - now))) break;
    if (auto watched = (*sampler)->watch_threads(); !watched) {
      return std::unexpected(watched.error());
    }
    (*sampler)->take(add);
  }
  (*sampler)->take(add);
  Profile profile = collector.profile(Kind::cpu, (*sampler)->lost());
  profile.program = program;
  profile.began_ns = state.began_ns;
  profile.took_ns = (monotonic_now() - begin).ns;
  return profile;
}

void run_profile(detail::RunState& state, const std::string& program) {
  try {
    const auto profile = make_profile(state, program);
    if (!profile) return state.finish(std::unexpected(profile.error()));
    state.finish(state.options.write(*profile));
  } catch (const std::exception& error) {
    state.finish(fail(Code::internal, std::string("profile: ") + error.what()));
  }
}

}  // namespace

Run::~Run() { state_->end_now(); }

bool Run::is_done() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->is_done;
}

Result<std::string> Run::take() {
  const std::lock_guard lock(state_->mutex);
  return std::move(state_->result);
}

Profiler::~Profiler() {
  end_now();
  if (thread_.joinable()) thread_.join();
}

Result<std::unique_ptr<Run>> Profiler::begin(ProfileOptions options) {
  const std::lock_guard lock(mutex_);
  if (present_ != nullptr) {
    const std::lock_guard present(present_->mutex);
    if (!present_->is_done && !present_->is_ending) {
      return fail(Code::already_exists, "another profile is being made");
    }
  }
  if (thread_.joinable()) thread_.join();  // it ends, or has ended
  auto state = std::make_shared<detail::RunState>(std::move(options), now_ns());
  thread_ = quiet_thread([state, program = program_] {
    (void)::pthread_setname_np(::pthread_self(), "katana-profile");
    run_profile(*state, program);
  });
  present_ = state;
  return std::make_unique<Run>(std::move(state));
}

std::optional<std::int64_t> Profiler::ends_at_ns() {
  const std::lock_guard lock(mutex_);
  if (present_ == nullptr) return std::nullopt;
  const std::lock_guard present(present_->mutex);
  if (present_->is_done || present_->is_ending) return std::nullopt;
  return present_->began_ns + present_->options.length.ns;
}

void Profiler::end_now() noexcept {
  const std::lock_guard lock(mutex_);
  if (present_ != nullptr) present_->end_now();
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
