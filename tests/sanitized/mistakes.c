// Copies there and back, then makes the mistake that its argument names, which is for the sanitizer
// of that name to report.
#include "tests/survival/survival.h"

#include <pthread.h>
#include <stdatomic.h>

/* Alone: ThreadSanitizer remembers a few accesses to each eight bytes. */
static _Alignas(64) int counter;
static volatile char seen;

static atomic_bool has_counted;

static void *count(void *unused)
{
    counter++;
    atomic_store_explicit(&has_counted, true, memory_order_relaxed);
    return unused;
}

/* One after the other, and in no order: of two that write at the same moment neither is told of. */
static int race(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, count, NULL));
    while (!atomic_load_explicit(&has_counted, memory_order_relaxed))
        usleep(100);
    counter++;
    CHECK(pthread_join(thread, NULL));
    return 0;
}

static int use_after_free(void)
{
    char *volatile block = malloc(64);
    free(block);
    seen = block[1];
    return 0;
}

static int overflow(void)
{
    volatile int most = __INT_MAX__;
    most++;
    return 0;
}

static int leak(void)
{
    void *volatile block = malloc(64);
    block = NULL;
    return block != NULL;
}

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "";
    puts(round_trip(4096) ? "data right" : "data wrong");
    fflush(stdout);
    if (strcmp(mistake, "address") == 0)
        return use_after_free();
    if (strcmp(mistake, "thread") == 0)
        return race();
    if (strcmp(mistake, "undefined") == 0)
        return overflow();
    return strcmp(mistake, "leak") == 0 ? leak() : 0;
}
