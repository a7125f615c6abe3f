// run: timeline=1 -> timeline.state=listening timeline.matched=2 #timing=2 observed=2
// run: timeline=1:strict=1 -> timeline.matched=2 timing:remaining_ns>0 exit=66
// run: timeline=1:mode=report -> timeline.matched=2 timing:remaining_ns>0 timing:code=SC101
// run: strict=1 -> timeline=None #timing=0 exit=66
// sim: late_limit=10s:bandwidth=100M
/* Memory freed while a copy waits for it, and while a batch does: the report says when each ran,
 * which is between the host functions around it. */
#include "timeline.h"

static void issue(int is_batch, void *source)
{
    void *const to = device;
    const void *const from = source;
    size_t size = BLOCK;
    size_t index = 0;
    struct cudaMemcpyAttributes how = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    if (!is_batch)
        CUDA(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, stream));
    else
        CUDA(cudaMemcpyBatchAsync(&to, &from, &size, 1, &how, &index, 1, stream));
}

static void free_in_flight(unsigned number, void *source)
{
    CUDA(cudaLaunchHostFunc(stream, note_begin, NULL));
    issue(number == 2, source);
    CUDA(cudaLaunchHostFunc(stream, note_end, NULL));
    int64_t before_ns = now_ns();
    free(source);
    int64_t after_ns = now_ns();
    CUDA(cudaStreamSynchronize(stream));
    if (!strstr(getenv("SAFECOPY_OPTIONS"), "timeline=1"))
        return;
    struct timing timing = wait_for_timing(number);
    check_between(&timing);
    CHECK(timing.event_ns >= before_ns && timing.event_ns <= after_ns);
    if (getenv("SIM_GPU")) /* 64 KB at 100 MB/s */
        CHECK(timing.end_ns - timing.start_ns >= 600 * 1000);
}

int main(void)
{
    set_up();
    CUDA(cudaFree(device));
    CUDA(cudaMalloc(&device, BLOCK));
    void *first = registered(BLOCK);
    void *second = registered(BLOCK);
    free_in_flight(1, first);
    free_in_flight(2, second);
    return 0;
}
