#include "katana/observe/profile/thread_sampler.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "katana/base/system/alternate_stack.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/observe/crash/crash.hpp"
#include "katana/observe/crash/thread_stacks.hpp"
#include "katana/observe/profile/label.hpp"
#include "katana/observe/profile/retired.hpp"

namespace katana::profile {
namespace {

constexpr std::size_t ring_size_min = 16;
constexpr Duration handler_wait_max = seconds(1);
constexpr Duration handler_look_interval = milliseconds(1);

// The clock of a thread's CPU time, as pthread_getcpuclockid() makes it of a pthread_t.
clockid_t cpu_clock_of(pid_t thread) noexcept {
  constexpr unsigned of_thread = 4, scheduled = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | of_thread | scheduled);
}

void fill(Sample& sample, const siginfo_t& info, void* context) noexcept {
  sample.periods = 1 + static_cast<std::uint32_t>(std::max(info.si_overrun, 0));
  sample.route.used = sample.request.used = sample.trace.used = 0;
  crash::capture_stack(sample.stack, context);
  (void)crash::guarded([](void* given) { label(*static_cast<Sample*>(given)); }, &sample);
}

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/task"), &::closedir);
  if (folder == nullptr) return threads;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    pid_t thread = 0;
    const auto [rest, error] = std::from_chars(entry->d_name, end, thread);
    if (error == std::errc() && rest == end) threads.push_back(thread);
  }
  return threads;
}

// A list of /proc is not taken at one moment: it may miss a thread that lives.
bool lives(pid_t thread) noexcept { return ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0; }

Error failed(Bytes what, int number) {
  return {Code::unsupported,
          fmt::format("profile: {}: {}", what, std::generic_category().message(number))};
}

}  // namespace

// The data that the handler uses. A signal may arrive after its timer is deleted. It names its
// session, and a session is freed only when no handler is in it.
struct ThreadSampler::Session {
  // A thread whose timer is set.
  struct Watched {
    explicit Watched(pid_t given, std::size_t ring_size) : thread(given), ring(ring_size) {}

    const pid_t thread;
    timer_t timer = {};
    bool lives = true;
    SampleRing ring;
    std::atomic<std::uint64_t> lost{0};
  };

  static constinit std::atomic<Session*> present;
  static constinit std::atomic<int> handlers;  // that run
  static constinit std::atomic<std::uint32_t> last_number;

  // The value of a timer: the session's number, and the place of its thread.
  static constexpr unsigned place_bits = 10;
  static_assert(std::size_t{1} << place_bits == threads_max);

  static void on_timer(const siginfo_t& info, void* context) noexcept {
    handlers.fetch_add(1);
    if (Session* const session = present.load()) session->on_sample(info, context);
    handlers.fetch_sub(1);
  }

  void on_sample(const siginfo_t& info, void* context) noexcept {
    const auto value = static_cast<std::uint32_t>(info.si_value.sival_int);
    if (value >> place_bits != number) return;
    Watched* const watched = threads[value % threads_max].load();
    if (watched == nullptr || watched->thread != ::gettid()) return;
    if (Sample* const sample = watched->ring.reserve()) {
      fill(*sample, info, context);
      watched->ring.commit();
    } else {
      watched->lost.fetch_add(1 + static_cast<std::uint64_t>(std::max(info.si_overrun, 0)),
                              std::memory_order_relaxed);
    }
  }

  static void wait_for_handlers(Session* session) noexcept {
    const Instant end = monotonic_now() + handler_wait_max;
    while (handlers.load() != 0 && monotonic_now() < end) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(handler_look_interval.ns));
    }
    // A thread that stands within its handler, as under a debugger, keeps the memory.
    if (handlers.load() == 0) delete session;
  }

  ~Session() {
    for (std::atomic<Watched*>& each : threads) delete each.load();
  }

  // Ends the samples of a place. A handler may still use them.
  void retire(std::atomic<Watched*>& place) {
    const Watched* const watched = place.load();
    retired.take(place);
    ::timer_delete(watched->timer);
    lost_before += watched->lost.load(std::memory_order_relaxed);
  }

  const std::uint32_t number = ++last_number & ((1u << (32 - place_bits)) - 1);
  const pid_t own = ::gettid();
  std::array<std::atomic<Watched*>, threads_max> threads{};
  Retired<Watched> retired;
  std::uint64_t lost_before = 0;  // of threads that have ended
};

constinit std::atomic<ThreadSampler::Session*> ThreadSampler::Session::present{nullptr};
constinit std::atomic<int> ThreadSampler::Session::handlers{0};
constinit std::atomic<std::uint32_t> ThreadSampler::Session::last_number{0};

