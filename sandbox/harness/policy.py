"""The system calls that an answer may make, by name: allowed, watched (an attempt to get out), or refused.

Rules on arguments are `(argument, test, values)`; a call passes when every rule holds. What happens otherwise
is "watch" (the case ends and the call is named), "hard" (the same, where a container's own filter would
refuse the call first: there it ends unnamed) or the errno that the call returns; a rule may say its own.
"""

ALLOWED = frozenset(
    """
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek sendfile copy_file_range
    open openat openat2 creat close close_range dup dup2 dup3 pipe pipe2
    stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2
    readlink readlinkat getcwd chdir fchdir getdents getdents64 umask
    rename renameat renameat2 mkdir mkdirat rmdir link linkat unlink unlinkat symlink symlinkat
    chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat truncate ftruncate fallocate fadvise64
    fsync fdatasync flock getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
    eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime
    sendto recvfrom sendmsg recvmsg shutdown getsockopt setsockopt getsockname getpeername
    mmap munmap mprotect mremap brk madvise mincore msync mlock mlock2 munlock membarrier
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack pause
    restart_syscall clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times alarm
    getitimer setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete
    getpid getppid gettid getuid geteuid getgid getegid getgroups getresuid getresgid getpgid getpgrp getsid
    getpriority getrusage getrlimit setrlimit sysinfo uname getcpu capget
    sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max
    sched_get_priority_min sched_rr_get_interval
    futex futex_waitv set_robust_list set_tid_address rseq arch_prctl wait4 waitid exit exit_group getrandom
    """.split()
)

WATCHED = frozenset(
    """
    fork vfork execve execveat
    ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp tkill
    pidfd_open pidfd_getfd pidfd_send_signal
    connect bind listen accept accept4
    io_uring_setup io_uring_enter io_uring_register
    bpf perf_event_open userfaultfd keyctl add_key request_key memfd_secret
    mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen fsconfig fspick fsmount
    mount_setattr open_by_handle_at name_to_handle_at fanotify_init mknod mknodat quotactl quotactl_fd
    reboot swapon swapoff kexec_load kexec_file_load init_module finit_module delete_module acct syslog
    iopl ioperm modify_ldt sched_setscheduler sched_setattr
    setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset
    shmget msgget semget mq_open
    """.split()
)

SELF = object()
"""Stands for the process's own id in a rule's values."""

CLONE_THREAD = 0x00010000
NAMESPACE_FLAGS = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
AF_UNIX = 1
STREAM_PAIRS = tuple(1 | flags for flags in (0, 0o4000, 0o2000000, 0o2004000))
"""SOCK_STREAM with any of SOCK_NONBLOCK and SOCK_CLOEXEC."""
PLAIN_FAMILIES = (AF_UNIX, 2, 10, 16)
"""And AF_INET, AF_INET6, AF_NETLINK; AF_VSOCK, for one, is outside every network namespace."""
HARMLESS_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what Python asks of files."""
HARMLESS_PRCTLS = (3, 15, 16, 21, 0x53564D41)
"""PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_SET_VMA."""
SIGNAL_OWNERSHIP = (8, 10, 15)
"""F_SETOWN, F_SETSIG, F_SETOWN_EX: a descriptor that signals another process passes by kill()'s rule."""

EPERM, ENOSYS = 1, 38

CONDITIONAL = {
    "clone": (((0, "lacks_bits", (NAMESPACE_FLAGS,), "hard"), (0, "has_bits", (CLONE_THREAD,))), "watch"),
    "socket": (((0, "in", PLAIN_FAMILIES, "hard"), (0, "never", ())), "watch"),
    "kill": (((0, "in", (SELF,)),), "watch"),
    "tgkill": (((0, "in", (SELF,)),), "watch"),
    "rt_sigqueueinfo": (((0, "in", (SELF,)),), "watch"),
    "rt_tgsigqueueinfo": (((0, "in", (SELF,)),), "watch"),
    "prlimit64": (((0, "in", (0, SELF)),), "watch"),
    "setpriority": (((0, "in", (0,)), (1, "in", (0, SELF))), "watch"),
    "sched_setaffinity": (((0, "in", (0, SELF)),), "watch"),
    "fcntl": (((1, "not_in", SIGNAL_OWNERSHIP),), "watch"),
    # Datagram pairs could still send to a socket file of the host by its path.
    "socketpair": (((0, "in", (AF_UNIX,)), (1, "in", STREAM_PAIRS)), "watch"),
    "ioctl": (((1, "in", HARMLESS_IOCTLS),), EPERM),
    "prctl": (((0, "in", HARMLESS_PRCTLS),), EPERM),
    # libc falls back to clone(), whose flags a filter can read.
    "clone3": (((0, "never", ()),), ENOSYS),
}

HARNESS = frozenset(
    """
    fork vfork clone execve seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
    kill tgkill tkill rt_sigqueueinfo rt_tgsigqueueinfo prctl prlimit64 fcntl ioctl socketpair pidfd_open
    memfd_create setsid setpgid setpriority
    sched_setaffinity setuid setgid setgroups setresuid setresgid capset chown fchown lchown fchownat
    """.split()
)
"""What the harness and the container's own start need beyond ALLOWED; a case gives these up first."""

REPORTED = frozenset("connect bind listen accept accept4".split())
"""What a container's filter lets through, beside plain sockets, so that a case's filter can name it."""

OUTER = ALLOWED | HARNESS | REPORTED
"""By name, all that a container's filter lets through."""
