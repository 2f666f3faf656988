// The system calls that a program of KATANA makes, by number: the list that system_calls.cpp
// allows. A call is here because the engines, the C library, SQLite, OpenSSL or the log make
// it. A call that is not here is refused.
//
// Thread     any: constants.
#pragma once

#include <linux/seccomp.h>
#include <sys/syscall.h>

namespace katana::sandbox {

// Calls that every program may make, whatever the arguments. Calls of each request come first: a
// kernel before 5.11 compares them one after another.
inline constexpr int always_allowed[] = {
    SYS_epoll_pwait,
    SYS_recvfrom,
    SYS_sendto,
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_recvmsg,
    SYS_sendmsg,
    SYS_accept4,
    SYS_close,
    SYS_futex,
    SYS_pread64,
    SYS_pwrite64,
    SYS_sendfile,
    SYS_epoll_ctl,
    SYS_shutdown,
    SYS_fdatasync,
    SYS_fsync,
    // files
    SYS_openat,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_lseek,
    SYS_faccessat,
    SYS_getdents64,
    SYS_readlinkat,
    SYS_getcwd,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_ftruncate,
    SYS_truncate,
    SYS_fallocate,
    SYS_flock,
    SYS_dup,
    SYS_dup3,
    SYS_pipe2,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_linkat,
    SYS_fstatfs,
    SYS_statfs,
    SYS_umask,
    SYS_fadvise64,
    SYS_copy_file_range,
    SYS_splice,
    SYS_preadv,
    SYS_pwritev,
    SYS_sync_file_range,
    SYS_sync,
    SYS_syncfs,
    SYS_readahead,
    SYS_chdir,
    // sockets
    SYS_accept,
    SYS_bind,
    SYS_getsockname,
    SYS_getpeername,
    SYS_setsockopt,
    SYS_getsockopt,
    SYS_sendmmsg,
    SYS_recvmmsg,
    SYS_ppoll,
    SYS_pselect6,
    // events and time
    SYS_epoll_create1,
    SYS_eventfd2,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_signalfd4,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_inotify_init1,
    SYS_inotify_add_watch,
    SYS_inotify_rm_watch,
    // memory
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_msync,
    SYS_mincore,
    SYS_mlock,
    SYS_munlock,
    SYS_membarrier,
    SYS_getrandom,
    // threads and signals
    SYS_set_robust_list,
    SYS_set_tid_address,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_rt_sigpending,
    SYS_rt_sigsuspend,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_setaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_gettid,
    SYS_getcpu,
    // identity of the process
    SYS_getpid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getgroups,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getsid,
    SYS_getpgid,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrusage,
    SYS_times,
    SYS_getrlimit,
    SYS_getpriority,
    SYS_capget,
#ifdef SYS_clock_gettime64
    SYS_clock_gettime64,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_close_range
    SYS_close_range,
#endif
#ifdef SYS_openat2
    SYS_openat2,
#endif
    441,  // epoll_pwait2: the engine calls it by number, whether the headers know it or not
#ifdef SYS_preadv2
    SYS_preadv2,
    SYS_pwritev2,
#endif
// Older forms, which x86-64 has beside those above.
#ifdef __x86_64__
    SYS_lchown,
    SYS_creat,
    SYS_utimes,
    SYS_pause,
    SYS_inotify_init,
    SYS_epoll_wait,
    SYS_poll,
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_rename,
    SYS_chmod,
    SYS_chown,
    SYS_dup2,
    SYS_pipe,
    SYS_select,
    SYS_time,
    SYS_getpgrp,
    SYS_epoll_create,
    SYS_eventfd,
    SYS_getdents,
    SYS_link,
#endif
};

// Also allowed until the program has started.
inline constexpr int while_starting[] = {
    SYS_listen, SYS_connect, SYS_setresuid, SYS_seccomp, SYS_setrlimit,
};

// Calls of a program that runs others.
inline constexpr int of_subprocesses[] = {
    SYS_clone,      SYS_execve,
    SYS_execveat,   SYS_wait4,
    SYS_waitid,     SYS_kill,
    SYS_setpgid,    SYS_setsid,
#ifdef SYS_clone3
    SYS_clone3,
#endif
#ifdef SYS_pidfd_open
    SYS_pidfd_open, SYS_pidfd_send_signal,
#endif
#ifdef __x86_64__
    SYS_fork,       SYS_vfork,
#endif
};

// A call that messages name.
struct NamedCall {
  int number;        // of this architecture
  const char* name;  // as in its manual page
};
// Names of calls that a program tries first when an attacker has taken it over, and of calls that a
// program may miss.
inline constexpr NamedCall named_calls[] = {
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_clone, "clone"},
    {SYS_ptrace, "ptrace"},
    {SYS_kill, "kill"},
    {SYS_tgkill, "tgkill"},
    {SYS_socket, "socket"},
    {SYS_connect, "connect"},
    {SYS_listen, "listen"},
    {SYS_mprotect, "mprotect"},
    {SYS_mmap, "mmap"},
    {SYS_pkey_mprotect, "pkey_mprotect"},
    {SYS_memfd_create, "memfd_create"},
    {SYS_shmat, "shmat"},
    {SYS_remap_file_pages, "remap_file_pages"},
    {SYS_personality, "personality"},
    {SYS_userfaultfd, "userfaultfd"},
    {SYS_fcntl, "fcntl"},
    {SYS_socketpair, "socketpair"},
    {SYS_prctl, "prctl"},
    {SYS_ioctl, "ioctl"},
    {SYS_mount, "mount"},
    {SYS_chroot, "chroot"},
    {SYS_unshare, "unshare"},
    {SYS_setns, "setns"},
    {SYS_bpf, "bpf"},
    {SYS_setresuid, "setresuid"},
    {SYS_setuid, "setuid"},
    {SYS_symlinkat, "symlinkat"},
    {SYS_prlimit64, "prlimit64"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_perf_event_open, "perf_event_open"},
    {SYS_wait4, "wait4"},
    {SYS_seccomp, "seccomp"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_io_uring_enter, "io_uring_enter"},
    {SYS_io_uring_register, "io_uring_register"},
#ifdef __x86_64__
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
#endif
};

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
