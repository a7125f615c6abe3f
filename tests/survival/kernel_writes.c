// expect-exit: 0
//
// What the kernel writes within functions that nobody thinks of as system calls, on a page with the
// target of a copy in flight: random bytes, masks, alternate stacks, names, attributes; and pages
// that are locked.
#include "in_flight.h"

#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

struct edge {
    unsigned char random[64];
    sigset_t set, former;
    stack_t stack, former_stack;
    char name[16];
    struct mq_attr attributes;
    unsigned processor, node;
    void *head;
    size_t size;
    unsigned char schedule[56];
};

static struct edge *edge;

/* Weak: glibc has it since 2.36. */
void arc4random_buf(void *into, size_t size) __attribute__((weak));

static void random_bytes(void)
{
    unsigned sum = 0;
    hold();
    arc4random_buf(edge->random, sizeof edge->random);
    release();
    for (unsigned i = 0; i < sizeof edge->random; i++)
        sum += edge->random[i];
    SHOW(sum != 0);
}

static void masks(void)
{
    sigset_t now;
    sigemptyset(&edge->set);
    sigaddset(&edge->set, SIGUSR1);
    SHOW_BESIDE(sigprocmask(SIG_BLOCK, &edge->set, &edge->former));
    SHOW(sigismember(&edge->former, SIGUSR1));
    SHOW_BESIDE(pthread_sigmask(SIG_SETMASK, &edge->former, &edge->set));
    SHOW(sigismember(&edge->set, SIGUSR1));
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    SHOW(sigismember(&now, SIGUSR1));
    SHOW_BESIDE(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &edge->set, &edge->former, 8));
    SHOW(sigismember(&edge->former, SIGUSR1));
    SHOW(sigprocmask(SIG_BLOCK, NULL, (sigset_t *)8));
}

static void stacks(void)
{
    stack_t now;
    edge->stack = (stack_t){.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    SHOW_BESIDE(sigaltstack(&edge->stack, &edge->former_stack));
    SHOW(edge->former_stack.ss_flags);
    sigaltstack(NULL, &now);
    SHOW(now.ss_sp == edge->stack.ss_sp);
    edge->stack.ss_flags = SS_DISABLE;
    SHOW_BESIDE(sigaltstack(&edge->stack, &edge->former_stack));
}

static void names(void)
{
    strcpy(edge->name, "beside");
    SHOW_BESIDE(pthread_setname_np(pthread_self(), edge->name));
    SHOW_BESIDE(pthread_getname_np(pthread_self(), edge->name, sizeof edge->name));
    puts(edge->name);
    SHOW_BESIDE(prctl(PR_SET_NAME, "other"));
    SHOW_BESIDE(prctl(PR_GET_NAME, edge->name));
    puts(edge->name);
}

static void queues(void)
{
    char name[64];
    snprintf(name, sizeof name, "/kernel_writes.%d", (int)getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, NULL);
    if (queue == (mqd_t)-1)
        return;
    mq_unlink(name);
    SHOW_BESIDE(mq_getattr(queue, &edge->attributes));
    SHOW(edge->attributes.mq_curmsgs);
    mq_close(queue);
}

static void by_number(void)
{
    SHOW_BESIDE(syscall(SYS_getcpu, &edge->processor, &edge->node, NULL));
    SHOW_BESIDE(syscall(SYS_sched_getattr, 0, edge->schedule, sizeof edge->schedule, 0));
    SHOW_BESIDE(syscall(SYS_get_robust_list, 0, &edge->head, &edge->size));
    SHOW_BESIDE(syscall(SYS_prctl, PR_GET_NAME, edge->name, 0, 0, 0));
}

int main(void)
{
    edge = edge_start();
    if (arc4random_buf)
        random_bytes();
    masks();
    stacks();
    names();
    queues();
    by_number();
    SHOW_BESIDE(mlock(beside.block, 4096));
    return 0;
}
