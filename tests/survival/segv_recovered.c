// expect-exit: 0
//
// The program's own SIGSEGV handler: it recovers by siglongjmp from faults of its own making, sees
// the address that it touched, and is given back by sigaction and signal as it was set.
#include "survival.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

static sigjmp_buf back;
static void *volatile seen;

static void recover(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    seen = info->si_addr;
    siglongjmp(back, 1);
}

static void touch(volatile char *address)
{
    if (sigsetjmp(back, 1) == 0) {
        *address = 1;
        puts("no fault");
    } else {
        printf("recovered, address %s\n", seen == (void *)(uintptr_t)address ? "right" : "wrong");
    }
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = recover, .sa_flags = SA_SIGINFO};
    struct sigaction found;
    char *page = (char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    use_cuda("before");
    SHOW(sigaction(SIGSEGV, NULL, &found));
    SHOW(found.sa_handler == SIG_DFL);
    SHOW(sigaction(SIGSEGV, &action, NULL));
    for (int i = 0; i < 3; i++)
        touch(page + i);
    touch((volatile char *)(uintptr_t)8);
    use_cuda("after");
    touch(page);
    SHOW(sigaction(SIGSEGV, NULL, &found));
    SHOW(found.sa_sigaction == recover && (found.sa_flags & SA_SIGINFO) != 0);
    SHOW(signal(SIGSEGV, SIG_DFL) == (void (*)(int))(uintptr_t)recover);
    SHOW(munmap(page, 4096));
    return 0;
}
