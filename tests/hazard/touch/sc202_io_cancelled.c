// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A thread is cancelled while it receives into pinned memory. The next copy into that memory is
// read too early.
#include "touch.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends[2];
static _Atomic int receiver;

static void *receive(void *into)
{
    receiver = (int)syscall(SYS_gettid);
    return (void *)recv(ends[1], into, SMALL, 0);
}

/* Returns when the thread is gone for the kernel, too. */
static void cancel_receiver(void *into)
{
    pthread_t thread;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    CHECK(pthread_create(&thread, NULL, receive, into));
    usleep(20000);
    CHECK(pthread_cancel(thread));
    CHECK(pthread_join(thread, NULL));
    while (syscall(SYS_tkill, receiver, 0) == 0)
        usleep(100);
}

int main(void)
{
    unsigned char *target = pinned_block(SMALL, 0);
    cancel_receiver(target);
    return finish(fetch_and_peek(target));
}
