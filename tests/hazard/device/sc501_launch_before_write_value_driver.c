// expect: SC501 action=ordered kind=device direction=memset certainty=observed
// options: device=1
//
// A graph that clears device memory is launched, and a word is written behind that, for which the
// host does not wait before another stream reads the memory.
#include "signals.h"

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream launcher = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    volatile uint32_t *word = new_words();
    CHECK(cuGraphCreate(&graph, 0));
    add_clear(graph, device);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    driver_busy(launcher);
    CHECK(cuGraphLaunch(exec, launcher));
    write_word(word, 1, launcher);
    if (fixed)
        await_word(word, 1);
    const unsigned char *to = download(device);

    CHECK(cuCtxSynchronize());
    return finish(is_all(to, 0));
}
