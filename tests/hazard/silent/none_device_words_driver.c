// expect: none
// options: device=1
// sim: aside=20ms
//
// Device memory is set, copied and freed before words of all kinds, for which the host polls before
// it uses the memory in another stream. Work behind the words goes on meanwhile.
#include "signals.h"

static bool by_word(CUstream stream, bool batch)
{
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();
    CHECK(cuMemsetD8Async(device, 5, SMALL, stream));
    if (batch)
        write_by_batch(word, 1, stream);
    else
        write_word(word, 1, stream);
    spin_behind(stream);
    await_word(word, 1);
    return download_is(device, 5);
}

/* Another stream, which comes after it, writes the word. */
static bool by_word_elsewhere(void)
{
    CUevent set = driver_new_event();
    CUstream setter = driver_new_stream(), notifier = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    CUdeviceptr other = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();
    CHECK(cuMemsetD8Async(device, 5, SMALL, setter));
    CHECK(cuMemsetD8Async(other, 5, SMALL, setter));
    CHECK(cuEventRecord(set, setter));
    spin_behind(setter);
    CHECK(cuStreamWaitEvent(notifier, set, 0));
    write_word(word, 1, notifier);
    await_word(word, 1);
    return download_is(device, 5) && download_is(other, 5);
}

/* The legacy stream writes it behind what a blocking one has. */
static bool by_word_of_legacy(void)
{
    CUstream blocking = NULL;
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();
    CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    CHECK(cuMemsetD8Async(device, 5, SMALL, blocking));
    write_word(word, 1, NULL);
    spin_behind(blocking);
    await_word(word, 1);
    return download_is(device, 5);
}

/* All streams of the context wait for another one. */
static bool by_word_behind_context(void)
{
    CUcontext context = NULL;
    CUevent gate = driver_new_event();
    CUstream holder = driver_new_stream(), stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();
    CHECK(cuCtxGetCurrent(&context));
    spin_behind(holder);
    CHECK(cuEventRecord(gate, holder));
    CHECK(cuCtxWaitEvent(context, gate));
    CHECK(cuMemsetD8Async(device, 5, SMALL, stream));
    write_word(word, 1, stream);
    spin_behind(stream);
    await_word(word, 1);
    return download_is(device, 5);
}

static bool by_word_behind_launch(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();
    CHECK(cuGraphCreate(&graph, 0));
    add_clear(graph, device);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    write_word(word, 1, stream);
    spin_behind(stream);
    await_word(word, 1);
    return download_is(device, 0);
}

static bool by_word_before_free(void)
{
    CUstream copies = driver_new_stream(), frees = driver_new_stream();
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CUdeviceptr from = 0, next = 0;
    volatile uint32_t *word = new_words();
    CHECK(cuMemAllocAsync(&from, SMALL, copies));
    CHECK(cuMemsetD8Async(from, 5, SMALL, copies));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, copies));
    write_word(word, 1, copies);
    spin_behind(copies);
    await_word(word, 1);
    CHECK(cuMemFreeAsync(from, frees));
    CHECK(cuMemAllocAsync(&next, SMALL, frees));
    CHECK(cuMemsetD8Async(next, 9, SMALL, frees));
    return download_is(to, 5);
}

int main(void)
{
    driver_start();
    bool right = by_word(driver_new_stream(), false);
    right = by_word(driver_new_stream(), true) && right;
    right = by_word(NULL, false) && right;
    right = by_word_elsewhere() && right;
    right = by_word_of_legacy() && right;
    right = by_word_behind_launch() && right;
    right = by_word_before_free() && right;
    right = by_word_behind_context() && right;
    CHECK(cuCtxSynchronize());
    return finish(right);
}
