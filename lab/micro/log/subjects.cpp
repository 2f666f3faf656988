#include "subjects.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "katana/observe/log/binary_reader.hpp"
#include "katana/observe/log/log.hpp"
#include "measure.hpp"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace log_bench {

namespace {

namespace log = katana::log;

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Katana final : public Subject {
 public:
  Katana(const std::string& path, bool binary) : path_(path), binary_(binary) {
    log::Options options;
    options.sinks = {binary ? log::binary_file(path) : log::file(path)};
    options.when_full = log::WhenFull::block;  // as spdlog: nothing is lost
    options.block_max = katana::seconds(10);
    log_ = *log::Log::start(options);
    logger_ = log_->logger("bench");
  }
  void log(int number, double value, std::string_view text) override {
    logger_.info("message {} of {} by {}", number, value, text);
  }
  void burst(std::uint64_t count, std::string_view text) override {
    for (std::uint64_t index = 0; index < count; ++index) {
      logger_.info("message {} of {} by {}", static_cast<int>(index),
                   static_cast<double>(index) * 0.1, text);
    }
  }
  void finish() override { log_->stop(); }
  std::uint64_t found() const override { return binary_ ? records() : lines_in(path_); }

 private:
  std::uint64_t records() const {
    const std::string octets = read_all(path_);
    log::BinaryReader reader(octets);
    std::uint64_t count = 0;
    while (true) {
      const auto entry = reader.next();
      if (!entry || !*entry) return count;
      ++count;
    }
  }
  const std::string path_;
  const bool binary_;
  std::unique_ptr<log::Log> log_;
  log::Logger logger_;
};

// The floor of a call: one ring of one producer, written for exactly this record. It checks, cuts,
// names and drops nothing. Its consumer looks once a millisecond and throws everything away.
class HandWrittenRing final : public Subject {
 public:
  HandWrittenRing() : consumer_([this] { consume(); }) {}
  ~HandWrittenRing() override {
    if (consumer_.joinable()) finish();
  }
  void log(int number, double value, std::string_view text) override { put(number, value, text); }
  void burst(std::uint64_t count, std::string_view text) override {
    for (std::uint64_t index = 0; index < count; ++index) {
      put(static_cast<int>(index), static_cast<double>(index) * 0.1, text);
    }
  }
  void finish() override {
    stop_.store(true, std::memory_order_release);
    consumer_.join();
  }
  std::uint64_t found() const override { return consumed_; }

 private:
  struct Slot {
    std::uint64_t ticks;
    const char* pattern;
    double value;
    int number;
    std::uint32_t size;
    std::array<char, 32> text;
  };
  static constexpr std::uint64_t slot_count = 4096;  // 256 KiB, as the ring it is compared with

  void put(int number, double value, std::string_view text) {
    while (head_ - tail_seen_ == slot_count) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head_ - tail_seen_ == slot_count) std::this_thread::yield();
    }
    Slot& slot = slots_[head_ % slot_count];
#if defined(__x86_64__)
    slot.ticks = __rdtsc();
#else
    slot.ticks = ordered_ticks();
#endif
    slot.pattern = "message {} of {} by {}";
    slot.number = number;
    slot.value = value;
    slot.size = static_cast<std::uint32_t>(std::min(text.size(), slot.text.size()));
    std::memcpy(slot.text.data(), text.data(), slot.size);
    published_.store(++head_, std::memory_order_release);
  }
  void consume() {
    while (true) {
      const bool last = stop_.load(std::memory_order_acquire);
      const std::uint64_t end = published_.load(std::memory_order_acquire);
      for (; consumed_ != end; ++consumed_) sum_ += slots_[consumed_ % slot_count].ticks;
      tail_.store(consumed_, std::memory_order_release);
      if (last) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(slot_count);
  alignas(64) std::uint64_t head_ = 0;
  std::uint64_t tail_seen_ = 0;
  alignas(64) std::atomic<std::uint64_t> published_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t consumed_ = 0, sum_ = 0;
  std::atomic<bool> stop_{false};
  std::thread consumer_;
};

// The floor of a text file: fmt into 64 KiB on the calling thread, and write() when they are full.
// The date is formatted once a second, as good code does it.
class BufferedFile final : public Subject {
 public:
  explicit BufferedFile(const std::string& path)
      : path_(path), descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)) {
    buffer_.reserve(buffer_bytes + 1024);
  }
  ~BufferedFile() override { close(descriptor_); }
  void log(int number, double value, std::string_view text) override { put(number, value, text); }
  void burst(std::uint64_t count, std::string_view text) override {
    for (std::uint64_t index = 0; index < count; ++index) {
      put(static_cast<int>(index), static_cast<double>(index) * 0.1, text);
    }
  }
  void finish() override { flush(); }
  std::uint64_t found() const override { return lines_in(path_); }

 private:
  static constexpr std::size_t buffer_bytes = 64 * 1024;

  void put(int number, double value, std::string_view text) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != second_) {
      second_ = now.tv_sec;
      tm parts{};
      gmtime_r(&second_, &parts);
      std::strftime(date_.data(), date_.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    }
    fmt::format_to(fmt::appender(buffer_), "{}.{:06}Z info  bench: message {} of {} by {}\n",
                   date_.data(), now.tv_nsec / 1000, number, value, text);
    if (buffer_.size() >= buffer_bytes) flush();
  }
  void flush() {
    std::size_t done = 0;
    while (done < buffer_.size()) {
      const ssize_t count = write(descriptor_, buffer_.data() + done, buffer_.size() - done);
      if (count <= 0) break;  // the lines that are missing are counted
      done += static_cast<std::size_t>(count);
    }
    buffer_.clear();
  }

  const std::string path_;
  const int descriptor_;
  fmt::memory_buffer buffer_;
  std::time_t second_ = 0;
  std::array<char, 32> date_{};
};

}  // namespace

std::uint64_t lines_in(const std::string& path) {
  const std::string text = read_all(path);
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<SubjectKind> subjects() {
  std::vector<SubjectKind> all;
  all.push_back({"hand-written ring", false,
                 [](const std::string&) { return std::make_unique<HandWrittenRing>(); }});
  all.push_back({"katana", true,
                 [](const std::string& path) { return std::make_unique<Katana>(path, false); }});
  all.push_back({"katana binary", true,
                 [](const std::string& path) { return std::make_unique<Katana>(path, true); }});
#if defined(KATANA_WITH_SPDLOG)
  all.push_back({"spdlog async", true, make_spdlog});
#endif
  all.push_back({"fmt and write", true,
                 [](const std::string& path) { return std::make_unique<BufferedFile>(path); }});
  return all;
}

}  // namespace log_bench

// SPDX-License-Identifier: Apache-2.0
