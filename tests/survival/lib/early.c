/* Uses the driver before main, from the constructor of a preloaded library. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void use_driver(const char *when)
{
    int count = -1;
    int (*start)(unsigned) = NULL;
    int (*devices)(int *) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    free(malloc(1000));
    if (driver) {
        *(void **)&start = dlsym(driver, "cuInit");
        *(void **)&devices = dlsym(driver, "cuDeviceGetCount");
    }
    int started = start ? start(0) : -1;
    int counted = devices ? devices(&count) : -1;
    printf("early library, %s: %d %d %d\n", when, started, counted, count > 0);
    fflush(stdout);
}

__attribute__((constructor(101))) static void begin(void)
{
    use_driver("constructor");
}

__attribute__((destructor)) static void end(void)
{
    free(malloc(1000));
}
