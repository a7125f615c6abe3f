// expect-exit: 0
//
// A library that is opened later asks dlsym for RTLD_NEXT and RTLD_DEFAULT: both mean what they
// mean for that library, whoever stands in between.
#include "lookup.h"

typedef const char *ask_function(void);

int main(void)
{
    void *library = open_or_exit("libasker.so", RTLD_NOW | RTLD_LOCAL);
    void *asks[] = {dlsym(library, "asker_next"), dlsym(library, "asker_default"),
                    dlsym(library, "asker_self")};
    for (size_t i = 0; i < 3; i++)
        printf("%s\n", asks[i] ? AS(ask_function, asks[i])() : "not found");
    SHOW(dlsym(RTLD_DEFAULT, "asker_next") == NULL);
    use_cuda("program");
    SHOW(dlclose(library));
    return 0;
}
