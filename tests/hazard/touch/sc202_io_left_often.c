// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A thread receives into one buffer after the other, and signals take it out of all but the last
// call. The next copy into the first buffer is read too early.
#include "touch.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CALLS = 4 };

static int ends[2];
static sigjmp_buf before;
static _Atomic int call;

static void leave(int signal)
{
    (void)signal;
    siglongjmp(before, 1);
}

static void *receive_into_each(void *blocks)
{
    unsigned char *first = (unsigned char *)blocks;
    sigsetjmp(before, 1);
    while (call < CALLS) {
        unsigned char *into = first + (size_t)call++ * SMALL;
        (void)!recv(ends[1], into, SMALL, 0);
    }
    return NULL;
}

static void leave_all_but_last(pthread_t thread)
{
    for (int left = 1; left < CALLS; left++) {
        while (call < left)
            usleep(100);
        usleep(20000);
        CHECK(pthread_kill(thread, SIGUSR1));
    }
    while (call < CALLS)
        usleep(100);
    usleep(20000);
}

int main(void)
{
    unsigned char *target = pinned_block(CALLS * SMALL, 0);
    pthread_t thread;
    signal(SIGUSR1, leave);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    CHECK(pthread_create(&thread, NULL, receive_into_each, target));
    leave_all_but_last(thread);
    return finish(fetch_and_peek(target));
}
