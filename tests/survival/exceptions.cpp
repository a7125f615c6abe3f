// expect-exit: 0
//
// C++ exceptions around CUDA calls: thrown past buffers whose destructors give them back, thrown
// and caught inside a host function, and carried from one to the main thread.
#include "survival.h"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

struct Pinned {
    void *memory = nullptr;
    explicit Pinned(size_t size)
    {
        CHECK(cudaMallocHost(&memory, size));
    }
    ~Pinned()
    {
        CHECK(cudaFreeHost(memory));
    }
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
};

struct Job {
    int caught = 0;
    std::exception_ptr error;
};

void throws_inside(void *argument)
{
    Job *job = static_cast<Job *>(argument);
    try {
        std::vector<char> data(1000);
        data.at(5000) = 1;
    } catch (const std::out_of_range &) {
        job->caught++;
        job->error = std::current_exception();
    }
}

void throw_past_buffers(int depth)
{
    Pinned pinned(4096);
    std::unique_ptr<char[]> heap(new char[4096]);
    std::string text(1000, 'x');
    if (depth == 0)
        throw std::runtime_error("deep " + text.substr(0, 3));
    throw_past_buffers(depth - 1);
}

} // namespace

int main()
{
    Job job;
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < 5; i++) {
        try {
            throw_past_buffers(8);
        } catch (const std::exception &error) {
            printf("caught: %s\n", error.what());
        }
        CHECK(cudaLaunchHostFunc(stream, throws_inside, &job));
    }
    CHECK(cudaStreamSynchronize(stream));
    printf("caught in host functions: %d\n", job.caught);
    try {
        std::rethrow_exception(job.error);
    } catch (const std::out_of_range &) {
        puts("caught again in main");
    }
    try {
        volatile size_t too_much = static_cast<size_t>(-1) / 4;
        std::unique_ptr<char[]> too_large(new char[too_much]);
    } catch (const std::bad_alloc &) {
        puts("out of memory");
    }
    use_cuda("after");
    return 0;
}
