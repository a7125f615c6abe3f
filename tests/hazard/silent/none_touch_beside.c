// expect: none
//
// One registered block, of which a part is being sent and a part is being fetched. Bytes just
// before, behind and between them are the program's, and must not wait: the stream waits for them.
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

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(to, block + sent, size, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(block + fetched, from, size, cudaMemcpyDeviceToHost, stream));
    poke(block, sent - 1);
    poke(block, sent + size);
    poke(block, fetched - 1);
    poke(block, fetched + size);
    bool right = block[0] == 0 && block[fetched + size] == (char)pattern(FOREIGN, fetched + size);
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    right = right && !gate.gave_up && device_holds(to, size, WANTED);
    return finish(right && holds(block + fetched, size, WANTED));
}