ThreadSampler::ThreadSampler(unsigned hertz)
    : period_(Duration{1'000'000'000 / static_cast<std::int64_t>(hertz)}),
      ring_size_(std::max<std::size_t>(ring_size_min, hertz)),
      session_(std::make_unique<Session>()) {}

Result<std::unique_ptr<ThreadSampler>> ThreadSampler::start(unsigned hertz) {
  crash::prepare_unwinder();
  crash::watch_faults();
  if (!crash::watch_stack_signal()) {
    return fail(Code::unsupported,
                fmt::format("profile: the program uses the signal {} otherwise", stack_signal()));
  }
  std::unique_ptr<ThreadSampler> sampler(new ThreadSampler(hertz));
  Session* none = nullptr;
  if (!Session::present.compare_exchange_strong(none, sampler->session_.get())) {
    sampler->session_.reset();
    return fail(Code::already_exists, "profile: another one is being made");
  }
  crash::set_on_timer(&Session::on_timer);
  if (auto watched = sampler->watch_all(threads_of_process()); !watched) {
    return std::unexpected(watched.error());
  }
  return sampler;
}

ThreadSampler::~ThreadSampler() {
  if (session_ == nullptr) return;
  for (const std::atomic<Session::Watched*>& place : session_->threads) {
    if (const Session::Watched* const each = place.load()) ::timer_delete(each->timer);
  }
  Session::present.store(nullptr);
  Session::wait_for_handlers(session_.release());
}

Result<void> ThreadSampler::watch(pid_t thread) {
  const auto free =
      std::ranges::find(session_->threads, nullptr, [](const auto& each) { return each.load(); });
  if (free == session_->threads.end()) {
    return fail(Code::resource_exhausted, "profile: too many threads");
  }
  auto watched = std::make_unique<Session::Watched>(thread, ring_size_);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = stack_signal();
  event._sigev_un._tid = thread;
  event.sigev_value.sival_int =
      static_cast<int>(session_->number << Session::place_bits |
                       static_cast<std::uint32_t>(free - session_->threads.begin()));
  if (::timer_create(cpu_clock_of(thread), &event, &watched->timer) != 0) {
    // EINVAL: the thread has ended meanwhile.
    return errno == EINVAL ? Result<void>{} : std::unexpected(failed("timer_create", errno));
  }
  const timer_t timer = watched->timer;
  free->store(watched.release());
  itimerspec every{};
  every.it_interval = {period_.ns / 1'000'000'000, period_.ns % 1'000'000'000};
  every.it_value = every.it_interval;
  if (::timer_settime(timer, 0, &every, nullptr) == 0 || errno == ESRCH) return {};
  Error error = failed("timer_settime", errno);
  session_->retire(*free);
  return std::unexpected(std::move(error));
}

void ThreadSampler::watch_threads() { watch_listed(threads_of_process()); }

void ThreadSampler::watch_listed(const std::vector<pid_t>& listed) { (void)watch_all(listed); }

// Fails if there are threads, and none has a timer.
Result<void> ThreadSampler::watch_all(const std::vector<pid_t>& listed) {
  std::set<pid_t> known = {session_->own};
  for (const std::atomic<Session::Watched*>& place : session_->threads) {
    Session::Watched* const each = place.load();
    if (each == nullptr) continue;
    each->lives = lives(each->thread);
    if (each->lives) known.insert(each->thread);
  }
  Result<void> last;
  for (const pid_t thread : listed) {
    if (known.contains(thread)) continue;
    if (auto watched = watch(thread)) {
      known.insert(thread);
      left_out_.erase(thread);
    } else {
      left_out_.insert(thread);
      last = std::move(watched);
    }
  }
  return known.size() > 1 ? Result<void>{} : last;
}

void ThreadSampler::take(const OnSample& on_sample) {
  for (std::atomic<Session::Watched*>& place : session_->threads) {
    Session::Watched* const each = place.load();
    if (each == nullptr) continue;
    while (const Sample* const sample = each->ring.next()) {
      on_sample(each->thread, *sample);
      each->ring.pop();
    }
    if (!each->lives) session_->retire(place);
  }
  session_->retired.free_unused(Session::handlers);
}

std::uint64_t ThreadSampler::lost() const noexcept {
  std::uint64_t lost = session_->lost_before;
  for (const std::atomic<Session::Watched*>& place : session_->threads) {
    if (const Session::Watched* const each = place.load()) {
      lost += each->lost.load(std::memory_order_relaxed);
    }
  }
  return lost;
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
