// expect: SC401 action=held certainty=observed event=cuGraphLaunch
// in-place: SC101 action=deferred kind=pageable
// in-place: SC401 action=held certainty=observed event=cuGraphLaunch
//
// wild-bugs.md row 11: a library that the captured step calls keeps its pointer tables in a
// pageable vector of the call. The step works when it runs eagerly, and not when it is replayed.
#include "graphs.h"

#include <vector>

enum { BATCH = 600 };

/* A batched routine: it sends the addresses of the matrices it is given. */
static void batched_routine(void *table, char *matrices, cudaStream_t stream)
{
    static std::vector<char *> kept;
    std::vector<char *> addresses;
    for (int i = 0; i < BATCH; i++)
        addresses.push_back(matrices + 64 * i);
    if (fixed)
        kept = addresses;
    CHECK(cudaMemcpyAsync(table, (fixed ? kept : addresses).data(), BATCH * sizeof(char *),
                          cudaMemcpyHostToDevice, stream));
}

static bool table_is_right(const void *table, char *matrices)
{
    std::vector<char *> got(BATCH);
    CHECK(cudaMemcpy(got.data(), table, BATCH * sizeof(char *), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < BATCH; i++)
        right = right && got[i] == matrices + 64 * i;
    return right;
}

int main()
{
    cudaStream_t stream = new_stream();
    char *matrices = static_cast<char *>(device_block(64 * BATCH, 0));
    void *table = device_block(BATCH * sizeof(char *), 0);
    batched_routine(table, matrices, stream);
    CHECK(cudaStreamSynchronize(stream));
    bool right = table_is_right(table, matrices);

    begin_capture(stream);
    batched_routine(table, matrices, stream);
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));
    std::vector<char *> other(BATCH, nullptr);
    CHECK(cudaMemset(table, 0, BATCH * sizeof(char *)));
    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    return finish(right && table_is_right(table, matrices) && other.back() == nullptr);
}
