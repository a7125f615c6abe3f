// expect: none
// options: device=1:stall_limit=60s
// needs: sim
// needs: preload
//
// As none_gated_stream, but the gate is a host node of a graph, or of its child, which copies
// nothing or has a copy before the gate. The source of one more copy is filled by the program
// itself.
#include "graphs.h"
#include "semaphores.h"

static sem_t gate;
static void *spare, *wanted;

static cudaGraphExec_t gate_of(unsigned shape, cudaStream_t stream)
{
    cudaGraphNode_t node = NULL;
    begin_capture(stream);
    if (shape == 1)
        CHECK(cudaMemcpyAsync(spare, wanted, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, wait_for_post, &gate));
    cudaGraph_t graph = end_capture(stream);
    if (shape != 2)
        return instantiate_only(graph);
    cudaGraph_t outer = empty_graph();
    CHECK(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
    return instantiate_only(outer);
}

int main(void)
{
    cudaStream_t gated = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t filled = new_event();
    void *image = device_block(SMALL, WANTED);
    void *up = device_block(SMALL, 0);
    void *sync_up = device_block(SMALL, 0);
    void *touched_up = device_block(SMALL, 0);
    void *device = device_block(SMALL, FOREIGN);
    void *host = pinned_block(SMALL, FOREIGN);
    void *sync_host = pinned_block(SMALL, FOREIGN);
    void *touched = pinned_block(SMALL, FOREIGN);
    void *result = pinned_block(SMALL, 0);
    bool right = true;
    wanted = pinned_block(SMALL, WANTED);
    spare = device_block(SMALL, 0);
    sem_init(&gate, 0, 0);

    for (unsigned i = 0; i < 6; i++) {
        CHECK(cudaGraphLaunch(gate_of(i % 3, gated), gated));
        if (i > 2) /* it has begun to wait */
            sleep_patiently(BUSY_US / 2);
        CHECK(cudaMemcpyAsync(up, host, SMALL, cudaMemcpyHostToDevice, gated));
        CHECK(cudaMemcpyAsync(sync_up, sync_host, SMALL, cudaMemcpyHostToDevice, gated));
        CHECK(cudaMemcpyAsync(touched_up, touched, SMALL, cudaMemcpyHostToDevice, gated));
        CHECK(cudaMemcpyAsync(result, device, SMALL, cudaMemcpyDeviceToHost, gated));

        CHECK(cudaMemcpyAsync(host, image, SMALL, cudaMemcpyDeviceToHost, other));
        CHECK(cudaMemcpyAsync(device, wanted, SMALL, cudaMemcpyHostToDevice, other));
        CHECK(cudaEventRecord(filled, other));
        CHECK(cudaEventSynchronize(filled));
        CHECK(cudaMemcpy(sync_host, image, SMALL, cudaMemcpyDeviceToHost));
        fill(touched, SMALL, WANTED);
        post(&gate);
        CHECK(cudaStreamSynchronize(gated));
        right = right && device_holds(up, SMALL, WANTED) && holds(result, SMALL, WANTED);
        right = right && device_holds(sync_up, SMALL, WANTED);
        right = right && device_holds(touched_up, SMALL, WANTED);
        fill(host, SMALL, FOREIGN);
        fill(sync_host, SMALL, FOREIGN);
        fill(touched, SMALL, FOREIGN);
        CHECK(cudaMemset(device, 0, SMALL));
        CHECK(cudaDeviceSynchronize());
    }

    return finish(right);
}
