// expect-exit: 0
// needs: userfaultfd
// strict-may-say: a_thread_has_SIGSEGV_blocked
//
// SIGSEGV is really blocked, by a system call of the program's own, while the program touches what
// lies beside a copy in flight in pinned memory: the touch goes through.
#include "in_flight.h"
#include "raw_mask.h"

int main(void)
{
    setenv("SURVIVAL_PINNED", "1", 1);
    unsigned char *edge = (unsigned char *)edge_start();
    for (int i = 0; i < 20; i++) {
        hold();
        raw_set_mask(~0UL);
        edge[i] = (unsigned char)i;
        edge[EDGE + IN_FLIGHT + i] = (unsigned char)i;
        raw_set_mask(0);
        release();
    }
    printf("%d %d\n", edge[19], edge[EDGE + IN_FLIGHT + 19]);
    return 0;
}
