/* What memory system calls touch for which no libc function has a hook (raw_calls.def). */
#include "interpose/system_calls/io_rows.h"

#include "interpose/system_calls/exempt_objects.h"
#include "interpose/system_calls/prefault.h"

PREFAULT(futex, "futex",
         (const void *, word, int, operation, long, value, const void *, timeout, const void *,
          second),
         sc_prefault_futex(prefault, word, operation, timeout, second))
PREFAULT(futex_waitv, "futex_waitv",
         (const void *, waiters, unsigned, count, long, flags, const struct timespec *, deadline),
         sc_prefault_futexes(prefault, waiters, count), IN(deadline))
PREFAULT(futex_wake, "futex_wake", (const void *, word),
         sc_exempt_objects_add(word, sizeof(uint32_t)))
PREFAULT(futex_wait, "futex_wait",
         (const void *, word, long, value, long, mask, long, flags, const struct timespec *,
          deadline),
         sc_exempt_objects_add(word, sizeof(uint32_t)), IN(deadline))
PREFAULT(futex_requeue, "futex_requeue", (const void *, waiters),
         sc_prefault_futexes(prefault, waiters, 2))

PREFAULT(getcpu, "getcpu", (unsigned *, processor, unsigned *, node), OUT(processor), OUT(node))
PREFAULT(sched_getattr, "sched_getattr", (pid_t, thread, void *, into, unsigned, size),
         WRITES(into, size))
PREFAULT(get_robust_list, "get_robust_list", (int, thread, void **, head, size_t *, size),
         OUT(head), OUT(size))
PREFAULT(get_mempolicy, "get_mempolicy", (int *, mode, unsigned long *, nodes, unsigned long, most),
         OUT(mode), WRITES(nodes, (most + 7) / 8))
PREFAULT(prctl, "prctl", (int, option, void *, argument), BY_PRCTL(option, argument))

PREFAULT(rt_sigaction, "rt_sigaction",
         (int, number, const void *, action, void *, old, size_t, mask_bytes),
         READS(action, KERNEL_ACTION_BYTES), WRITES(old, KERNEL_ACTION_BYTES))
PREFAULT(rt_sigpending, "rt_sigpending", (sigset_t *, into, size_t, size), WRITES(into, size))
PREFAULT(rt_sigsuspend, "rt_sigsuspend", (const sigset_t *, mask, size_t, size), READS(mask, size))
PREFAULT(rt_sigtimedwait, "rt_sigtimedwait",
         (const sigset_t *, set, siginfo_t *, info, const struct timespec *, timeout, size_t, size),
         READS(set, size), OUT(info), IN(timeout))
PREFAULT(rt_sigqueueinfo, "rt_sigqueueinfo", (pid_t, process, int, number, const siginfo_t *, info),
         IN(info))
PREFAULT(rt_tgsigqueueinfo, "rt_tgsigqueueinfo",
         (pid_t, process, pid_t, thread, int, number, const siginfo_t *, info), IN(info))

/* Memory that Linux touches when the thread ends, or each time that it runs. */
PREFAULT(robust_list, "set_robust_list", (const void *, head, size_t, size),
         sc_exempt_objects_add(head, size))
PREFAULT(tid_address, "set_tid_address", (const int *, word),
         sc_exempt_objects_add(word, sizeof *word))
PREFAULT(rseq, "rseq", (const void *, area, uint32_t, size), sc_exempt_objects_add(area, size))
