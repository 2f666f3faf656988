// The reactor: awaitables for its coroutines, tasks that go on without a request, and protocols on
// its connections.
//
// Links      net/reactor net/engine/epoll
#pragma once

#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/net/reactor/timeout.hpp"

// SPDX-License-Identifier: Apache-2.0
