// expect-exit: 0
//
// The same look-up ten thousand times, by handle and by default, from several threads: the same
// pointer each time and never NULL.
#include "lookup.h"

#include <pthread.h>

static void *driver;
static const char *const names[] = {"cuInit", "cuMemcpyHtoDAsync_v2", "cuMemFreeHost",
                                    "cuGetProcAddress_v2", "cuStreamSynchronize_ptsz"};

static void *look(void *unused)
{
    intptr_t bad = 0;
    (void)unused;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        void *first = dlsym(driver, names[n]);
        bad += !first;
        for (int i = 0; i < 2000; i++)
            bad += dlsym(driver, names[n]) != first;
    }
    return (void *)bad;
}

int main(void)
{
    pthread_t threads[4];
    driver = open_or_exit("libcuda.so.1", RTLD_NOW);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, look, NULL));
    for (int i = 0; i < 4; i++) {
        void *bad = NULL;
        pthread_join(threads[i], &bad);
        printf("bad look-ups: %ld\n", (long)(intptr_t)bad);
    }
    use_cuda("program");
    return 0;
}
