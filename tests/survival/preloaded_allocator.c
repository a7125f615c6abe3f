// expect-exit: 0
// preload-also: allocator
//
// An allocator preloaded after this library, as jemalloc and tcmalloc are: page-aligned blocks, no
// headers, no malloc_usable_size. Every block that reaches its free() must be one of its own.
#include "survival.h"

#include <dlfcn.h>
#include <pthread.h>

static void *work(void *unused)
{
    (void)unused;
    churn(200);
    static char wrong;
    return round_trip((size_t)64 << 10) ? NULL : &wrong;
}

int main(void)
{
    int (*foreign)(void) = NULL;
    pthread_t threads[4];
    *(void **)&foreign = dlsym(RTLD_DEFAULT, "allocator_foreign_frees");
    use_cuda("program");
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, work, NULL));
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        SHOW(result == NULL);
    }
    SHOW(foreign ? foreign() : -1);
    return 0;
}
