// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// wild-bugs.md row 10: an operator builds its table of shapes in a local std::vector and sends it.
// Under capture the node keeps the address of what the vector owned.
#include "graphs.h"

#include <cstdint>
#include <vector>

enum { RANK = 40 };

static std::vector<int64_t> shape_of(int64_t seed)
{
    std::vector<int64_t> shape;
    for (int64_t i = 0; i < RANK; i++)
        shape.push_back(seed * 1000 + i);
    return shape;
}

static std::vector<int64_t> shapes_kept;

static void compute(void *device, cudaStream_t stream)
{
    std::vector<int64_t> shape = shape_of(WANTED);
    if (fixed)
        shapes_kept = shape;
    const std::vector<int64_t> &source = fixed ? shapes_kept : shape;
    CHECK(cudaMemcpyAsync(device, source.data(), RANK * sizeof(int64_t), cudaMemcpyHostToDevice,
                          stream));
}

int main()
{
    std::vector<int64_t> got(RANK);
    cudaStream_t stream = new_stream();
    void *device = device_block(RANK * sizeof(int64_t), 0);
    begin_capture(stream);
    compute(device, stream);
    std::vector<int64_t> next = shape_of(FOREIGN);
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    replay(exec, stream);
    CHECK(cudaMemcpy(got.data(), device, RANK * sizeof(int64_t), cudaMemcpyDeviceToHost));
    return finish(got == shape_of(WANTED) && next == shape_of(FOREIGN));
}
