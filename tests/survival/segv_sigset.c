// expect-exit: 0
//
// sigset, sigignore, signal, sysv_signal and siginterrupt of SIGSEGV while a page is guarded: the
// program's handler gets its own faults and none of the others, and each tells of the one before.
#include "signals.h"

static sigjmp_buf back;
static volatile char *nowhere;

static void note(int number)
{
    (void)number;
    puts("handler");
    siglongjmp(back, 1);
}

static const char *name_of(void (*handler)(int))
{
    return handler == SIG_DFL    ? "default"
           : handler == SIG_IGN  ? "ignored"
           : handler == SIG_HOLD ? "held"
           : handler == SIG_ERR  ? "error"
           : handler == note     ? "note"
                                 : "unknown";
}

static void show_action(void)
{
    struct sigaction found;
    CHECK(sigaction(SIGSEGV, NULL, &found));
    printf("%s, flags %x, mask %lx; thread's mask %lx\n", name_of(found.sa_handler),
           (unsigned)found.sa_flags, bits_of(&found.sa_mask), mask_now());
}

static void fault(void)
{
    if (sigsetjmp(back, 1) == 0)
        *nowhere = 1;
}

/* Changes the action with a page guarded, then touches beside the copy. */
#define WHILE_GUARDED(call)                                                                        \
    do {                                                                                           \
        hold();                                                                                    \
        const char *before = name_of(call);                                                        \
        (*(volatile unsigned char *)beside.block)++;                                               \
        release();                                                                                 \
        printf("%s: was %s\n", #call, before);                                                     \
        show_action();                                                                             \
    } while (0)

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
extern void (*sysv_signal(int number, void (*handler)(int)))(int);

int main(void)
{
    nowhere = no_page();
    edge_start();
    for (int round = 0; round < 2; round++) {
        WHILE_GUARDED(sigset(SIGSEGV, note));
        fault();
        WHILE_GUARDED((void (*)(int))(intptr_t)sigignore(SIGSEGV));
        WHILE_GUARDED(sigset(SIGSEGV, SIG_HOLD));
        WHILE_GUARDED(sigset(SIGSEGV, note));
        WHILE_GUARDED(signal(SIGSEGV, note));
        fault();
        fault();
        WHILE_GUARDED((void (*)(int))(intptr_t)siginterrupt(SIGSEGV, 1));
        WHILE_GUARDED(signal(SIGSEGV, note));
        WHILE_GUARDED((void (*)(int))(intptr_t)siginterrupt(SIGSEGV, 0));
        WHILE_GUARDED(signal(SIGSEGV, SIG_IGN));
        WHILE_GUARDED(sysv_signal(SIGSEGV, note));
        fault();
        show_action();
        WHILE_GUARDED(sigset(SIGSEGV, SIG_DFL));
        WHILE_GUARDED((void (*)(int))(intptr_t)sighold(SIGSEGV));
        WHILE_GUARDED((void (*)(int))(intptr_t)sigrelse(SIGSEGV));
        WHILE_GUARDED(sigset(SIGSEGV, SIG_IGN));
    }
    return 0;
}
