// expect: SC101 action=deferred kind=registered certainty=observed event=free
//
// The library is linked with the driver, and finds it and libc before what is preloaded.
#include "deep.h"

int main(void)
{
    return free_in_library("libdeep_linked.so");
}
