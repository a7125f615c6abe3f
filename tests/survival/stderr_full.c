// expect-exit: 7
//
// One that touches a destination too early, and whose stderr is a full pipe that nobody reads
// before the process has ended.
#include "in_flight.h"

#include <fcntl.h>

static void fill_stderr(void)
{
    static const char bytes[4096];
    int ends[2];
    CHECK(pipe(ends));
    CHECK(dup2(ends[1], 2) - 2);
    CHECK(fcntl(2, F_SETFL, O_NONBLOCK));
    while (write(2, bytes, sizeof bytes) > 0)
        continue;
    while (write(2, bytes, 1) > 0)
        continue;
    CHECK(fcntl(2, F_SETFL, 0));
}

int main(void)
{
    unsigned char *block = edge_start();
    fill_stderr();
    hold();
    let_go();
    SHOW(*(volatile unsigned char *)(block + EDGE) <= 0xff);
    release();
    return 7;
}
