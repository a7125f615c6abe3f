/* A system call that comes through no function of libc, and so past every hook. */
#ifndef SC_TESTS_BARE_CALL_H
#define SC_TESTS_BARE_CALL_H

/* Returns what the kernel does: -errno where it refuses. */
static inline long bare_call(long number, long a, long b, long c)
{
#if defined __x86_64__
    long result = number;
    __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#elif defined __aarch64__
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x8 __asm__("x8") = number;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
    return x0;
#else
#error "which instruction makes a system call here?"
#endif
}

#endif
