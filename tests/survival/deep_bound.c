// expect-exit: 0
// link: none
//
// A library that is opened with RTLD_DEEPBIND has a free of its own, and calls that one. It is
// found by the RUNPATH of who opens it, and one that is not there is told of as ever.
#include "lookup.h"

typedef void free_some_function(void *const *blocks, unsigned count);
typedef void *allocate_function(size_t size_bytes);
typedef const void *address_function(void);

static void use_library(void *library)
{
    const unsigned *frees = (const unsigned *)dlsym(library, "sc_deep_frees");
    void *blocks[] = {library, NULL, blocks};
    AS(free_some_function, (void *){dlsym(library, "sc_deep_free_some")})(blocks, 3);
    printf("%u of its frees\n", *frees);
    SHOW(AS(address_function, (void *){dlsym(library, "sc_deep_address")})() ==
         dlsym(library, "free"));
    void *block = AS(allocate_function, (void *){dlsym(library, "sc_deep_allocate")})(100);
    SHOW(block != NULL);
    free(block);
    printf("%u of its frees\n", *frees);
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        void *library = open_or_exit("libdeep_own.so", RTLD_NOW | RTLD_DEEPBIND);
        use_library(library);
        SHOW(dlclose(library));
    }
    SHOW(dlopen("libdeep_nowhere.so", RTLD_NOW | RTLD_DEEPBIND) == NULL);
    printf("%s\n", dlerror());
    SHOW(dlsym(RTLD_DEFAULT, "sc_deep_nowhere") == NULL);
    printf("%s\n", dlerror());
    return 0;
}
