// expect-exit: 0
// cflags: -std=gnu++20
//
// Threads hand work to each other by every means of C++, in pinned memory, on pages that are copied
// into all the time; some objects come and go, and so does some of the memory.
#include "survival.h"

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <mutex>
#include <new>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace
{

constexpr int kThreads = 4, kRounds = 400;
constexpr size_t kResultBytes = 64, kPageBytes = 4096, kBlockBytes = 16 * kPageBytes;

/* On one page with results of copies. */
struct Shared {
    std::mutex mutex;
    std::timed_mutex timed_mutex;
    std::recursive_mutex recursive_mutex;
    std::shared_mutex shared_mutex;
    std::condition_variable cond;
    std::condition_variable_any cond_any;
    std::counting_semaphore<> semaphore{1};
    std::atomic<int> turn{0};
    long by_mutex = 0, by_timed = 0, by_recursive = 0, by_shared = 0, by_semaphore = 0;
    int cond_turn = 0, any_turn = 0;
    alignas(kResultBytes) unsigned char results[kThreads][kResultBytes];
};
static_assert(sizeof(Shared) <= kPageBytes);

/* The thread's own copy into its part of the page, with nobody waiting for it yet. */
void copy_result(Shared *shared, int thread, void *device, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(shared->results[thread], device, kResultBytes, cudaMemcpyDeviceToHost,
                          stream));
}

void take_turns(Shared *shared, int thread)
{
    {
        std::unique_lock lock(shared->mutex);
        shared->cond.wait(lock, [&] { return shared->cond_turn % kThreads == thread; });
        shared->cond_turn++;
        shared->cond.notify_all();
    }
    {
        std::unique_lock lock(shared->timed_mutex);
        while (shared->any_turn % kThreads != thread)
            shared->cond_any.wait_for(lock, std::chrono::seconds(60));
        shared->any_turn++;
        shared->cond_any.notify_all();
    }
    for (int now; (now = shared->turn.load()) % kThreads != thread;)
        shared->turn.wait(now);
    shared->turn++;
    shared->turn.notify_all();
}

void count(Shared *shared)
{
    {
        std::lock_guard lock(shared->mutex);
        shared->by_mutex++;
    }
    if (shared->timed_mutex.try_lock_for(std::chrono::seconds(60))) {
        shared->by_timed++;
        shared->timed_mutex.unlock();
    }
    {
        std::lock_guard lock(shared->recursive_mutex);
        std::lock_guard again(shared->recursive_mutex);
        shared->by_recursive++;
    }
    {
        std::shared_lock lock(shared->shared_mutex);
        if (shared->by_shared < 0)
            std::abort();
    }
    {
        std::unique_lock lock(shared->shared_mutex);
        shared->by_shared++;
    }
    shared->semaphore.acquire();
    shared->by_semaphore++;
    shared->semaphore.release();
}

/* Memory that comes and goes, with objects on it. */
void use_own_memory(void *device, cudaStream_t stream)
{
    void *memory;
    CHECK(cudaMallocHost(&memory, kBlockBytes));
    auto *own = new (memory) Shared;
    copy_result(own, 0, device, stream);
    std::thread other([&] { count(own); });
    count(own);
    other.join();
    CHECK(cudaStreamSynchronize(stream));
    if (own->by_semaphore != 2)
        std::abort();
    own->~Shared();
    CHECK(cudaFreeHost(memory));
}

void work(Shared *shared, int thread, void *device)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int round = 0; round < kRounds; round++) {
        copy_result(shared, thread, device, stream);
        count(shared);
        if (round % 4 == 0)
            take_turns(shared, thread);
        if (round % 40 == thread)
            use_own_memory(device, stream);
        CHECK(cudaStreamSynchronize(stream));
        if (shared->results[thread][kResultBytes - 1] != 0x5a)
            std::abort();
    }
    CHECK(cudaStreamDestroy(stream));
}

} // namespace

int main()
{
    void *memory;
    void *device;
    CHECK(cudaMallocHost(&memory, kBlockBytes));
    CHECK(cudaMalloc(&device, kResultBytes));
    CHECK(cudaMemset(device, 0x5a, kResultBytes));
    CHECK(cudaDeviceSynchronize());
    auto *shared = new (memory) Shared;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++)
        threads.emplace_back(work, shared, i, device);
    for (auto &thread : threads)
        thread.join();
    SHOW(shared->by_mutex);
    SHOW(shared->by_timed);
    SHOW(shared->by_recursive);
    SHOW(shared->by_shared);
    SHOW(shared->by_semaphore);
    SHOW(shared->turn.load());
    shared->~Shared();
    CHECK(cudaFreeHost(memory));
    return 0;
}
