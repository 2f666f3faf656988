// Traces: spans of the program, and the context of traces of other processes.
//
// Links      observe/trace
#pragma once

#include "katana/observe/trace/span.hpp"
#include "katana/observe/trace/trace_parent.hpp"
#include "katana/observe/trace/trace_state.hpp"
#include "katana/observe/trace/tracer.hpp"

// SPDX-License-Identifier: Apache-2.0
