// run: timeline=1 -> hazards=1 #timing=1 timeline.matched=1
// run: timeline=1 LAST=_exit -> hazards=1 #timing=1 timeline.matched=1
// run: timeline=1 LAST=held -> hazards=1 #timing=0 timeline.matched=0
// run: timeline=1:report_path=none -> says=the_copy_had_
// sim: late_limit=60s
/* The process ends before anybody looked at the copy of its hazard: the summary waits for the
 * record of one that is complete, and not for one that is not. */
#include "timeline.h"

static void CUDART_CB hold(void *unused)
{
    (void)unused;
    sleep(8);
}

int main(void)
{
    const char *last = getenv("LAST");
    set_up();
    void *source = registered(BLOCK);
    CUDA(cudaFree(device));
    CUDA(cudaMalloc(&device, BLOCK));
    CUDA(cudaLaunchHostFunc(stream, last && strcmp(last, "held") == 0 ? hold : note_begin, NULL));
    CUDA(cudaMemcpyAsync(device, source, BLOCK, cudaMemcpyHostToDevice, stream));
    free(source);
    if (!last || strcmp(last, "held") != 0)
        CUDA(cudaStreamSynchronize(stream));
    if (last && strcmp(last, "_exit") == 0)
        _exit(0);
    return 0;
}
