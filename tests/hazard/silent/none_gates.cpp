// expect: none
// options: stall_limit=60s
// cflags: -std=gnu++20
// needs: preload
//
// Host functions that wait for the program in all the ways that C++ and the kernel have, each
// before an upload that the program fills until it lets the function go. Each is another function,
// so that nothing is known of it. They are known at once: if each touch were held up for the
// quarter of a second that it takes to see that an unknown function sleeps again and again, the
// whole would take twelve seconds and more.
#include "twin.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <poll.h>
#include <semaphore>
#include <shared_mutex>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <thread>

enum { EACH = 4, TOO_LONG_MS = 6000 };

struct gate {
    virtual void wait() = 0; // on the stream's thread
    virtual void open() = 0;
    virtual ~gate() = default;
};

struct by_semaphore : gate {
    std::binary_semaphore semaphore{0};
    void wait() override
    {
        semaphore.acquire();
    }
    void open() override
    {
        semaphore.release();
    }
};

struct by_latch : gate {
    std::latch latch{1};
    void wait() override
    {
        latch.wait();
    }
    void open() override
    {
        latch.count_down();
    }
};

struct by_barrier : gate {
    std::barrier<> barrier{2};
    void wait() override
    {
        barrier.arrive_and_wait();
    }
    void open() override
    {
        (void)barrier.arrive();
    }
};

struct by_atomic : gate {
    std::atomic<int> word{0};
    void wait() override
    {
        word.wait(0);
    }
    void open() override
    {
        word = 1;
        word.notify_all();
    }
};

struct by_condition : gate {
    std::mutex mutex;
    std::condition_variable condition;
    bool is_open = false;
    void wait() override
    {
        std::unique_lock<std::mutex> lock(mutex);
        condition.wait(lock, [this] { return is_open; });
    }
    void open() override
    {
        std::lock_guard<std::mutex> lock(mutex);
        is_open = true;
        condition.notify_all();
    }
};

struct by_mutex : gate {
    std::mutex mutex;
    by_mutex()
    {
        mutex.lock();
    }
    void wait() override
    {
        std::lock_guard<std::mutex> lock(mutex);
    }
    void open() override
    {
        mutex.unlock();
    }
};

struct by_shared_mutex : gate {
    std::shared_mutex mutex;
    by_shared_mutex()
    {
        mutex.lock();
    }
    void wait() override
    {
        std::shared_lock<std::shared_mutex> lock(mutex);
    }
    void open() override
    {
        mutex.unlock();
    }
};

struct by_join : gate {
    std::binary_semaphore semaphore{0};
    std::thread thread{[this] { semaphore.acquire(); }};
    void wait() override
    {
        thread.join();
    }
    void open() override
    {
        semaphore.release();
    }
};

struct by_file : gate {
    int readable = -1, writable = -1;
    void take()
    {
        uint64_t count;
        CHECK(read(readable, &count, sizeof count) - (ssize_t)sizeof count);
    }
    void wait() override
    {
        take();
    }
    void open() override
    {
        uint64_t count = 1;
        CHECK(write(writable, &count, sizeof count) - (ssize_t)sizeof count);
    }
    ~by_file() override
    {
        close(readable);
        if (writable != readable)
            close(writable);
    }
};

struct by_pipe : by_file {
    by_pipe()
    {
        int ends[2];
        CHECK(pipe(ends));
        readable = ends[0];
        writable = ends[1];
    }
};

struct by_eventfd : by_file {
    by_eventfd()
    {
        readable = writable = eventfd(0, 0);
    }
};

struct by_poll : by_pipe {
    void wait() override
    {
        pollfd polled = {readable, POLLIN, 0};
        CHECK(poll(&polled, 1, -1) - 1);
        take();
    }
};

struct by_select : by_eventfd {
    void wait() override
    {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(readable, &set);
        CHECK(select(readable + 1, &set, nullptr, nullptr, nullptr) - 1);
        take();
    }
};

struct by_epoll : by_eventfd {
    void wait() override
    {
        epoll_event event = {};
        event.events = EPOLLIN;
        int epoll = epoll_create1(0);
        CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, readable, &event));
        CHECK(epoll_wait(epoll, &event, 1, -1) - 1);
        close(epoll);
        take();
    }
};

static bool right = true;

// A function of its own for each kind and number.
template <class kind, int number> static void wait_for(void *gate)
{
    __asm__ volatile("" : : "i"(number));
    static_cast<kind *>(gate)->wait();
}

template <class kind, int number> static void pass(cudaStream_t stream, void *device, void *source)
{
    kind gate;
    fill(source, SMALL, FOREIGN);
    CHECK(cudaLaunchHostFunc(stream, wait_for<kind, number>, &gate));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    fill(source, SMALL, WANTED);
    gate.open();
    CHECK(cudaStreamSynchronize(stream));
    right = right && device_holds(device, SMALL, WANTED);
    if constexpr (number + 1 < EACH)
        pass<kind, number + 1>(stream, device, source);
}

// Naps, which are as late as the machine makes everything else.
static std::atomic<int> naps{0};
static std::atomic<bool> ends{false};

static void nap()
{
    for (; !ends; naps++)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, FOREIGN);
    std::thread clock(nap);

    pass<by_semaphore, 0>(stream, device, source);
    pass<by_latch, 0>(stream, device, source);
    pass<by_barrier, 0>(stream, device, source);
    pass<by_atomic, 0>(stream, device, source);
    pass<by_condition, 0>(stream, device, source);
    pass<by_mutex, 0>(stream, device, source);
    pass<by_shared_mutex, 0>(stream, device, source);
    pass<by_join, 0>(stream, device, source);
    pass<by_pipe, 0>(stream, device, source);
    pass<by_eventfd, 0>(stream, device, source);
    pass<by_poll, 0>(stream, device, source);
    pass<by_select, 0>(stream, device, source);
    pass<by_epoll, 0>(stream, device, source);

    ends = true;
    clock.join();
    if (naps > TOO_LONG_MS)
        printf("%d naps\n", naps.load());
    return finish(right && naps <= TOO_LONG_MS);
}
