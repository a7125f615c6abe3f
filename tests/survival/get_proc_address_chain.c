// expect-exit: 0
// link: none
//
// The look-up function looked up through itself, again and again, and functions reached that way
// used: each hand-out must be as good as the first, and never NULL after a few rounds.
#include "lookup.h"

int main(void)
{
    void *driver = open_or_exit("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    void *lookup = dlsym(driver, "cuGetProcAddress_v2");
    void *first = NULL;
    CUdriverProcAddressQueryResult status;
    for (int i = 0; i < 100 && lookup; i++) {
        void *next = NULL;
        CHECK(AS(lookup_v2_function, lookup)("cuGetProcAddress", &next, 13000, 0, &status));
        if (i == 0)
            first = next;
        if (!next || next != first)
            printf("round %d differs\n", i);
        lookup = next;
    }
    void *init = NULL;
    void *count = NULL;
    CHECK(AS(lookup_v2_function, lookup)("cuInit", &init, 13000, 0, &status));
    CHECK(AS(lookup_v2_function, lookup)("cuDeviceGetCount", &count, 13000, 0, NULL));
    show_count("through the chain", init, count);
    return 0;
}
