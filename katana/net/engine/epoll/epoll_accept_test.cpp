// The forms of the epoll engine on real sockets: listeners, exhausted descriptors, waking and
// waiting.
#include "katana/net/engine/accept_cases_test.hpp"
#include "katana/net/engine/break_cases_test.hpp"
#include "katana/net/engine/connect_cases_test.hpp"
#include "katana/net/engine/epoll/epoll_forms_test.hpp"
#include "katana/net/engine/watch_cases_test.hpp"

namespace katana::engine {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Epoll, EngineAccepts, AllForms, FormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Epoll, EngineConnects, AllForms, FormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Epoll, EngineBreaks, AllForms, FormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Epoll, EngineWatches, AllForms, FormNames);

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
