// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// docs/wild-bugs.md, row 12: a model's step is captured, and everything that it made on the way is
// dropped when the step returns: here the host memory of its constants.
#include "graphs.h"

enum { CONSTANTS = 5, BYTES = 6000 };

struct step {
    void *device[CONSTANTS];
    void *sources[CONSTANTS];
};

static void run_step(struct step *step, cudaStream_t stream)
{
    for (int i = 0; i < CONSTANTS; i++) {
        step->sources[i] = filled_block(BYTES, WANTED + i);
        CHECK(cudaMemcpyAsync(step->device[i], step->sources[i], BYTES, cudaMemcpyHostToDevice,
                              stream));
    }
}

static void drop(struct step *step)
{
    for (int i = 0; i < CONSTANTS; i++)
        free(step->sources[i]);
}

int main(void)
{
    struct step step;
    cudaStream_t stream = new_stream();
    for (int i = 0; i < CONSTANTS; i++)
        step.device[i] = device_block(BYTES, 0);

    begin_capture(stream);
    run_step(&step, stream);
    if (!fixed)
        drop(&step);
    for (int i = 0; i < CONSTANTS; i++)
        in_use(filled_block(BYTES, FOREIGN));
    replay(instantiate_only(end_capture(stream)), stream);

    bool right = true;
    for (int i = 0; i < CONSTANTS; i++)
        right = right && device_holds(step.device[i], BYTES, WANTED + i);
    if (fixed)
        drop(&step);
    return finish(right);
}
