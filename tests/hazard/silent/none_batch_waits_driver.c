// expect: none
// options: stall_limit=60s:device=1
//
// Batches of memory operations wait for words that the host writes: one only waits, another one
// writes as well. What stands behind them is still to be filled, and the host puts it in order.
#include "signals.h"

static void wait_by_batch(CUstream stream, volatile uint32_t *word, volatile uint32_t *also)
{
    CUstreamBatchMemOpParams ops[2] = {value_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, word, 1)};
    if (also)
        ops[1] = value_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, also, 1);
    CHECK(cuStreamBatchMemOp(stream, also ? 2 : 1, ops, 0));
}

static bool send(volatile uint32_t *also)
{
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = new_words();

    wait_by_batch(stream, go, also);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    fill(source, SMALL, WANTED);
    *go = 1;
    CHECK(cuStreamSynchronize(stream));
    return driver_device_holds(device, SMALL, WANTED);
}

int main(void)
{
    driver_start();
    bool right = send(NULL);
    right = send(new_words()) && right;
    return finish(right);
}
