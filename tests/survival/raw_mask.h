/* Signal masks that a program changes by system calls of its own, past the C library. */
#ifndef SC_TESTS_SURVIVAL_RAW_MASK_H
#define SC_TESTS_SURVIVAL_RAW_MASK_H

#include "signals.h"

#include <sys/syscall.h>

static SURVIVAL_HELPER long raw_call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    register long fourth __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long which __asm__("x8") = number;
    register long result __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    __asm__ volatile("svc 0"
                     : "+r"(result)
                     : "r"(which), "r"(second), "r"(third), "r"(fourth)
                     : "memory");
    return result;
#endif
}

static SURVIVAL_HELPER unsigned long raw_mask(void)
{
    unsigned long mask = 0;
    raw_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof mask);
    return mask;
}

static SURVIVAL_HELPER void raw_set_mask(unsigned long mask)
{
    raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask);
}

/* An action as the kernel takes it. */
struct raw_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

#if defined(__x86_64__)
extern void raw_restorer(void);
__asm__(".text\n"
        ".type raw_restorer, @function\n"
        "raw_restorer:\n"
        "	movq $15, %rax\n"
        "	syscall\n");
#endif

static SURVIVAL_HELPER struct raw_action raw_action_of(void (*handler)(int))
{
    struct raw_action action = {.handler = handler, .flags = SA_RESTART};
#if defined(__x86_64__)
    action.flags |= 0x04000000; /* SA_RESTORER */
    action.restorer = raw_restorer;
#endif
    return action;
}

#endif
