// expect: SC101 action=deferred kind=registered certainty=observed event=free
//
// The library looks the driver up by a dlsym that it finds before the one that is preloaded.
#include "deep.h"

int main(void)
{
    return free_in_library("libdeep_looked_up.so");
}
