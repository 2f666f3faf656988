#include "katana/observe/crash/signal_names.hpp"

#include <csignal>

namespace katana::crash {
namespace {

Bytes fault_name(int code) noexcept {
  switch (code) {
    case SEGV_MAPERR: return "SEGV_MAPERR";
    case SEGV_ACCERR: return "SEGV_ACCERR";
    case SI_KERNEL: return "SI_KERNEL";
    default: return "-";
  }
}

Bytes bus_name(int code) noexcept {
  switch (code) {
    case BUS_ADRALN: return "BUS_ADRALN";
    case BUS_ADRERR: return "BUS_ADRERR";
    case BUS_OBJERR: return "BUS_OBJERR";
    default: return "-";
  }
}

Bytes arithmetic_name(int code) noexcept {
  switch (code) {
    case FPE_INTDIV: return "FPE_INTDIV";
    case FPE_INTOVF: return "FPE_INTOVF";
    case FPE_FLTDIV: return "FPE_FLTDIV";
    default: return "-";
  }
}

Bytes instruction_name(int code) noexcept {
  switch (code) {
    case ILL_ILLOPC: return "ILL_ILLOPC";
    case ILL_ILLOPN: return "ILL_ILLOPN";
    default: return "-";
  }
}

}  // namespace

Bytes signal_name(int signal) noexcept {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGFPE: return "SIGFPE";
    case SIGABRT: return "SIGABRT";
    case SIGSYS: return "SIGSYS";
    default: return "-";
  }
}

Bytes code_name(int signal, int code) noexcept {
  if (code == SI_USER) return "SI_USER";    // by kill()
  if (code == SI_TKILL) return "SI_TKILL";  // by raise() or abort()
  switch (signal) {
    case SIGSEGV: return fault_name(code);
    case SIGBUS: return bus_name(code);
    case SIGFPE: return arithmetic_name(code);
    case SIGILL: return instruction_name(code);
    default: return "-";
  }
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
