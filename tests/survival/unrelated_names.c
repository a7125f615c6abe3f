// expect-exit: 0
// link: cudart fake
//
// A library that is not the driver defines functions whose names begin with "cu", and one whose
// name is the driver's. Linked directly, by handle and by default, each must stay what it is.
#include "lookup.h"

int cuFakeThing(int value);

typedef int fake_function(int value);

int main(void)
{
    void *fake = open_or_exit("libfake.so", RTLD_NOW);
    void *private = open_or_exit("libprivate.so", RTLD_NOW | RTLD_LOCAL);
    void *thing = dlsym(fake, "cuFakeThing");
    void *thing_by_default = dlsym(RTLD_DEFAULT, "cuFakeThing");
    void *mine = dlsym(private, "cuMemAlloc_v2");
    void *lookup = dlsym(private, "cuGetProcAddress_v2");
    SHOW(cuFakeThing(1));
    SHOW(thing == thing_by_default);
    SHOW(AS(fake_function, thing)(2));
    SHOW(dlsym(private, "cuFakeThing") == NULL);
    SHOW(mine ? AS(fake_function, mine)(3) : -1);
    SHOW(lookup ? AS(fake_function, lookup)(4) : -1);
    use_cuda("program");
    SHOW(AS(fake_function, mine)(5));
    SHOW(dlclose(private));
    return 0;
}
