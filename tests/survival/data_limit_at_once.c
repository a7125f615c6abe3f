// expect-exit: 0
// timeout: 60
// needs: sim
// strict-says: data_is_limited
// needs: kernel (RLIMIT_DATA)
//
// A process that has more memory of its own than it may have from now on (RLIMIT_DATA), and copies
// at once. When it sets the limit nothing is registered, and the last copy was a moment ago.
#include "survival.h"

#include <sys/resource.h>
#include <sys/syscall.h>

enum { BUFFER_BYTES = 256 << 10 };

static unsigned char buffer[BUFFER_BYTES] __attribute__((aligned(4096)));
static unsigned char *device;
static cudaStream_t stream;

static void copy(unsigned rounds)
{
    CHECK(cudaHostRegister(buffer, BUFFER_BYTES, cudaHostRegisterDefault));
    for (unsigned i = 0; i < rounds; i++) {
        memset(buffer, (int)i, BUFFER_BYTES);
        CHECK(cudaMemcpyAsync(device, buffer, BUFFER_BYTES, cudaMemcpyHostToDevice, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    SHOW(buffer[BUFFER_BYTES / 2]);
    CHECK(cudaHostUnregister(buffer));
}

static struct rlimit limit_of(rlim_t size_bytes)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_DATA, &limit));
    limit.rlim_cur = size_bytes;
    return limit;
}

static void set_limit(rlim_t size_bytes)
{
    struct rlimit limit = limit_of(size_bytes);
    CHECK(setrlimit(RLIMIT_DATA, &limit));
}

static void set_limit_by_number(rlim_t size_bytes)
{
    struct rlimit limit = limit_of(size_bytes);
    CHECK(syscall(SYS_prlimit64, 0, RLIMIT_DATA, &limit, NULL));
}

int main(void)
{
    static void (*const ways[])(rlim_t) = {set_limit, set_limit_by_number};
    CHECK(cudaMalloc((void **)&device, BUFFER_BYTES));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (unsigned i = 0; i < 2; i++) {
        copy(3);
        ways[i](1 << 20);
        copy(20);
        set_limit(RLIM_INFINITY);
        usleep(50000); /* until that is known, nothing is guarded */
    }
    return 0;
}
