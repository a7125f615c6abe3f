// expect: none
// needs: sim
// options: stall_limit=60s
//
// The other party is another process: when the stream has signalled it signals in turn, and what
// the stream does behind its wait is for memory that this program fills meanwhile.
#include "external.h"

#include <sys/wait.h>

int main(void)
{
    struct timeline timeline = new_timeline();
    pid_t party = fork();
    if (party == 0) {
        party_waits(&timeline, 1);
        party_signals(&timeline, 2);
        _exit(0);
    }
    driver_start();
    import_timeline(&timeline);
    CUstream stream = driver_new_stream();
    CUdeviceptr first = driver_device_block(SMALL, 0), second = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);

    CHECK(cuMemcpyHtoDAsync(first, source, SMALL, stream));
    stream_signals(&timeline, 1, stream);
    stream_waits(&timeline, 2, stream);
    stream_waits(&timeline, 3, stream);
    CHECK(cuMemcpyHtoDAsync(second, source, SMALL, stream));
    CHECK(waitpid(party, NULL, 0) != party);
    fill(source, SMALL, FOREIGN);
    party_signals(&timeline, 3);

    CHECK(cuStreamSynchronize(stream));
    return finish(driver_device_holds(first, SMALL, WANTED) &&
                  driver_device_holds(second, SMALL, FOREIGN));
}
