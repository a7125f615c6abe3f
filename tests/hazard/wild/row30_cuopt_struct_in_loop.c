// expect: SC201 action=snapshotted kind=stack
// sim: late_batch=1
//
// docs/wild-bugs.md, row 30: each turn of a loop fills a struct on the stack and sends it by a
// batch copy in stream order. The next turn has its own struct, in the same place.
#include "batch.h"

enum { TURNS = 20 };

struct parameters {
    unsigned turn;
    double scale[4];
};

static unsigned char *slot_of(void *device, unsigned turn)
{
    return (unsigned char *)device + turn * sizeof(struct parameters);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(TURNS * sizeof(struct parameters), 0);
    struct parameters found[TURNS];

    for (unsigned turn = 0; turn < TURNS; turn++) {
        struct parameters parameters;
        memset(&parameters, 0, sizeof parameters);
        parameters.turn = turn;
        parameters.scale[turn % 4] = 0.5 * turn;
        batch_copy(slot_of(device, turn), &parameters, sizeof parameters,
                   cudaMemcpySrcAccessOrderStream, stream);
        if (fixed)
            CHECK(cudaStreamSynchronize(stream));
    }

    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost));
    bool right = true;
    for (unsigned turn = 0; turn < TURNS; turn++)
        right = right && found[turn].turn == turn && found[turn].scale[turn % 4] == 0.5 * turn;
    return finish(right);
}
