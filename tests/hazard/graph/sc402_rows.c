// expect: SC402 action=snapshotted kind=stack
//
// A copy of some columns of a local matrix is captured, and launched when its function has
// returned.
#include "graphs.h"

enum { PITCH = 32, WIDTH = 20, ROWS = 8 };

static unsigned char outlives[PITCH * ROWS];

static TWIN_HELPER cudaGraphExec_t capture_columns(void *device, cudaStream_t stream)
{
    unsigned char local[PITCH * ROWS];
    unsigned char *matrix = fixed ? outlives : local;
    fill(matrix, sizeof local, WANTED);
    in_use(matrix);
    begin_capture(stream);
    CHECK(cudaMemcpy2DAsync(device, WIDTH, matrix + 4, PITCH, WIDTH, ROWS, cudaMemcpyHostToDevice,
                            stream));
    return instantiate_only(end_capture(stream));
}

int main(void)
{
    unsigned char rows[WIDTH * ROWS];
    unsigned char wanted[PITCH * ROWS];
    cudaStream_t stream = new_stream();
    void *device = device_block(sizeof rows, 0);
    cudaGraphExec_t exec = capture_columns(device, stream);
    reuse_stack();

    replay(exec, stream);
    bool right = true;
    fill(wanted, sizeof wanted, WANTED);
    CHECK(cudaMemcpy(rows, device, sizeof rows, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < sizeof rows; i++)
        right = right && rows[i] == wanted[i / WIDTH * PITCH + 4 + i % WIDTH];
    return finish(right);
}
