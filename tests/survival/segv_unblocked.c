// expect-exit: 0
//
// The old way to recover from bad pointers: a jump out of the handler that keeps no mask, and then
// every call that can unblock SIGSEGV. Before the process knows of CUDA, with it, and once pages
// were guarded.
#include "signals.h"

static jmp_buf back;
static sigset_t clean;
static volatile char *nowhere;

static void jump(int number)
{
    (void)number;
    longjmp(back, 1);
}

static void by_sigprocmask(void)
{
    sigset_t fault = only(SIGSEGV);
    CHECK(sigprocmask(SIG_UNBLOCK, &fault, NULL));
}

static void by_pthread_sigmask(void)
{
    sigset_t fault = only(SIGSEGV);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &fault, NULL));
}

static void by_former_mask(void)
{
    CHECK(sigprocmask(SIG_SETMASK, &clean, NULL));
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void by_sigsetmask(void)
{
    sigsetmask(0);
}

static void by_sigrelse(void)
{
    CHECK(sigrelse(SIGSEGV));
}

static void by_sigset(void)
{
    if (sigset(SIGSEGV, jump) == SIG_ERR)
        abort();
    handle(SIGSEGV, jump, 0, only(0));
}

static void (*const ways[])(void) = {by_sigprocmask, by_pthread_sigmask, by_former_mask,
                                     by_sigsetmask,  by_sigrelse,        by_sigset};

static void recover(const char *when)
{
    handle(SIGSEGV, jump, 0, only(0));
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        volatile int recovered = 0;
        for (volatile int i = 0; i < 3; i++) {
            if (_setjmp(back) == 0)
                *nowhere = 1;
            recovered++;
            if (i == 0)
                show_mask("after the jump");
            ways[way]();
        }
        printf("%s, way %zu: recovered %d times, mask %lx\n", when, way, recovered, mask_now());
    }
    handle(SIGSEGV, SIG_DFL, 0, only(0));
}

int main(void)
{
    void *device = NULL;
    char *pageable = malloc(PAGE);
    nowhere = no_page();
    CHECK(sigprocmask(SIG_SETMASK, NULL, &clean));
    recover("without CUDA");
    CHECK(cudaMalloc(&device, PAGE));
    CHECK(cudaMemcpy(device, pageable, PAGE, cudaMemcpyHostToDevice));
    recover("with it");
    edge_start();
    touch_beside("guarded");
    recover("guarded");
    touch_beside("last");
    free(pageable);
    return 0;
}
