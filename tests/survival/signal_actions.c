// expect-exit: 0
//
// What is set as a signal's action is what is read back, bit by bit, as the kernel would tell it:
// by every call, in every order, for SIGSEGV as for another signal, before anybody knows of CUDA
// and while a page is guarded.
#include "signals.h"

enum { RESTORER = 0x04000000 };

static void note(int number)
{
    (void)number;
}

static void note_info(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
}

static const char *name_of(void (*handler)(int))
{
    return handler == SIG_DFL                               ? "default"
           : handler == SIG_IGN                             ? "ignored"
           : handler == SIG_HOLD                            ? "held"
           : handler == SIG_ERR                             ? "error"
           : handler == note                                ? "note"
           : handler == (void (*)(int))(uintptr_t)note_info ? "note_info"
                                                            : "unknown";
}

static void (*restorer)(void);

/* On aarch64 the C library hands the kernel what its stack had there, without the flag. */
static const char *restorer_of(const struct sigaction *action)
{
#ifndef __x86_64__
    if (!(action->sa_flags & RESTORER))
        return "none asked for";
#endif
    return !action->sa_restorer              ? "no restorer"
           : action->sa_restorer == restorer ? "restorer"
                                             : "another restorer";
}

/* The kernel takes these out of a mask, and an emulator's may keep them. */
static unsigned long kept_by_emulator;

static void show_action(const char *who, const struct sigaction *action)
{
    printf("  %s: %s, flags %x, mask %lx, %s\n", who, name_of(action->sa_handler),
           (unsigned)action->sa_flags, bits_of(&action->sa_mask) & ~kept_by_emulator,
           restorer_of(action));
}

static void read_back(int number)
{
    struct sigaction found;
    memset(&found, 0x5a, sizeof found);
    int result = sigaction(number, NULL, &found);
    if (result == 0)
        show_action("read", &found);
    else
        printf("  read: %d %s\n", result, strerrorname_np(errno));
}

static void set(int number, void (*handler)(int), unsigned flags, sigset_t mask)
{
    struct sigaction action, former;
    memset(&action, 0, sizeof action);
    memset(&former, 0x5a, sizeof former);
    action.sa_handler = handler;
    action.sa_flags = (int)flags;
    action.sa_mask = mask;
    printf("set %d %s %x %lx\n", number, name_of(handler), flags, bits_of(&mask));
    int result = sigaction(number, &action, &former);
    if (result == 0)
        show_action("was", &former);
    else
        printf("  was: %d %s\n", result, strerrorname_np(errno));
    read_back(number);
}

static void set_each(int number)
{
    static const unsigned flags[] = {0,
                                     SA_ONSTACK,
                                     SA_RESTART,
                                     SA_NODEFER | SA_RESTART,
                                     SA_RESETHAND,
                                     RESTORER, /* on x86-64 the C library's to say */
                                     SA_NOCLDSTOP | SA_NOCLDWAIT,
                                     0x00000400, /* SA_UNSUPPORTED, by which a program asks */
                                     0x00000800};
    sigset_t masks[] = {only(0), only(SIGSEGV), only(SIGUSR2), only(SIGKILL), every()};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        set(number, note, flags[i], masks[i % 5]);
    for (size_t i = 0; i < 5; i++)
        set(number, (void (*)(int))(uintptr_t)note_info, SA_SIGINFO | flags[i], masks[i]);
    set(number, SIG_IGN, SA_RESTART, only(SIGUSR2));
    set(number, SIG_DFL, SA_ONSTACK, only(SIGSEGV));
    set(number, note, 0, only(0));
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
extern void (*sysv_signal(int number, void (*handler)(int)))(int);
extern void (*bsd_signal(int number, void (*handler)(int)))(int);
extern void (*ssignal(int number, void (*handler)(int)))(int);

/* The result, and what is read back then. */
#define OLD_CALL(call)                                                                             \
    do {                                                                                           \
        errno = 0;                                                                                 \
        printf("%s -> %s %s\n", #call, name_of(call), errno ? strerrorname_np(errno) : "");        \
        read_back(number);                                                                         \
    } while (0)
#define OLD_NUMBER(call) OLD_CALL((void (*)(int))(intptr_t)(call))

static void call_old(int number)
{
    OLD_CALL(signal(number, note));
    OLD_NUMBER(siginterrupt(number, 1));
    OLD_CALL(bsd_signal(number, note));
    OLD_CALL(ssignal(number, SIG_IGN));
    OLD_NUMBER(siginterrupt(number, 0));
    OLD_CALL(signal(number, SIG_DFL));
    OLD_CALL(sysv_signal(number, note));
    OLD_CALL(sigset(number, SIG_HOLD));
    OLD_CALL(sigset(number, note));
    OLD_NUMBER(sigignore(number));
    OLD_CALL(sigset(number, SIG_DFL));
    OLD_CALL(signal(number, SIG_ERR));
    OLD_CALL(sigset(number, SIG_ERR));
    OLD_CALL(sysv_signal(number, SIG_ERR));
}

static void set_invalid(void)
{
    static const int numbers[] = {-1, 0, SIGKILL, SIGSTOP, 32, 33, 64, 65, 1000};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int number = numbers[i];
        set(number, note, 0, only(0));
        OLD_CALL(signal(number, SIG_IGN));
        OLD_CALL(sigset(number, SIG_IGN));
        OLD_NUMBER(siginterrupt(number, 1));
        OLD_NUMBER(sigignore(number));
    }
}

static void all(const char *when)
{
    const int numbers[] = {SIGSEGV, SIGUSR1, SIGBUS, SIGCHLD, SIGRTMIN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        printf("-- %s, signal %d\n", when, numbers[i]);
        read_back(numbers[i]);
        set_each(numbers[i]);
        call_old(numbers[i]);
    }
    set_invalid();
}

int main(void)
{
    struct sigaction action = {.sa_handler = note, .sa_mask = every()}, found;
    CHECK(sigaction(SIGUSR2, &action, NULL));
    CHECK(sigaction(SIGUSR2, NULL, &found));
    restorer = found.sa_restorer;
#ifndef __x86_64__
    const unsigned long never = 1UL << (SIGKILL - 1) | 1UL << (SIGSTOP - 1);
    kept_by_emulator = bits_of(&found.sa_mask) & never;
#endif
    all("at first");
    edge_start();
    read_back(SIGSEGV);
    touch_beside("guarded");
    read_back(SIGSEGV);
    all("after CUDA");
    hold();
    all("while a page is guarded");
    release();
    return 0;
}
