// expect-exit: 0
// strict-says: a_thread_has_SIGSEGV_blocked
// needs: kernel (mq_notify)
//
// Threads of the C library's that call the program, of a timer and of a message queue, touch memory
// beside copies in flight. The C library starts them with all signals blocked, and what they are
// told, and find of their mask, is as ever.
#include "signals.h"

#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <time.h>

enum { ROUNDS = 20 };

static sem_t called;
static atomic_int wrong;

static void on_call(union sigval value)
{
    unsigned long mask = mask_now();
    (*(volatile unsigned char *)beside.block)++;
    if (value.sival_int == ROUNDS - 1)
        printf("mask %lx\n", mask);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &(sigset_t){0}, NULL));
    if (mask_now() != mask)
        wrong++;
    if ((mask >> (SIGSEGV - 1) & 1) && raise(SIGSEGV) != 0) /* nothing comes of it */
        wrong++;
    let_go();
    CHECK(sem_post(&called));
}

static void by_timer(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = on_call,
                             .sigev_value.sival_int = number};
    struct itimerspec soon = {{0, 0}, {0, 1000}};
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer));
    hold();
    CHECK(timer_settime(timer, 0, &soon, NULL));
    CHECK(sem_wait(&called));
    release();
    CHECK(timer_delete(timer));
}

static void by_message(mqd_t queue, int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = on_call,
                             .sigev_value.sival_int = number};
    char text[64];
    CHECK(mq_notify(queue, &event));
    hold();
    CHECK(mq_send(queue, "x", 1, 0));
    CHECK(sem_wait(&called));
    release();
    CHECK(mq_receive(queue, text, sizeof text, NULL) - 1);
}

int main(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 64};
    char name[64];
    snprintf(name, sizeof name, "/survival-%d", (int)getpid());
    edge_start();
    CHECK(sem_init(&called, 0, 0));
    for (int i = 0; i < ROUNDS; i++)
        by_timer(i);
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    if (queue == (mqd_t)-1)
        return 3;
    CHECK(mq_unlink(name));
    for (int i = 0; i < ROUNDS; i++)
        by_message(queue, i);
    SHOW(wrong);
    SHOW(beside.block[0]);
    return 0;
}
