// run: -> cupti.state=unused
// run: strict=1 -> cupti.state=listening
// run: strict=1 TOOL=1 ->
/* A constructor, which has the loader's lock, calls cuInit or lets a profiler subscribe while
 * another thread brings the library up, for which that needs the lock. Nobody waits for ever.
 * (The driver is initialised before: it would wait for the lock itself.) */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "around.h"

static CUresult (*initialise)(unsigned);

static void construct(void)
{
    usleep(200000);
    if (!getenv("TOOL"))
        CUDA(initialise(0));
    else if (profiler.subscribe(&profiler.handle, profiler_hear, &profiler) == CUPTI_SUCCESS)
        profiler_end();
}

static void *load(void *argument)
{
    char path[4096];
    Dl_info where;
    CHECK(dladdr((void *)construct, &where));
    snprintf(path, sizeof path, "%.*s/../survival/lib/libconstructor.so",
             (int)(strrchr(where.dli_fname, '/') - where.dli_fname), where.dli_fname);
    CHECK(dlopen(path, RTLD_NOW));
    return argument;
}

int main(void)
{
    pthread_t thread;
    char address[32];
    sigset_t signals;
    CUresult (*direct_initialise)(unsigned) = (CUresult(*)(unsigned))around("cuInit");
    CUDA(direct_initialise(0));
    *(void **)&initialise = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuInit");
    profiler_load();
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &signals) == 0);
    snprintf(address, sizeof address, "%p", (void *)construct);
    setenv("SC_CONSTRUCT", address, 1);
    CHECK(pthread_create(&thread, NULL, load, NULL) == 0);
    usleep(100000);
    CUDA(initialise(0));
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
