// expect: none
// options: device=1
//
// Graphs and other streams that use one block of device memory at a time, but no byte of it
// together: neighbouring bytes, the columns of an image, boxes; or that merely read it; and nodes
// that are disabled, or were given other memory, before the launch.
#include "graphs.h"

enum { WIDTH = 512, ROWS = 128, HALF = WIDTH / 2 };

static cudaGraphExec_t capture_right(char *image, const char *source, cudaStream_t stream)
{
    begin_capture(stream);
    CHECK(cudaMemcpy2DAsync(image + HALF, WIDTH, source + HALF, WIDTH, HALF, ROWS,
                            cudaMemcpyHostToDevice, stream));
    return instantiate_only(end_capture(stream));
}

static cudaGraphExec_t capture_left(char *image, cudaStream_t stream)
{
    begin_capture(stream);
    CHECK(cudaMemset2DAsync(image, WIDTH, 0, HALF, ROWS, stream));
    return instantiate_only(end_capture(stream));
}

int main(void)
{
    cudaStream_t one = new_stream(), two = new_stream(), three = new_stream();
    char *source = pinned_block(WIDTH * ROWS, WANTED);
    char *targets = pinned_block(2 * SMALL, 0);
    char *image = device_block(WIDTH * ROWS, FOREIGN);
    char *input = device_block(SMALL, WANTED), *other = device_block(SMALL, 0);
    cudaGraphExec_t right = capture_right(image, source, one);
    cudaGraphExec_t left = capture_left(image, two);
    cudaGraphExec_t reads = captured_exec(targets, input, SMALL, cudaMemcpyDeviceToHost, one);
    cudaGraph_t graph = captured_copy(other, image, SMALL, cudaMemcpyDeviceToDevice, three);
    cudaGraphExec_t disabled = instantiate(graph), changed = instantiate(graph);
    CHECK(cudaGraphNodeSetEnabled(disabled, only_node(graph), 0));
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(changed, only_node(graph), other, input, SMALL,
                                             cudaMemcpyDeviceToDevice));

    busy(one);
    busy(two);
    CHECK(cudaGraphLaunch(right, one));
    CHECK(cudaGraphLaunch(left, two)); /* other columns */
    CHECK(cudaMemcpy2DAsync(image, WIDTH, source, WIDTH, HALF, ROWS, cudaMemcpyHostToDevice, two));
    CHECK(cudaGraphLaunch(reads, one));
    CHECK(
        cudaMemcpyAsync(targets + SMALL, input, SMALL, cudaMemcpyDeviceToHost, two)); /* readers */
    CHECK(cudaGraphLaunch(disabled, three));
    CHECK(cudaGraphLaunch(changed, three));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(image, WIDTH * ROWS, WANTED) && holds(targets, SMALL, WANTED) &&
                  holds(targets + SMALL, SMALL, WANTED) && device_holds(other, SMALL, WANTED));
}
