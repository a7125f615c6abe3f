// expect-exit: 0
// link: none
// env: LD_LIBRARY_PATH=/nonexistent
//
// The handle of the program itself, where the preloaded objects are found first. A program that
// asks it whether a driver is linked must hear what it hears without us, and why.
#include "lookup.h"

static void show(void *program, const char *name)
{
    void *found = dlsym(program, name);
    const char *why = dlerror();
    printf("%s: %s, %s\n", name, found ? "found" : "not found", why ? "an error" : "no error");
}

int main(void)
{
    void *program = open_or_exit(NULL, RTLD_NOW);
    show(program, "cuInit");
    show(program, "cuGetProcAddress_v2");
    show(program, "cuMemcpyHtoDAsync_v2");
    show(program, "cuNothing");
    show(program, "printf");
    SHOW(dlclose(program));
    return 0;
}
