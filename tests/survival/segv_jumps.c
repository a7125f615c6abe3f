// expect-exit: 0
// needs: kernel (jumps)
//
// Jumps into data are faults of the program's own: of a page that a copy in flight has part of, and
// of one that it had.
#include "in_flight.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
static void *volatile seen;

static void recover(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    seen = info->si_addr;
    siglongjmp(back, 1);
}

static void jump(unsigned char *to)
{
    if (sigsetjmp(back, 1) == 0) {
        ((void (*)(void))(uintptr_t)to)();
        puts("no fault");
    } else {
        printf("jumped, address %s\n", seen == (void *)to ? "right" : "wrong");
    }
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = recover, .sa_flags = SA_SIGINFO};
    unsigned char *data = (unsigned char *)edge_start();
    CHECK(sigaction(SIGSEGV, &action, NULL));
    hold();
    jump(data);
    release();
    jump(data);
    jump(data + EDGE);
    return 0;
}
