/* A signal that comes to the calling thread while what it has issued is under way.
 *
 *     busy(stream);
 *     CHECK(cudaMemcpyAsync(...));
 *     expect_interruption(stream);
 *     ... a call that waits for the copy ...
 *     bool right = was_interrupted();
 *
 * The signal is the thread's own, as a driver's thread may take one of the process.
 */
#ifndef SC_TESTS_HAZARD_INTERRUPTED_H
#define SC_TESTS_HAZARD_INTERRUPTED_H

#include "twin.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

enum { INTERRUPTED_AFTER_MS = 20 }; /* short against what keeps the stream busy */

static struct {
    atomic_bool is_over; /* what the stream had to do */
    atomic_bool came_before, came;
} interruption TWIN_UNUSED;

static TWIN_HELPER void note_interruption(int number)
{
    (void)number;
    atomic_store(&interruption.came_before, !atomic_load(&interruption.is_over));
    atomic_store(&interruption.came, true);
}

static TWIN_HELPER void note_end(void *unused)
{
    (void)unused;
    atomic_store(&interruption.is_over, true);
}

static TWIN_HELPER void expect_interruption(cudaStream_t stream)
{
    struct sigaction action = {.sa_handler = note_interruption, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    struct itimerspec soon = {.it_value.tv_nsec = INTERRUPTED_AFTER_MS * 1000000L};
    timer_t timer;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    CHECK(sigaction(SIGUSR1, &action, NULL));
    CHECK(cudaLaunchHostFunc(stream, note_end, NULL));
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer));
    CHECK(timer_settime(timer, 0, &soon, NULL));
}

/* Did it come before the stream was done? */
static TWIN_HELPER bool was_interrupted(void)
{
    if (!atomic_load(&interruption.came_before))
        puts(interruption.came ? "the signal came behind the copy" : "the signal did not come");
    return atomic_load(&interruption.came_before);
}

#endif
