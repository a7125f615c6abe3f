// expect: SC201 kind=pinned
//
// docs/wild-bugs.md, row 13: the scheduler runs one step ahead and writes the inputs of the next
// step (token ids, positions, lengths) into the pinned arrays whose upload for this step is queued.
#include "touch.h"

enum { STEPS = 4, TOKENS = 16384 };

struct inputs {
    int32_t tokens[TOKENS];
    int32_t positions[TOKENS];
    int32_t length;
};

static void prepare(struct inputs *inputs, int step)
{
    for (int i = 0; i < TOKENS; i++) {
        inputs->tokens[i] = step * 7 + i;
        inputs->positions[i] = step + i;
    }
    inputs->length = step;
}

static bool is_step(const struct inputs *inputs, int step)
{
    bool right = inputs->length == step;
    for (int i = 0; i < TOKENS; i++)
        right = right && inputs->tokens[i] == step * 7 + i && inputs->positions[i] == step + i;
    return right;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t uploaded = new_event();
    struct inputs *pinned = (struct inputs *)pinned_block(sizeof *pinned, 0);
    struct inputs *seen = (struct inputs *)malloc(sizeof *seen);
    struct inputs *steps[STEPS];
    for (int i = 0; i < STEPS; i++)
        steps[i] = (struct inputs *)device_block(sizeof **steps, 0);

    for (int i = 0; i < STEPS; i++) {
        if (fixed)
            CHECK(cudaEventSynchronize(uploaded));
        prepare(pinned, i);
        busy(stream);
        CHECK(cudaMemcpyAsync(steps[i]->tokens, pinned->tokens, sizeof pinned->tokens,
                              cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(steps[i]->positions, pinned->positions, sizeof pinned->positions,
                              cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(&steps[i]->length, &pinned->length, sizeof pinned->length,
                              cudaMemcpyHostToDevice, stream));
        CHECK(cudaEventRecord(uploaded, stream));
    }

    CHECK(cudaStreamSynchronize(stream));
    bool right = seen != NULL;
    for (int i = 0; i < STEPS && right; i++) {
        CHECK(cudaMemcpy(seen, steps[i], sizeof *seen, cudaMemcpyDeviceToHost));
        right = is_step(seen, i);
    }
    return finish(right);
}
