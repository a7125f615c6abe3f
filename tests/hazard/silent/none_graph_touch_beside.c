// expect: none
//
// A graph sends one part of a registered block and fetches another. Bytes before, behind and
// between them are the program's, and must not wait: the launch waits for them.
#include "graphs.h"
#include "touch.h"

int main(void)
{
    const size_t size = 20000;
    const size_t sent = 5000;
    const size_t fetched = sent + size + 50;
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *to = device_block(size, 0);
    void *from = device_block(size, WANTED);
    char *block = (char *)registered_block(SMALL, 0);
    fill(block + sent, size, WANTED);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(to, block + sent, size, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(block + fetched, from, size, cudaMemcpyDeviceToHost, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    shut_gate(&gate, stream);
    CHECK(cudaGraphLaunch(exec, stream));
    poke(block, sent - 1);
    poke(block, sent + size);
    poke(block, fetched - 1);
    poke(block, fetched + size);
    bool right = holds(block + sent, size, WANTED);
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    right = right && !gate.gave_up && device_holds(to, size, WANTED);
    return finish(right && holds(block + fetched, size, WANTED));
}
