/* Which function prefaults the memory of a system call: raw_calls.def as a table by number. */
#include "interpose/system_calls/io.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "common/poison.h"

/* Newer than the C library's headers. */
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake 454
#define SYS_futex_wait 455
#define SYS_futex_requeue 456
#endif
#ifndef SYS_rseq
#ifdef __x86_64__
#define SYS_rseq 334
#else
#define SYS_rseq 293
#endif
#endif

/* The functions are defined with the parameters of their rows, and declared here with six longs. An
 * argument that is narrower than a register is taken from one all the same. */
#define SC_RAW(name) SC_RAW_AS(name, name)
#define SC_RAW_AS(name, hook) sc_io_prefault sc_io_prefault_##hook;
#include "interpose/system_calls/raw_calls.def"
#undef SC_RAW_AS

/* Returns the function that prefaults the memory of the system call; NULL: the table has no row of
 * it. */
sc_io_prefault *sc_io_prefault_of(long number)
{
#define SC_RAW_AS(name, hook)                                                                      \
    case SYS_##name:                                                                               \
        return sc_io_prefault_##hook;
    switch (number) {
#include "interpose/system_calls/raw_calls.def"
    default:
        return NULL;
    }
}
