// expect-exit: 0
//
// Threads that are cancelled while they wait in read, recvmsg and poll, in deferred and
// asynchronous mode, with a buffer in flight beside what they read into.
#include "in_flight.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int ends[2];
static int cleaned;

static void clean_up(void *block)
{
    free(block);
    cleaned++;
}

static void in_read(void)
{
    (void)!read(ends[0], beside.block, 100);
}

static void in_message(void)
{
    struct iovec piece = {beside.block, 100};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    (void)!recvmsg(ends[0], &message, 0);
}

static void in_poll(void)
{
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    poll(&one, 1, -1);
}

struct wait {
    void (*call)(void);
    int type;
};

static void *wait_for_ever(void *argument)
{
    const struct wait *wait = argument;
    pthread_cleanup_push(clean_up, malloc(1000));
    pthread_setcanceltype(wait->type, NULL);
    wait->call();
    pthread_cleanup_pop(1);
    return NULL;
}

static void show(const char *name, struct wait wait)
{
    pthread_t thread;
    void *result = NULL;
    hold();
    CHECK(pthread_create(&thread, NULL, wait_for_ever, &wait));
    usleep(20000);
    CHECK(pthread_cancel(thread));
    pthread_join(thread, &result);
    release();
    printf("%s: cancelled %d, cleaned %d\n", name, result == PTHREAD_CANCELED, cleaned);
}

int main(void)
{
    edge_start();
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    show("read", (struct wait){in_read, PTHREAD_CANCEL_DEFERRED});
    show("read", (struct wait){in_read, PTHREAD_CANCEL_ASYNCHRONOUS});
    show("recvmsg", (struct wait){in_message, PTHREAD_CANCEL_DEFERRED});
    show("poll", (struct wait){in_poll, PTHREAD_CANCEL_DEFERRED});
    use_cuda("after");
    return 0;
}
