/* Makes system calls without the C library.
 *
 * A call of syscall() arrives in a hook of the library (interpose/system_calls/raw_calls.c), and
 * the library's own calls must not. The functions here also keep errno, need no symbol looked up,
 * and are no cancellation points. So they may be called at any time: in signal handlers, before
 * constructors, under any lock. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_TOOLS_KERNEL_H
#define SC_TOOLS_KERNEL_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

/* Makes a system call. Returns its result: a value, or -errno. */
static inline long sc_kernel_call6(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long which __asm__("x8") = number;
    register long result __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    register long fifth __asm__("x4") = e;
    register long sixth __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(result)
                     : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "memory");
    return result;
#else
#error "how does this machine call its kernel?"
#endif
}

/* Makes a system call with up to six arguments, numbers or pointers; those left out are 0. */
#define sc_kernel_call(...) SC_KERNEL_CALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define SC_KERNEL_CALL_(number, a, b, c, d, e, f, ...)                                             \
    sc_kernel_call6(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

enum { SC_KERNEL_YIELDS = 20 };

/* Backs off in a loop that waits for another thread. `times`: how often the loop has checked
 * without success. At first it yields the processor. A thread that yields lets no thread of lower
 * priority run, so later it sleeps for a millisecond each time. */
static inline void sc_kernel_back_off(unsigned times)
{
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    if (times < SC_KERNEL_YIELDS)
        sc_kernel_call(SYS_sched_yield);
    else
        sc_kernel_call(SYS_nanosleep, &moment, NULL);
}

/* May there be a seccomp filter, which may refuse system calls or kill for them? False only if
 * there is certainly none. */
static inline bool sc_kernel_is_filtered(void)
{
    return sc_kernel_call(SYS_prctl, PR_GET_SECCOMP) != SECCOMP_MODE_DISABLED;
}

#endif
