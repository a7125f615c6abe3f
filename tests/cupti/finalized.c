// run: strict=1 -> cupti.state=yielded coverage.wrapped=3
/* A tool that uses activity records alone never subscribes, and tears CUPTI down when it is done.
 */
#include "profiler.h"

int main(void)
{
    set_up();
    copy();
    void *library = dlopen("libcupti.so.13", RTLD_NOW);
    CHECK(library);
    __typeof__(CUPTI_SUCCESS) (*finalize)(void);
    *(void **)&finalize = dlsym(library, "cuptiFinalize");
    CHECK(finalize && finalize() == CUPTI_SUCCESS);
    copy();
    return 0;
}
