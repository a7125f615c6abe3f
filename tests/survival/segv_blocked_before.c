// expect-exit: 0
// strict-says: a_thread_has_SIGSEGV_blocked
// needs: kernel (execve)
//
// SIGSEGV was blocked before anybody could know: by the program that started this one (itself), and
// on a thread that left its handler without restoring the mask. Memory beside a copy is touched
// there, and what the thread believes of its mask stays.
#include "signals.h"

static __thread jmp_buf back;
static volatile char *nowhere;
static pthread_barrier_t barrier;

static void leave(int number)
{
    (void)number;
    _longjmp(back, 1);
}

static void *touch_blocked(void *unused)
{
    (void)unused;
    if (_setjmp(back) == 0)
        *nowhere = 1;
    show_mask("left");
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    touch_beside("thread");
    show_mask("thread");
    return NULL;
}

static void in_worker(void)
{
    pthread_t thread;
    handle(SIGSEGV, leave, 0, only(0));
    CHECK(pthread_barrier_init(&barrier, NULL, 2));
    CHECK(pthread_create(&thread, NULL, touch_blocked, NULL));
    pthread_barrier_wait(&barrier);
    handle(SIGSEGV, SIG_DFL, 0, only(0));
    edge_start();
    touch_beside("main");
    pthread_barrier_wait(&barrier);
    CHECK(pthread_join(thread, NULL));
}

static void *show_inherited(void *unused)
{
    (void)unused;
    show_mask("inherited by a thread");
    touch_beside("inherited by a thread");
    return NULL;
}

static void inherited(void)
{
    pthread_t thread;
    show_mask("inherited");
    edge_start();
    touch_beside("inherited");
    CHECK(pthread_create(&thread, NULL, show_inherited, NULL));
    CHECK(pthread_join(thread, NULL));
    set_mask(only(0));
    show_mask("none");
    touch_beside("none");
}

int main(int count, char **arguments)
{
    char blocked[] = "blocked";
    char *again[] = {arguments[0], blocked, NULL};
    nowhere = no_page();
    if (count > 1) {
        inherited();
        return 0;
    }
    in_worker();
    set_mask(only(SIGSEGV));
    fflush(stdout);
    execv("/proc/self/exe", again);
    return 3;
}
