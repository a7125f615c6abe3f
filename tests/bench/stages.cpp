/*
 * stages: a pipeline as C++ programs write it. One thread reads blocks of a file into pinned
 * memory, one uploads them, runs a kernel and downloads what it made, on a stream for each with
 * events in between and device memory of the stream-ordered pool, and one waits for the results and
 * adds them up. Blocks go round in a ring of slots.
 *
 *     stages BLOCKS
 *
 * Prints what a block takes in us, the lower decile of groups of blocks, and the sum of all bytes.
 */
#include "tests/copying_kernel.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

constexpr size_t block_bytes = 256 << 10;
constexpr size_t file_blocks = 64;
constexpr size_t slot_count = 6;
constexpr size_t group_blocks = 32;
constexpr unsigned threads_per_group = 256;

void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    std::exit(1);
}

void check(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return;
    std::fprintf(stderr, "%s: error %d\n", call, static_cast<int>(result));
    std::exit(1);
}

#define RUN(call) check(call, #call)

struct Slot {
    unsigned char *input, *output; /* pinned, block_bytes each */
    cudaEvent_t uploaded, computed, downloaded;
};

/* What one stage hands to the next; an empty item ends it. */
class Queue
{
  public:
    void push(std::optional<size_t> slot)
    {
        {
            std::lock_guard hold(lock_);
            slots_.push_back(slot);
        }
        comes_.notify_one();
    }

    std::optional<size_t> pop()
    {
        std::unique_lock hold(lock_);
        comes_.wait(hold, [this] { return !slots_.empty(); });
        auto slot = slots_.front();
        slots_.pop_front();
        return slot;
    }

  private:
    std::mutex lock_;
    std::condition_variable comes_;
    std::deque<std::optional<size_t>> slots_;
};

class Pipeline
{
  public:
    Pipeline()
    {
        CUmodule module;
        for (auto *stream : {&up_, &compute_, &down_})
            RUN(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
        for (auto &slot : slots_) {
            RUN(cudaMallocHost(reinterpret_cast<void **>(&slot.input), block_bytes));
            RUN(cudaMallocHost(reinterpret_cast<void **>(&slot.output), block_bytes));
            for (auto *event : {&slot.uploaded, &slot.computed, &slot.downloaded})
                RUN(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
        }
        keep_pool();
        RUN(cuModuleLoadData(&module, copying_kernel_text));
        RUN(cuModuleGetFunction(&kernel_, module, "copy_bytes"));
        file_ = make_file();
        for (size_t i = 0; i < slot_count; i++)
            unused_.push(i);
    }

    /* Returns the sum of all bytes of the results. */
    uint64_t run(size_t blocks)
    {
        std::thread reader([this, blocks] { read(blocks); });
        std::thread adder([this] { add(); });
        compute();
        reader.join();
        adder.join();
        return sum_;
    }

    double block_us() const
    {
        std::vector<double> groups;
        for (size_t i = group_blocks; i + group_blocks < ends_.size(); i += group_blocks)
            groups.push_back(
                std::chrono::duration<double, std::micro>(ends_[i + group_blocks] - ends_[i])
                    .count() /
                group_blocks);
        std::sort(groups.begin(), groups.end());
        return groups.empty() ? 0 : groups[groups.size() / 10];
    }

  private:
    static void keep_pool()
    {
        cudaMemPool_t pool;
        uint64_t keep = UINT64_MAX;
        RUN(cudaDeviceGetDefaultMemPool(&pool, 0));
        RUN(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    }

    static FILE *make_file()
    {
        FILE *file = std::tmpfile();
        std::vector<unsigned char> block(block_bytes);
        for (size_t i = 0; file && i < file_blocks; i++) {
            for (size_t at = 0; at < block_bytes; at++)
                block[at] = static_cast<unsigned char>((at * 7 + i * 31) % 251);
            std::fwrite(block.data(), 1, block_bytes, file);
        }
        if (file && std::fflush(file) == 0)
            return file;
        std::perror("stages: a temporary file (TMPDIR)");
        std::exit(1);
    }

    void read(size_t blocks)
    {
        for (size_t i = 0; i < blocks; i++) {
            auto slot = unused_.pop();
            auto at = static_cast<off_t>(i % file_blocks * block_bytes);
            if (pread(fileno(file_), slots_[*slot].input, block_bytes, at) !=
                static_cast<ssize_t>(block_bytes)) {
                std::perror("stages: reading");
                std::exit(1);
            }
            read_.push(slot);
        }
        read_.push(std::nullopt);
    }

    void compute()
    {
        RUN(cudaSetDevice(0));
        while (auto slot = read_.pop()) {
            issue(slots_[*slot]);
            computed_.push(slot);
        }
        computed_.push(std::nullopt);
    }

    void issue(const Slot &slot)
    {
        CUdeviceptr from, to;
        auto count = static_cast<unsigned>(block_bytes);
        RUN(cudaMallocAsync(reinterpret_cast<void **>(&from), block_bytes, up_));
        RUN(cudaMemcpyAsync(reinterpret_cast<void *>(from), slot.input, block_bytes,
                            cudaMemcpyHostToDevice, up_));
        RUN(cudaEventRecord(slot.uploaded, up_));

        RUN(cudaStreamWaitEvent(compute_, slot.uploaded, 0));
        RUN(cudaMallocAsync(reinterpret_cast<void **>(&to), block_bytes, compute_));
        void *parameters[] = {&to, &from, &count};
        RUN(cuLaunchKernel(kernel_, count / threads_per_group, 1, 1, threads_per_group, 1, 1, 0,
                           compute_, parameters, nullptr));
        RUN(cudaFreeAsync(reinterpret_cast<void *>(from), compute_));
        RUN(cudaEventRecord(slot.computed, compute_));

        RUN(cudaStreamWaitEvent(down_, slot.computed, 0));
        RUN(cudaMemcpyAsync(slot.output, reinterpret_cast<void *>(to), block_bytes,
                            cudaMemcpyDeviceToHost, down_));
        RUN(cudaFreeAsync(reinterpret_cast<void *>(to), down_));
        RUN(cudaEventRecord(slot.downloaded, down_));
    }

    void add()
    {
        RUN(cudaSetDevice(0));
        while (auto slot = computed_.pop()) {
            const auto *output = slots_[*slot].output;
            RUN(cudaEventSynchronize(slots_[*slot].downloaded));
            sum_ += std::accumulate(output, output + block_bytes, uint64_t{0});
            ends_.push_back(std::chrono::steady_clock::now());
            unused_.push(slot);
        }
    }

    std::array<Slot, slot_count> slots_{};
    cudaStream_t up_{}, compute_{}, down_{};
    CUfunction kernel_{};
    FILE *file_{};
    Queue unused_, read_, computed_;
    uint64_t sum_ = 0;
    std::vector<std::chrono::steady_clock::time_point> ends_;
};

} // namespace

int main(int argc, char **argv)
{
    long blocks = argc == 2 ? std::atol(argv[1]) : 0;
    if (blocks <= 0) {
        std::fprintf(stderr, "usage: stages BLOCKS\n");
        return 2;
    }
    Pipeline pipeline;
    uint64_t sum = pipeline.run(static_cast<size_t>(blocks));
    std::printf("%.2f us, sum %llu\n", pipeline.block_us(), static_cast<unsigned long long>(sum));
    return 0;
}
