// expect: none
//
// A struct with its buffer inside, registered as a whole: its other fields live on the buffer's
// first and last page, and the program works with them while the buffer is in flight.
#include "touch.h"

#include <stdatomic.h>

struct request {
    int state;
    unsigned char payload[40000];
    atomic_int uses;
};

int main(void)
{
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *device = device_block(sizeof((struct request *)0)->payload, WANTED);
    struct request *request = (struct request *)registered_block(sizeof *request, 0);
    request->state = 1;
    request->uses = 1;

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(request->payload, device, sizeof request->payload, cudaMemcpyDeviceToHost,
                          stream));
    request->state = 2;
    for (int i = 0; i < 100; i++)
        atomic_fetch_add(&request->uses, 1);
    bool right = request->state == 2 && request->uses == 101;
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    right = right && !gate.gave_up && request->state == 2 && request->uses == 101;
    return finish(right && holds(request->payload, sizeof request->payload, WANTED));
}
