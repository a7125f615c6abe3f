// expect-exit: 0
//
// A language runtime in small: pages of its own that it protects and whose faults it serves, many
// of them, with SA_SIGINFO and without, while copies come and go on other memory. Its handler gets
// every one of its faults and none of anybody else's.
#include "survival.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 64, ROUNDS = 50 };

static char *pages;
static atomic_uint served, strange;
static atomic_bool stop;

static void serve(int number, siginfo_t *info, void *context)
{
    char *address = info->si_addr;
    (void)context;
    if (number != SIGSEGV || info->si_code != SEGV_ACCERR || address < pages ||
        address >= pages + PAGES * PAGE) {
        atomic_fetch_add(&strange, 1);
        _exit(9);
    }
    atomic_fetch_add(&served, 1);
    mprotect((void *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
}

static void serve_plainly(int number)
{
    (void)number;
    atomic_fetch_add(&served, 1);
    mprotect(pages, PAGES * PAGE, PROT_READ | PROT_WRITE);
}

static void *copy(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop))
        if (!round_trip((size_t)300 << 10))
            abort();
    return NULL;
}

static void touch_all(int step)
{
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(mprotect(pages, PAGES * PAGE, PROT_NONE));
        for (int page = 0; page < PAGES; page += step)
            pages[page * PAGE + round] = (char)round;
    }
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = serve, .sa_flags = SA_SIGINFO};
    struct sigaction found;
    pthread_t thread;
    pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    use_cuda("before");
    SHOW(sigaction(SIGSEGV, &action, NULL));
    CHECK(pthread_create(&thread, NULL, copy, NULL));
    touch_all(1);
    printf("served %u\n", atomic_exchange(&served, 0));
    SHOW(signal(SIGSEGV, serve_plainly) == (void (*)(int))(uintptr_t)serve);
    touch_all(PAGES);
    printf("served %u\n", atomic_exchange(&served, 0));
    SHOW(sigaction(SIGSEGV, NULL, &found));
    SHOW(found.sa_handler == serve_plainly);
    SHOW((found.sa_flags & SA_RESTART) != 0);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    SHOW(signal(SIGSEGV, SIG_DFL) == serve_plainly);
    use_cuda("after");
    return 0;
}
