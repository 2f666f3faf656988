#include "tests/simulation/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace katana::simulation {

std::size_t Plan::replies() const {
  std::size_t count = 0;
  for (const Planned& each : requests) {
    if (each.breaks) break;
    ++count;
    if (each.last) break;
  }
  return count;
}

bool Plan::breaks() const {
  const std::size_t count = replies();
  return count < requests.size() && requests[count].breaks;
}

bool Plan::exact() const {
  return ending != Ending::leave && ending != Ending::reset && reading != Reading::stops;
}

Client::Client(World& world, const Plan& plan, std::uint64_t seed)
    : world_(world), plan_(plan), random_(seed), peer_(world.network()) {
  peer_.on_connected = [this] { pump(); };
  peer_.on_received = [this] { on_received(); };
  peer_.on_over = [this] { on_over(); };
  if (plan.window != 0) peer_.set_window(plan.window);
  world.network().after(plan.start, [this] { start(); });
}

void Client::start() {
  peer_.connect(world_.port(plan_.site));
  if (plan_.ending != Ending::leave && plan_.ending != Ending::reset) return;
  world_.network().after(plan_.ends_after, [this] {
    if (over()) return;
    closed_ = true;
    plan_.ending == Ending::leave ? peer_.close() : peer_.reset();
  });
}

void Client::close() {
  if (closed_) return;
  closed_ = true;
  peer_.close();
}

// Sends what may be sent now.
void Client::pump() {
  while (!over() && !stopped_ && !thinking_ && !writing_ && !waiting_for_continue_ &&
         next_ < plan_.requests.size() && next_ - reader_.replies().size() < plan_.depth) {
    const Duration think = plan_.requests[next_].think;
    if (think > Duration{} && !std::exchange(thought_, true)) {
      thinking_ = true;
      world_.network().after(think, [this] {
        thinking_ = false;
        pump();
      });
      return;
    }
    thought_ = false;
    send_request();
  }
  const bool all_sent = next_ == plan_.requests.size() && !writing_ && !waiting_for_continue_;
  if (plan_.ending == Ending::half_close && all_sent && !over()) peer_.finish();
}

void Client::send_request() {
  const Planned& request = plan_.requests[next_++];
  reader_.expect(request.to_head);
  if (request.waits_for_continue) {
    waiting_for_continue_ = true;
    continues_before_ = reader_.continues_in_all();
    write(request.head);
  } else {
    write(request.head + request.content);
  }
}

void Client::write(const std::string& bytes) {
  const bool cuts = plan_.slice_octets_max != 0;
  // A few hundred slices cut where many thousands would.
  const std::size_t slice_max = std::max(plan_.slice_octets_max, bytes.size() / 200);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t count = cuts ? random_.between(1, slice_max) : bytes.size();
    const auto pause_max_us = static_cast<std::uint64_t>(plan_.slice_pause_max.ns / 1'000);
    const Duration pause = microseconds(static_cast<std::int64_t>(
        pause_max_us == 0 || at == 0 ? 0 : random_.between(0, pause_max_us)));
    slices_.push_back({pause, bytes.substr(at, count)});
    at += count;
  }
  if (!writing_) write_next();
}

void Client::write_next() {
  while (!slices_.empty() && !over()) {
    if (slices_.front().pause > Duration{}) {
      writing_ = true;
      const Duration pause = std::exchange(slices_.front().pause, Duration{});
      world_.network().after(pause, [this] {
        writing_ = false;
        write_next();
        pump();
      });
      return;
    }
    peer_.send(slices_.front().bytes);
    slices_.pop_front();
  }
}

void Client::on_received() {
  const std::string bytes = peer_.take_received();
  octets_received_ += bytes.size();
  const std::size_t replies = reader_.replies().size();
  reader_.feed(bytes);
  if (plan_.reading == Reading::slow) read_slowly();
  if (plan_.reading == Reading::stops && octets_received_ >= plan_.stops_after)
    peer_.stop_reading();
  if (waiting_for_continue_ && reader_.continues_in_all() > continues_before_) {
    waiting_for_continue_ = false;
    write(plan_.requests[next_ - 1].content);
  }
  if (reader_.replies().size() > replies) on_replies();
  pump();
}

void Client::read_slowly() {
  peer_.stop_reading();
  const Duration pause = microseconds(static_cast<std::int64_t>(random_.between(0, 4'000)));
  world_.network().after(pause, [this] { peer_.start_reading(); });
}

void Client::on_replies() {
  const auto& replies = reader_.replies();
  if (waiting_for_continue_ && replies.size() == next_) {
    // Answered without a 100: the content is not wanted, and the server says that it ends.
    waiting_for_continue_ = false;
    stopped_ = true;
  }
  if (replies.back().closes) stopped_ = true;
  if (!stopped_ && replies.size() == plan_.requests.size() && plan_.ending == Ending::close)
    close();
}

void Client::on_over() {
  if (peer_.saw_end()) {
    reader_.end();
    close();
  }
}

std::string Client::error() const {
  if (!reader_.error().empty()) return reader_.error();
  if (peer_.saw_end() && !reader_.between_replies())
    return "the connection ended in order, but inside a reply";
  return error_;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
