// expect-exit: 0
// strict-may-say: touches_not_judged
//
// A child of fork, and one that shares the parent's memory, use what lies beside a copy in flight
// in pinned memory, which they share with the parent; then the child closes all descriptors, and
// the parent goes on.
#include "in_flight.h"

#include <sched.h>
#include <sys/wait.h>

static unsigned char *edge;

static int touch(void *unused)
{
    (void)unused;
    edge[1]++;
    return 0;
}

static int forked(void)
{
    pid_t child = fork();
    if (child == 0) {
        edge[0]++;
        edge[EDGE + IN_FLIGHT]++;
        for (int i = 3; i < 1024; i++)
            close(i);
        edge[2]++;
        _exit(7);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int sharing(void)
{
    static char stack[64 << 10] __attribute__((aligned(16)));
    int status = -1;
    pid_t child = clone(touch, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    setenv("SURVIVAL_PINNED", "1", 1);
    edge = (unsigned char *)edge_start();
    for (int i = 0; i < 10; i++) {
        hold();
        printf("%d ", forked());
        release();
        hold();
        printf("%d ", sharing());
        release();
    }
    printf("%d %d %d %d\n", edge[0], edge[1], edge[2], edge[EDGE + IN_FLIGHT]);
    return 0;
}
