// expect-exit: 0
//
// A program whose handler of SIGSEGV is set by a system call of its own, when copies have been made
// for a while: as a runtime does that starts late. A little later touches beside a copy in flight
// are not its handler's, and a fault of its own is.
#include "in_flight.h"
#include "raw_mask.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <time.h>

enum { BEFORE_MS = 300, AFTER_MS = 300, TOUCHES = 20 };

static sigjmp_buf back;
static volatile int taken;

static void take(int number)
{
    (void)number;
    taken++;
    siglongjmp(back, 1);
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void copy_for(long ms)
{
    for (long until = now_ms() + ms; now_ms() < until;) {
        hold();
        release();
    }
}

int main(void)
{
    unsigned char *edge = (unsigned char *)edge_start();
    volatile char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct raw_action action = raw_action_of(take);
    action.flags |= SA_NODEFER;
    copy_for(BEFORE_MS);
    CHECK(raw_call(SYS_rt_sigaction, SIGSEGV, (long)&action, 0, sizeof action.mask));
    copy_for(AFTER_MS);
    for (volatile int i = 0; i < TOUCHES; i++) {
        hold();
        if (!sigsetjmp(back, 1))
            edge[i] = 1;
        release();
    }
    printf("touches beside a copy: %d\n", taken);
    if (!sigsetjmp(back, 1))
        *none = 1;
    printf("and one of its own: %d\n", taken);
    return 0;
}
