// expect-exit: 0
// link: none
// env: LD_LIBRARY_PATH=/nonexistent
//
// No driver where the program looks for it. It says so in its own words and goes on without.
#include "lookup.h"

int main(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        printf("no driver: %s\n", dlerror());
    else
        puts("there is a driver after all"); /* in the loader's cache: a machine with a GPU */
    SHOW(driver || !dlsym(RTLD_DEFAULT, "cuInit"));
    SHOW(driver || !dlsym(RTLD_DEFAULT, "cuMemcpyHtoDAsync_v2"));
    churn(1000);
    return 0;
}
