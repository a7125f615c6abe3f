// expect-exit: 0
// preload-also: interposer
//
// A second interposer beside this library wraps malloc, free and cuMemAlloc by dlsym(RTLD_NEXT), as
// GPU-sharing tools do. From its place in the order the next cuMemAlloc is the driver's, or nothing
// in a program that does not link it; its own dlsym-found functions must not lead back to it. A
// handle of libc leads past it, and its own handle finds its own injection function.
#include "lookup.h"

typedef int counter_function(void);

/* The library that `found` lies in is asked for the name by which the driver finds a tool. */
static int has_its_own_injection(void *found)
{
    Dl_info owner, answer;
    if (!dladdr(found, &owner))
        return 0;
    void *handle = open_or_exit(owner.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    return dladdr(dlsym(handle, "InitializeInjection"), &answer) &&
           answer.dli_fbase == owner.dli_fbase;
}

int main(void)
{
    void *allocations = dlsym(RTLD_DEFAULT, "interposer_allocations");
    void *depth = dlsym(RTLD_DEFAULT, "interposer_max_depth");
    void *driver_found = dlsym(RTLD_DEFAULT, "interposer_found_driver");
    if (!allocations || !depth || !driver_found) {
        puts("the interposer is not there");
        return 1;
    }
    use_cuda("program");
    churn(1000);
    use_cuda("program");
    SHOW(AS(counter_function, allocations)() >= 1000);
    SHOW(AS(counter_function, depth)());
    SHOW(AS(counter_function, driver_found)());
    SHOW(is_of_libc(dlsym(open_or_exit("libc.so.6", RTLD_NOW), "free")));
    SHOW(has_its_own_injection(allocations));
    return 0;
}
