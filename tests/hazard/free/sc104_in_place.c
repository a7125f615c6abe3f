// expect: SC104 action=stalled kind=pageable certainty=observed event=madvise
// expect: SC104 action=stalled kind=pageable certainty=observed event=mprotect
// expect: SC104 action=stalled kind=stack certainty=observed event=end-of-thread
// sim: pageable_access=1
// needs: sim
// not-by: threads ranges
//
// A device that reads pageable memory in place: plain copies of it are in flight, from mapped
// memory and from the stack of a thread that ends.
#include "mapping.h"

#include <pthread.h>

static cudaStream_t stream;
static void *device;

static TWIN_HELPER void send(const void *source)
{
    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

static TWIN_HELPER void send_local(void)
{
    unsigned char local[64 << 10];
    fill(local, sizeof local, WANTED);
    send(local);
}

/* What a function has uppermost on its stack is overwritten by the thread's end. */
static void *run(void *argument)
{
    volatile unsigned char room[16 << 10];
    room[0] = room[sizeof room - 1] = 0;
    send_local();
    return room[0] ? argument : NULL;
}

static bool was_right(void)
{
    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED);
    CHECK(cudaMemset(device, 0, SMALL));
    CHECK(cudaDeviceSynchronize());
    return right;
}

int main(void)
{
    pthread_t thread;
    void *source = mapped_pages(NULL, SMALL, WANTED);
    stream = new_stream();
    device = device_block(SMALL, 0);
    send(source);
    CHECK(madvise(source, SMALL, MADV_DONTNEED));
    bool right = was_right();
    fill(source, SMALL, WANTED);
    send(source);
    CHECK(mprotect(source, SMALL, PROT_NONE));
    right = was_right() && right;
    CHECK(pthread_create(&thread, NULL, run, NULL));
    CHECK(pthread_join(thread, NULL));
    return finish(was_right() && right);
}
