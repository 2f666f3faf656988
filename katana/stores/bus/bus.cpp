#include "katana/stores/bus/bus.hpp"

namespace katana::bus {

Bytes name_of(NoticeKind kind) noexcept {
  switch (kind) {
    case NoticeKind::missed: return "missed";
    case NoticeKind::may_have_missed: return "may_have_missed";
    case NoticeKind::disconnected: return "disconnected";
    case NoticeKind::connected: return "connected";
    case NoticeKind::denied: return "denied";
    case NoticeKind::closed: return "closed";
  }
  return "unknown";
}

Bytes name_of(MissReason reason) noexcept {
  switch (reason) {
    case MissReason::none: return "none";
    case MissReason::network: return "network";
    case MissReason::slow_reactor: return "slow_reactor";
    case MissReason::slow_reader: return "slow_reader";
    case MissReason::expired: return "expired";
  }
  return "unknown";
}

Bytes name_of(BusState state) noexcept {
  switch (state) {
    case BusState::in_process: return "in_process";
    case BusState::connecting: return "connecting";
    case BusState::connected: return "connected";
    case BusState::reconnecting: return "reconnecting";
    case BusState::closed: return "closed";
  }
  return "unknown";
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
